"""Finished runs are stored and not repeated."""

from dataclasses import replace

import pytest
from tests.experiments.conftest import make_cell

from planetoid.errors import DataError
from planetoid.experiments.cells import run_task
from planetoid.experiments.store import RunStore


def test_finished_runs_are_not_repeated(tmp_path):
    store = RunStore(tmp_path / "runs.jsonl")
    tasks = make_cell().tasks(2)
    seeds = []
    store.run(store.missing(tasks), 1, lambda task, result: seeds.append(task.seed))
    assert seeds == [0, 1]
    again = RunStore(tmp_path / "runs.jsonl")
    assert again.missing([*tasks, *make_cell().tasks(3)]) == [make_cell().tasks(3)[2]]
    assert again.results == store.results
    stored = again.results[tasks[0].key]
    fresh = run_task(tasks[0])
    assert stored == replace(fresh, fit_seconds=stored.fit_seconds, predict_seconds=stored.predict_seconds)


def test_a_run_that_was_cut_off_is_repeated_and_a_damaged_line_is_an_error(tmp_path):
    path = tmp_path / "runs.jsonl"
    store = RunStore(path)
    tasks = make_cell().tasks(2)
    store.run(tasks, 1, lambda task, result: None)
    complete = path.read_text()
    path.write_text(complete[:-40])
    assert RunStore(path).missing(tasks) == [tasks[1]]
    assert path.read_text().count("\n") == 1  # so that the next run starts a new line
    path.write_text("nonsense\n" + complete)
    with pytest.raises(DataError, match="line 1: not a finished run") as caught:
        RunStore(path)
    assert (caught.value.path, caught.value.line) == (path, 1)
