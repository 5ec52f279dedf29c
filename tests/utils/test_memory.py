"""Available memory: of the machine and of the container, and fits that cannot succeed."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.utils import memory

DATA = pl.datasets.make_citation(40, n_classes=3, seed=1)
Y = pl.mask_labels(DATA.y, np.arange(20))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    return tmp_path


def test_of_machine_and_container(machine):
    assert memory.available_memory() is None
    memory.require_memory(10**30)  # nothing is known
    (machine / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 4 kB\nSwapFree: 1 kB\nHugePages_Total: 0\n")
    assert memory.available_memory() == 5 * 1024
    (machine / "memory.current").write_text("100\n")
    for limit, expected in (("max", 5 * 1024), ("1100", 1000), ("50", 0), ("99999999", 5 * 1024)):
        (machine / "memory.max").write_text(limit + "\n")
        assert memory.available_memory() == expected
    (machine / "meminfo").write_text("strange")
    assert memory.available_memory() is None


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("graphemb", {"dimension": 10_000}),
        ("planetoid-g", {"dimension": 10_000}),
        ("planetoid-t", {"dimension": 10_000}),
        ("planetoid-i", {"dimension": 10_000}),
        ("planetoid", {"dimension": 10_000}),
        ("gcn", {"hidden": 10_000}),
        ("semiemb", {"width": 10_000}),
    ],
)
def test_a_fit_that_needs_more_ends_before_it_begins(method, parameters, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000)
    model = pl.METHODS[method](**parameters)
    with pytest.raises(pl.PlanetoidError, match="needs more memory than there is: unable to allocate 0"):
        model.fit(DATA.X if model.uses_features != "never" else None, Y, graph=DATA.graph)
