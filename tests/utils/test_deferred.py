"""Modules that are loaded on first use, in processes of their own."""

import subprocess
import sys

START = "import sys; from planetoid.utils.deferred import defer_module; defer_module('scipy.stats'); "
LOADED = "'scipy.stats._stats_py' in sys.modules"


def output(code):
    ended = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, check=True)
    return ended.stdout.split()


def test_an_import_does_not_load_the_module():
    assert output(f"import scipy.stats; from scipy import stats; import sklearn.base; print({LOADED})") == ["False"]


def test_every_way_to_use_it_loads_it():
    assert output("from scipy.stats import norm; print(norm.cdf(0))") == ["0.5"]
    assert output("import scipy.stats; print(scipy.stats.norm.cdf(0))") == ["0.5"]
    assert output("from scipy import stats; print(stats.norm.cdf(0), stats.t.cdf(0, 3))") == ["0.5", "0.5"]
    assert output("from scipy.stats.distributions import norm; print(norm.cdf(0))") == ["0.5"]


def test_what_is_loaded_or_missing_stays_so():
    code = (
        "import json; defer_module('json'); print(json.dumps(1)); defer_module('no_such_module'); import no_such_module"
    )
    command = [sys.executable, "-c", START + code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout == "1\n"
    assert "ModuleNotFoundError" in ended.stderr
