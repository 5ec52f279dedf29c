"""Finished runs are stored and not repeated."""

from dataclasses import replace

import pytest
from tests.experiments.conftest import make_cell

from planetoid.errors import DataError
from planetoid.experiments.cells import run_task
from planetoid.experiments.store import RunStore
from planetoid.utils.sealed import seal


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
    complete = path.read_bytes()
    path.write_bytes(complete[:-40])
    again = RunStore(path)
    assert again.missing(tasks) == [tasks[1]]
    assert path.read_bytes() == complete[:-40]  # nothing is written by reading
    again.run([tasks[1]], 1, lambda task, result: None)
    assert RunStore(path).missing(tasks) == []
    assert path.read_bytes().count(b"\n") == 3
    lines = complete.splitlines(keepends=True)
    path.write_bytes(lines[0] + b"nonsense\n" + lines[1])
    with pytest.raises(DataError, match="line 2: the line is damaged") as caught:
        RunStore(path)
    assert (caught.value.path, caught.value.line) == (path, 2)
    path.write_bytes(lines[0] + seal({"key": "x"}) + lines[1])
    with pytest.raises(DataError, match="line 2: not a finished run"):
        RunStore(path)


def test_a_file_of_others_stays_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="this is not a file of planetoid runs"):
        RunStore(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
