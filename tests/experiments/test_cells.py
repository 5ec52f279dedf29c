"""Cells as runs, and the keys of runs."""

from dataclasses import replace

from tests.experiments.conftest import TINY, make_cell

from planetoid.evaluation import Protocol
from planetoid.experiments.cells import RunTask, run_task
from planetoid.registry import METHODS


def test_the_key_of_a_run_depends_on_everything_that_its_result_depends_on():
    task = RunTask("cora", "lp", TINY, {"tol": 1e-3}, 0)
    assert task.key == RunTask("cora", "lp", Protocol(per_class=5, n_val=0, n_test=200), {"tol": 1e-3}, 0).key
    others = [
        replace(task, dataset="pubmed"),
        replace(task, method="mad"),
        replace(task, parameters={}),
        replace(task, seed=1),
        replace(task, protocol=replace(TINY, validation=True)),
    ]
    assert len({task.key, *(other.key for other in others)}) == 6


def test_a_parameter_that_equals_the_default_is_the_same_run():
    default = RunTask("cora", "lp", TINY, {}, 0)
    max_iter = METHODS["lp"]().max_iter
    assert replace(default, parameters={"max_iter": max_iter}).key == default.key
    assert replace(default, parameters={"max_iter": max_iter + 1}).key != default.key


def test_a_cell_without_randomness_runs_once():
    assert len(make_cell(protocol=Protocol("public")).tasks(10)) == 1
    assert len(make_cell().tasks(10)) == 10  # random splits
    assert len(make_cell(method="planetoid-g", protocol=Protocol("public")).tasks(10)) == 10


def test_a_run_is_not_calibrated_which_does_not_change_accuracy():
    assert make_cell().tasks(1)[0].parameters == {"calibrate": False}
    for method in ("lp", "feat", "graphemb"):
        calibrated, plain = (RunTask("cora-bundled", method, TINY, {"calibrate": value}, 0) for value in (True, False))
        assert calibrated.key != plain.key
        assert run_task(calibrated).metrics["accuracy"] == run_task(plain).metrics["accuracy"]
