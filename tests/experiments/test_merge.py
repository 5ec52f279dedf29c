"""Parts of a table that were run apart, shown as one."""

import json

import pytest
from tests.experiments.conftest import TINY, make_cell

from planetoid.errors import DataError
from planetoid.evaluation import Protocol, Spread
from planetoid.experiments import reproduce
from planetoid.experiments.cells import RowLabels
from planetoid.experiments.render import CellResult

MAD = RowLabels("MAD", "defaults", "fixed", "in the graph")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of two methods, whose cells were run together and one by one."""
    cells = [make_cell(), make_cell(method="mad", row=MAD, parameters={"mu3": 0.02}, paper=None)]
    monkeypatch.setattr(reproduce, "table3", lambda: cells)
    for name, methods in (("both", ()), ("a", ["lp"]), ("b", ["mad"])):
        reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path / name, methods=methods)
    return cells


def without_times(record):
    return [{name: value for name, value in cell.items() if name != "seconds"} for cell in record["cells"]]


def test_merged_parts_are_the_table_of_one_run(tmp_path, table):
    files = [tmp_path / name / "table3.json" for name in ("b", "a")]
    _, cells = reproduce.merge_parts("table3", files, out=tmp_path / "merged")
    assert [entry.cell.method for entry in cells] == ["lp", "mad"]
    merged, whole = (json.loads((tmp_path / name / "table3.json").read_text()) for name in ("merged", "both"))
    assert without_times(merged) == without_times(whole)
    assert merged["conclusions"] == whole["conclusions"]
    reproduce.merge_parts("table3", [tmp_path / "merged" / "table3.json"], out=tmp_path / "again")
    assert (tmp_path / "again" / "table3.md").read_text() == (tmp_path / "merged" / "table3.md").read_text()


def test_runs_with_other_seeds_are_added(tmp_path, table):
    reproduce.reproduce_part("table3", runs=3, jobs=1, out=tmp_path / "whole")
    reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path / "last", first_seed=2)
    last = json.loads((tmp_path / "last" / "table3.json").read_text())
    assert [cell["seeds"] for cell in last["cells"]] == [[2], [2]]
    for names in (("both", "last"), ("last", "both")):
        reproduce.merge_parts("table3", [tmp_path / name / "table3.json" for name in names], out=tmp_path / "merged")
        merged, whole = (json.loads((tmp_path / name / "table3.json").read_text()) for name in ("merged", "whole"))
        assert without_times(merged) == without_times(whole)


def test_of_a_seed_in_two_files_the_last_run_counts(tmp_path, table):
    first, second = tmp_path / "a" / "table3.json", tmp_path / "second.json"
    record = json.loads(first.read_text())
    record["cells"][0]["seeds"] = [1, 2]
    record["cells"][0]["runs"] = [{"accuracy": 0.25}, {"accuracy": 0.75}]
    second.write_text(json.dumps(record))
    own = json.loads(first.read_text())["cells"][0]["runs"]
    for files, expected in (([first, second], [own[0], {"accuracy": 0.25}]), ([second, first], own)):
        _, (entry,) = reproduce.merge_parts("table3", files, out=tmp_path / "merged")
        assert [result.seed for result in entry.results] == [0, 1, 2]
        assert [result.metrics for result in entry.results] == [*expected, {"accuracy": 0.75}]


def test_of_two_records_of_a_cell_the_last_is_shown(tmp_path, table):
    first, second = tmp_path / "a" / "table3.json", tmp_path / "second.json"
    record = json.loads(first.read_text())
    record["cells"][0]["mean"] = 0.123
    second.write_text(json.dumps(record))
    for files, is_last in (([first, second], True), ([second, first], False)):
        _, (entry,) = reproduce.merge_parts("table3", files, out=tmp_path / "merged")
        assert (entry.spread.mean == 0.123) is is_last


def test_a_record_of_other_parameters_is_left_out(tmp_path, table, monkeypatch):
    changed = [table[0], make_cell(method="mad", row=MAD, parameters={"mu3": 0.05}, paper=None)]
    monkeypatch.setattr(reproduce, "table3", lambda: changed)
    _, cells = reproduce.merge_parts("table3", [tmp_path / "both" / "table3.json"], out=tmp_path / "merged")
    assert [entry.cell.method for entry in cells] == ["lp"]


def test_files_of_another_part_are_an_error(tmp_path, table):
    with pytest.raises(DataError, match="not the results of table5"):
        reproduce.merge_parts("table5", [tmp_path / "a" / "table3.json"], out=tmp_path)


def test_runs_are_told_by_dataset_or_settings_where_they_differ(results):
    def finished(dataset, count, settings="paper", protocol=TINY):
        cell = make_cell(dataset=dataset, row=RowLabels("LP", settings, "fixed", "in the graph"), protocol=protocol)
        return CellResult(cell, Spread(0.71, 0.01), 0.5, results[:count])

    public = Protocol("public")  # on which LP is run once
    assert reproduce._runs_in_words([finished("cora", 2), finished("cora", 1, protocol=public)]) == "2 runs"
    assert reproduce._runs_in_words([finished("cora", 1, protocol=public)]) == "1 run"
    text = reproduce._runs_in_words([finished("cora", 2), finished("pubmed", 1)])
    assert text == "runs: 2 on cora, 1 on pubmed"
    both = [finished("cora", 2), finished("pubmed", 2), finished("cora", 1, "printed")]
    assert reproduce._runs_in_words(both) == "runs: 2 of paper, 1 of printed"
    assert reproduce._runs_in_words([*both, finished("pubmed", 1)]) == "1 to 2 runs"
