"""A part of the paper as files, from finished runs and new ones."""

import json
import re

import pytest
from tests.experiments.conftest import make_cell

from planetoid.errors import ParameterError
from planetoid.experiments import reproduce
from planetoid.experiments.ablation import VARIANTS
from planetoid.experiments.cells import RowLabels


def test_a_part_that_is_shown_again_keeps_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "table3", lambda: [make_cell()])

    def produce():
        text, cells = reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path)
        return text, len(cells), json.loads((tmp_path / "table3.json").read_text(encoding="utf-8"))["seconds"]

    first, again = produce(), produce()
    assert again[:2] == first[:2]
    assert again[2] > first[2]
    for other in ("{}", json.dumps({"quick": True, "seconds": 1e6})):  # not ours, and not of the same runs
        (tmp_path / "table3.json").write_text(other, encoding="utf-8")
        text, count, seconds = produce()
        assert (text, count) == first[:2]
        assert seconds < 1e6


def test_an_unknown_part_is_an_error_with_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"unknown part 'table9'; choose from table2, .*, all"):
        reproduce.reproduce_part("table9", runs=1, jobs=1, out=tmp_path)


def test_the_ablation_has_paired_differences_below_each_section(tmp_path, monkeypatch):
    small = {"dimension": 4, "training__pretrain": 1, "training__steps": 5}
    titles = {"two-stage": "two stages", "joint-walks": "joint, no label contexts"}
    cells = [
        make_cell(
            table="ablation",
            section="random splits",
            row=RowLabels("Planetoid-G", title, "fixed", "in the graph"),
            method="planetoid-g",
            parameters={**small, **VARIANTS[variant]},
            paper=None,
        )
        for variant, title in titles.items()
    ]
    monkeypatch.setattr(reproduce, "ablation", lambda: cells)
    text, _ = reproduce.reproduce_part("ablation", runs=2, jobs=1, out=tmp_path)
    record = json.loads((tmp_path / "ablation.json").read_text(encoding="utf-8"))
    (difference,) = record["differences"]["random splits"]
    runs = [[run["accuracy"] for run in cell["runs"]] for cell in record["cells"]]
    expected = sum(joint - two for two, joint in zip(*runs, strict=True)) / 2
    assert difference["mean"] == pytest.approx(expected)
    assert "| joint training | Planetoid-G |" in text
    assert "same starts" in text


def test_all_stands_for_the_parts_of_the_paper():
    assert reproduce.OF_THE_PAPER == ("table2", "table3", "table4", "table5", "figure")
    assert set(reproduce.PARTS) - set(reproduce.OF_THE_PAPER) == {"ablation"}
    assert set(reproduce.TITLES) == set(reproduce.PARTS)


def test_table_4_tells_memory_and_time(tmp_path, monkeypatch):
    cell = make_cell(table="table4", section="lists", dataset="lists:0.001", method="feat")
    monkeypatch.setattr(reproduce, "table4", lambda lists: [cell])
    text, _ = reproduce.reproduce_part("table4", runs=1, jobs=1, out=tmp_path)
    full, _ = reproduce.reproduce_part("table4", runs=1, jobs=1, out=tmp_path, lists=reproduce.FULL_SIZE)
    assert full.startswith(text.splitlines()[0] + ", at full size\n")
    assert (tmp_path / "table4-full.md").read_text() == full
    assert (tmp_path / "table4.md").read_text() == text  # stands beside it
    assert re.search(r"The largest process had \d+\.\d GB, data included; the longest fit took \d+ s", text)
    assert "The budgets were set by time" in text


def test_a_data_set_alone_adds_to_a_table(tmp_path, monkeypatch):
    """Runs are executed for that dataset only; cells that are finished are shown."""
    cells = [make_cell(), make_cell(dataset="citeseer")]  # of which the second could not be loaded here
    monkeypatch.setattr(reproduce, "table3", lambda: cells)
    _, shown = reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path, datasets=["cora-bundled"])
    assert [entry.cell.dataset for entry in shown] == ["cora-bundled"]
    with pytest.raises(ParameterError, match="table3 has no dataset 'cora'; choose from cora-bundled, citeseer"):
        reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path, datasets=["cora"])


def test_a_method_alone_adds_to_a_table(tmp_path, monkeypatch):
    cells = [make_cell(), make_cell(method="mad", row=RowLabels("MAD", "defaults", "fixed", "in the graph"))]
    monkeypatch.setattr(reproduce, "table3", lambda: cells)
    _, shown = reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path, methods=["mad"])
    assert [entry.cell.method for entry in shown] == ["mad"]
    _, shown = reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path, methods=["lp"])
    assert [entry.cell.method for entry in shown] == ["lp", "mad"]
    with pytest.raises(ParameterError, match="table3 has no method 'gcn'; choose from lp, mad"):
        reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path, methods=["gcn"])


def test_settings_alone_add_to_a_table(tmp_path, monkeypatch):
    tuned = make_cell(row=RowLabels("LP", "tuned", "fixed", "in the graph"), parameters={"tol": 1e-3})
    monkeypatch.setattr(reproduce, "table3", lambda: [make_cell(), tuned])
    _, shown = reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path, settings=["tuned"])
    assert [entry.cell.row.settings for entry in shown] == ["tuned"]
    with pytest.raises(ParameterError, match="table3 has no settings 'printed'; choose from defaults, tuned"):
        reproduce.reproduce_part("table3", runs=1, jobs=1, out=tmp_path, settings=["printed"])
