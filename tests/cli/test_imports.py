"""Nothing is imported that a command does not need."""

import subprocess
import sys

import pytest
from tests.cli.conftest import QUICK

MODELS = ("torch", "numba", "sklearn")

CODE = """
import sys
from planetoid.cli.main import run
try:
    run()
finally:
    print("imported:", *sorted(name for name in {names!r} if name in sys.modules), file=sys.stderr)
"""


@pytest.fixture
def imported():
    """Run a command in a process of its own; return which of some packages it imported."""

    def run(names, *arguments):
        command = [sys.executable, "-c", CODE.format(names=names), *map(str, arguments)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stderr.splitlines()[-1].split()[1:]

    return run


@pytest.mark.parametrize("method", ["lp", "planetoid-t"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_saved_labels_are_read_without_the_model(models, imported, tmp_path, method, suffix):
    out = tmp_path / f"p.{suffix}"
    names = (*MODELS, "scipy", "pandas")
    assert imported(names, "predict", models(method), "--out", out, "--quiet") == []
    assert out.stat().st_size > 1000


def test_saved_embeddings_are_read_without_the_model(models, imported, tmp_path):
    assert imported(MODELS, "embed", models("planetoid-t"), "--out", tmp_path / "e.npz", "--quiet") == []


def test_data_is_checked_without_networks(files, imported):
    assert imported(("torch", "numba"), "check", *files.all(), "--validation", files.validation) == []


def test_a_method_without_a_network_needs_no_torch(files, imported, tmp_path):
    command = ("fit", *files.graph(), "--method", "lp", "--out", tmp_path / "m", "--quiet")
    assert imported(("torch",), *command) == []


def test_the_default_method_needs_no_torch(files, imported, tmp_path):
    command = ("fit", *files.all(), "--set", "training.steps=5", "--out", tmp_path / "m", "--quiet")
    assert imported(("torch",), *command) == []


def test_a_planetoid_model_needs_no_compiler_of_torch(files, imported, tmp_path):
    command = ("fit", *files.all(), "--method", "planetoid-t", *QUICK, "--out", tmp_path / "m", "--quiet")
    assert imported(("torch._dynamo", "sympy"), *command) == []


def test_a_report_is_written_without_the_model(models, imported, tmp_path):
    command = ("report", models("planetoid-t"), "--reasons", 0, "--out", tmp_path / "r.html", "--quiet")
    assert imported(("torch", "planetoid.estimator"), *command) == []
