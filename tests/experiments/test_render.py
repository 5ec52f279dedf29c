"""Tables of cells: Markdown and plain data."""

import json

import pytest
from tests.experiments.conftest import make_cell

from planetoid.evaluation import Spread
from planetoid.experiments.render import CellResult, as_markdown, as_record, finished_cells


def test_a_table_has_the_papers_value_and_ours(results):
    cell = make_cell()
    by_key = {task.key: result for task, result in zip(cell.tasks(2), results, strict=True)}
    entries = finished_cells([cell, make_cell(method="mad", paper=None)], by_key, 2)
    assert len(entries) == 1  # the other cell has no runs yet
    assert as_markdown(entries).splitlines() == [
        "| method | settings | stopping | test nodes | cora-bundled: paper | ours (seconds) |",
        "| --- | --- | --- | --- | ---: | ---: |",
        "| LP | defaults | fixed | in the graph | 68.0 | 71.0 ± 1.4 (0.50) |",
    ]
    (record,) = json.loads(json.dumps(as_record(entries)))
    assert record["mean"] == pytest.approx(0.71)
    assert record["paper"] == 0.68
    assert record["seeds"] == [0, 1]
    assert record["reaches_paper"] is True
    assert (record["method"], record["short_name"], record["test nodes"]) == ("LP", "lp", "in the graph")


def test_a_table_without_values_of_the_paper_has_no_columns_for_them(results):
    entry = CellResult(make_cell(paper=None), Spread(0.71, 0.014), 0.5, results)
    assert as_markdown([entry]).splitlines() == [
        "| method | settings | stopping | test nodes | cora-bundled (seconds) |",
        "| --- | --- | --- | --- | ---: |",
        "| LP | defaults | fixed | in the graph | 71.0 ± 1.4 (0.50) |",
    ]


def test_reaching_the_paper_allows_one_standard_deviation(results):
    def entry(mean, sd):
        return CellResult(make_cell(method="planetoid-t", paper=0.757), Spread(mean, sd), 1.0, results)

    assert entry(0.75, 0.008).reaches_paper()
    assert not entry(0.75, 0.005).reaches_paper()
    assert entry(0.80, None).reaches_paper()
    assert "†" in as_markdown([entry(0.75, 0.005)])


def test_synthetic_lists_are_not_compared_with_the_papers_value(results):
    def entry(dataset):
        cell = make_cell(method="planetoid-t", dataset=dataset, paper=0.5)
        return CellResult(cell, Spread(0.4, 0.01), 1.0, results)

    assert entry("lists:0.1").reaches_paper() is None
    assert "†" not in as_markdown([entry("lists:0.1")])
    assert entry("lists:diel").reaches_paper() is False
