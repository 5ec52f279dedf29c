"""Where compiled code cannot be kept on disk, a fit goes on without, and says so once."""

import os
import subprocess
import sys

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
