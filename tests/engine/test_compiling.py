"""Compiled code and the disk: the same bits when it is loaded, and a fit without a folder for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from planetoid.engine import compiling
from planetoid.errors import PlanetoidWarning

FIT = """if True:
    import planetoid as pl
    edges = [("a", "b"), ("b", "c"), ("c", "d")]
    model = pl.LabelPropagation(solver="iterative").fit(None, {"a": 0, "c": 1}, graph=edges)
    print(model.predict().tolist())
"""


def test_a_fit_without_a_folder_for_the_cache():
    environment = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    environment.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[0, 0, 1, 1]\n"
    assert run.stderr.count("compiled code cannot be kept on disk") == 1


def test_a_disk_that_is_full(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.Cache.save_overload", full)
    monkeypatch.setattr(compiling, "_said", [])

    @compiling.cached_njit()
    def double(values):
        return 2 * values

    with pytest.warns(PlanetoidWarning, match="cannot be kept on disk"):
        assert double(3) == 6
    assert double(np.ones(2)).tolist() == [2, 2]  # without another warning, which would be an error


KERNEL = """if True:
    from planetoid.engine import compiling
    compiling._stamp = lambda package: {stamp!r}
    from planetoid.engine.alias import alias_tables
    import numpy as np
    alias_tables(np.array([0, 2]), np.array([1.0, 3.0]))
    from planetoid.engine import alias
    [compiled] = [value for value in vars(alias).values() if hasattr(value, "stats")]
    print(sum(compiled.stats.cache_hits.values()))
"""


def hits(folder, stamp):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", KERNEL.format(stamp=stamp)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def test_code_that_was_compiled_from_other_sources_is_not_loaded(tmp_path):
    """Also if an index is not readable, as that of a version with classes that are gone."""
    assert [hits(tmp_path, stamp) for stamp in ("one", "one", "two")] == [0, 1, 0]
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(index.read_bytes()[:-20])
    assert [hits(tmp_path, "two") for _ in range(2)] == [0, 1]


def test_every_file_with_compiled_functions_counts(tmp_path):
    package = tmp_path / "planetoid"
    for name in ("engine/steps.py", "engine/draws.py", "baselines/kernels.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x = 1\n")
    stamps = [compiling._stamp.__wrapped__(package)]
    for name in ("engine/draws.py", "baselines/kernels.py"):
        (package / name).write_text("x = 10\n")
        stamps.append(compiling._stamp.__wrapped__(package))
    assert len(set(stamps)) == 3
    source = Path(compiling.__file__).parent.parent
    compiled = {
        file
        for file in source.rglob("*.py")
        if re.search(r"^@(exact|fast|entry|fast_entry|cached_njit|njit)", file.read_text(), re.M)
    }
    assert {file.name for file in compiled} <= {name for name, *_ in compiling._stamp(source)}


BITS = """if True:
    import hashlib
    import planetoid as pl
    digest = hashlib.sha256()
    for n_classes in (3, 7):
        data = pl.datasets.make_citation(300, n_classes=n_classes, seed=1)
        y = pl.mask_labels(data.y, data.labelled[::6])
        model = pl.Planetoid(training=pl.Consistency(steps=20), view="neighbourhood").fit(data.X, y, graph=data.graph)
        digest.update(model.predict_proba().tobytes())
    digest.update(pl.GraphEmbedding(pretrain=1).fit(None, y, graph=data.graph).embedding_.tobytes())
    print(digest.hexdigest())
"""


@pytest.mark.soak
def test_the_process_that_compiles_gives_the_bits_of_those_that_load(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = []
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        found.append(run.stdout)
    assert found[0] == found[1]
