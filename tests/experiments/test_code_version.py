"""The version of a run's code: it changes with what the run executes, and with nothing else."""

import subprocess
import sys

import pytest
from tests.experiments.conftest import TINY

import planetoid.experiments.code_version as module
from planetoid.experiments.cells import RunTask
from planetoid.experiments.code_version import code_version, imported_modules

FILES = {
    "baselines/label_propagation.py": '"""LP."""\nfrom planetoid.baselines import common\nTOL = 1e-6\n',
    "baselines/modified_adsorption.py": "from planetoid.baselines.common import RATE\n",
    "baselines/common.py": "def solve():\n    from planetoid.utils.deep import DEPTH\n    return DEPTH\n",
    "baselines/gcn.py": "import numpy as np\nimport planetoid.utils.deep\n",
    "utils/deep.py": "DEPTH = 3  # a comment\n",
    "datasets/__init__.py": "from planetoid.datasets.cora import load\n",
    "datasets/cora.py": "load = 1\n",
    "evaluation/protocols.py": "",
    "experiments/table4.py": "K = 1\n",
    "cli/fit.py": "from planetoid.baselines import label_propagation\n",
}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A small package in place of the real one."""
    for name, text in FILES.items():
        path = tmp_path / "planetoid" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path / "planetoid")
    forget()
    yield tmp_path / "planetoid"
    forget()


def forget():
    module.code_version.cache_clear()
    module._module.cache_clear()


def versions():
    forget()
    return {method: code_version(method) for method in ("lp", "mad", "gcn")}


@pytest.mark.parametrize(
    ("file", "text", "affected"),
    [
        ("baselines/label_propagation.py", FILES["baselines/label_propagation.py"] + "TOL = 1e-7\n", {"lp"}),
        ("baselines/common.py", FILES["baselines/common.py"].replace("return", "return 2 *"), {"lp", "mad"}),
        ("utils/deep.py", "DEPTH = 4\n", {"lp", "mad", "gcn"}),  # imported inside a function
        ("datasets/cora.py", "load = 2\n", {"lp", "mad", "gcn"}),
        ("evaluation/protocols.py", "pass\n", {"lp", "mad", "gcn"}),
        ("utils/deep.py", '"""Another docstring."""\n\nDEPTH = (3)  # another comment\n', set()),
        ("cli/fit.py", "", set()),
        ("experiments/table4.py", "K = 2\n", set()),
    ],
)
def test_the_version_changes_with_the_code_that_a_run_executes(source, file, text, affected):
    before = versions()
    (source / file).write_text(text, encoding="utf-8")
    assert {method for method, version in versions().items() if version != before[method]} == affected


def test_the_key_of_a_run_changes_with_its_code(source):
    on_graph, on_lists = RunTask("cora", "lp", TINY, {}, 0), RunTask("lists:0.1", "lp", TINY, {}, 0)
    keys = on_graph.key, on_lists.key
    (source / "experiments" / "table4.py").write_text("K = 2\n", encoding="utf-8")
    forget()
    assert (on_graph.key == keys[0], on_lists.key == keys[1]) == (True, False)
    (source / "baselines" / "common.py").write_text("", encoding="utf-8")
    forget()
    assert on_graph.key != keys[0]


def test_the_version_covers_every_module_that_a_run_imports():
    code = """
import sys
from planetoid.datasets import load
from planetoid.evaluation import Protocol, run_once
run_once("lp", load("cora-bundled"), Protocol(per_class=5, n_val=0, n_test=200), 0)
print(*(name for name in sys.modules if name.startswith("planetoid.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    covered = imported_modules("planetoid.baselines.label_propagation", *module.EVERY_RUN)
    packages = {"planetoid.utils.lazy", *(name.rpartition(".")[0] for name in covered)}  # which only import modules
    assert {name for name in done.stdout.split() if name not in covered} <= packages
