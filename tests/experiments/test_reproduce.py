"""Cells, finished runs, and tables made of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from planetoid.errors import DataError
from planetoid.evaluation import Protocol, Result, Spread
from planetoid.experiments import paper, reproduce
from planetoid.experiments.cells import Cell, RunTask, run_task
from planetoid.experiments.conclusions import comparisons_of, conclusions_markdown
from planetoid.experiments.render import Figure, as_markdown, as_record, figures_of
from planetoid.experiments.store import RunStore
from planetoid.experiments.tables import quick_cell, table3, table4, table5

TINY = Protocol(per_class=5, n_val=0, n_test=200)


def cell(**changes):
    row = ("LP", "defaults", "fixed", "in the graph")
    return replace(Cell("table3", "random splits", row, "cora-bundled", "lp", TINY, {}, 0.68), **changes)


def test_a_run_is_known_by_everything_that_it_depends_on():
    task = RunTask("cora", "lp", TINY, {"tol": 1e-3}, 0)
    assert task.key == RunTask("cora", "lp", Protocol(per_class=5, n_val=0, n_test=200), {"tol": 1e-3}, 0).key
    others = [
        replace(task, dataset="pubmed"), replace(task, method="mad"), replace(task, parameters={}),
        replace(task, seed=1), replace(task, protocol=replace(TINY, validation=True)),
    ]  # fmt: skip
    assert len({task.key, *(other.key for other in others)}) == 6


def test_a_cell_without_chance_runs_once():
    assert len(cell(protocol=Protocol("public")).tasks(10)) == 1
    assert len(cell().tasks(10)) == 10  # other splits
    assert len(cell(method="planetoid-g", protocol=Protocol("public")).tasks(10)) == 10


def test_finished_runs_are_not_made_again(tmp_path):
    store = RunStore(tmp_path / "runs.jsonl")
    tasks = cell().tasks(2)
    made = []
    store.make(store.missing(tasks), 1, lambda task, result: made.append(task.seed))
    assert made == [0, 1]
    again = RunStore(tmp_path / "runs.jsonl")
    assert again.missing([*tasks, *cell().tasks(3)]) == [cell().tasks(3)[2]]
    assert again.results == store.results
    assert again.results[tasks[0].key] == replace(
        run_task(tasks[0]),
        fit_seconds=again.results[tasks[0].key].fit_seconds,
        predict_seconds=again.results[tasks[0].key].predict_seconds,
    )


def test_a_run_that_was_cut_off_is_made_again_and_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "runs.jsonl"
    store = RunStore(path)
    tasks = cell().tasks(2)
    store.make(tasks, 1, lambda task, result: None)
    whole = path.read_text()
    path.write_text(whole[:-40])
    assert RunStore(path).missing(tasks) == [tasks[1]]
    assert path.read_text().count("\n") == 1  # so that the next line starts at its place
    path.write_text("nonsense\n" + whole)
    with pytest.raises(DataError, match="line 1 is no finished run"):
        RunStore(path)


def some_figures():
    def result(seed, accuracy):
        return Result("lp", "cora", "p", seed, {"accuracy": accuracy}, 0.5, 0.0, 1, 1, 1)

    some = cell()
    results = {
        task.key: result(task.seed, accuracy) for task, accuracy in zip(some.tasks(2), (0.70, 0.72), strict=True)
    }
    return figures_of([some, cell(method="mad", paper=None)], results, 2)


def test_a_part_that_is_shown_again_keeps_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "table3", lambda: [cell()])

    def made():
        text, figures = reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path)
        return text, len(figures), json.loads((tmp_path / "table3.json").read_text(encoding="utf-8"))["seconds"]

    first, again = made(), made()
    assert again[:2] == first[:2]
    assert again[2] > first[2]
    for other in ("{}", json.dumps({"quick": True, "seconds": 1e6})):  # not ours, and not of the same runs
        (tmp_path / "table3.json").write_text(other, encoding="utf-8")
        text, count, seconds = made()
        assert (text, count) == first[:2]
        assert seconds < 1e6


def test_a_table_has_the_papers_figure_and_ours():
    figures = some_figures()
    assert len(figures) == 1  # the other cell has no runs yet
    assert as_markdown(figures).splitlines()[2] == (
        "| LP | defaults | fixed | in the graph | 68.0 | 71.0 ± 1.4 (0.50) |"
    )
    (record,) = json.loads(json.dumps(as_record(figures)))
    assert record["mean"] == pytest.approx(0.71)
    assert record["paper"] == 0.68
    assert record["seeds"] == [0, 1]
    assert record["reaches_paper"] is True


def test_reaching_the_paper_allows_one_standard_deviation():
    def figure(mean, sd):
        return Figure(cell(method="planetoid-t", paper=0.757), Spread(mean, sd), 1.0, some_figures()[0].results)

    assert figure(0.75, 0.008).reaches_paper()
    assert not figure(0.75, 0.005).reaches_paper()
    assert figure(0.80, None).reaches_paper()
    assert "†" in as_markdown([figure(0.75, 0.005)])


def test_made_lists_neither_reach_nor_miss_the_papers_figure():
    def figure(dataset):
        return Figure(
            cell(method="planetoid-t", dataset=dataset, paper=0.5), Spread(0.4, 0.01), 1.0, some_figures()[0].results
        )

    assert figure("lists:0.1").reaches_paper() is None
    assert "†" not in as_markdown([figure("lists:0.1")])
    assert figure("lists:diel").reaches_paper() is False


def test_a_conclusion_is_a_difference_of_cells_that_belong_together():
    def figure(method, settings, mean, *, stops="fixed", setting="unseen", value=0.7):
        one = Cell(
            "table5", "public split", (method, settings, stops, setting), "nell-0.1", method,
            Protocol("public", setting=setting), {}, value,
        )  # fmt: skip
        return Figure(one, Spread(mean, 0.03), 1.0, some_figures()[0].results)

    figures = [
        figure("planetoid-i", "paper", 0.68, value=0.702),
        figure("planetoid-i", "tuned", 0.70, value=0.702),
        figure("planetoid-i", "tuned", 0.98, stops="validation"),
        figure("planetoid-i", "tuned", 0.97, setting="features"),
        figure("planetoid-g", "paper", 0.80, value=0.845),
        figure("planetoid-g", "tuned", 0.85, value=0.845),
        figure("semiemb", "paper", 0.60, value=0.654),
    ]
    found = {(one.worse, one.settings): one for one in comparisons_of(figures)}
    assert {place: round(one.ours, 3) for place, one in found.items()} == {
        ("semiemb", "paper"): 0.08,
        ("semiemb", "tuned"): 0.10,  # which has one kind of settings
        ("planetoid-g", "paper"): -0.12,
        ("planetoid-g", "tuned"): -0.15,
    }
    one = found["semiemb", "tuned"]
    assert (one.better, one.dataset) == ("planetoid-i", "nell-0.1")
    assert one.paper == pytest.approx(0.048)
    assert one.error == pytest.approx(0.03)  # two runs each: (0.03^2 / 2 + 0.03^2 / 2)^(1/2)
    assert conclusions_markdown([one]).endswith("| Planetoid-I - SemiEmb | tuned | +4.8 | +10.0 ± 3.0 |")


def test_every_row_of_the_paper_is_there():
    for cells, figures in ((table3(), paper.TABLE_3), (table5(), paper.TABLE_5)):
        expected = {(method, data, value) for method, row in figures.items() for data, value in row.items()}
        assert expected <= {(one.method, one.dataset, one.paper) for one in cells}
    assert {(one.method, one.paper) for one in table4("0.1")} == set(paper.TABLE_4.items())


def test_planetoid_cells_are_shown_under_every_protocol_that_the_field_uses():
    rows = {(one.section, *one.row[1:]) for one in table3() if one.method == "planetoid-i"}
    for section in ("public split", "random splits"):
        for stopping in ("fixed", "validation"):
            assert (section, "paper", stopping, "unseen") in rows
            assert (section, "tuned", stopping, "features only") in rows
    assert all(one.protocol.setting == "unseen" for one in table3() if one.method in ("manireg", "semiemb"))


def test_quick_cells_have_small_budgets():
    for one in (*table3(), *table4("0.01"), *table5()):
        parameters = quick_cell(one).parameters
        assert parameters.get("training__steps", parameters.get("steps", 30)) == 30


def test_recall_on_lists_is_below_the_upper_bound():
    result = run_task(RunTask("lists:0.001", "feat", TINY, {}, 0))
    assert 0 < result.metrics["recall"] <= result.metrics["upper_bound"] < 1
