"""Names of nodes and other columns: in the page, in its list of nodes to label, and on the command line."""

import csv

import pandas as pd
import pytest
from tests.report.conftest import HOSTILE_IDS, data_of
from tests.report.test_command import FIT, invoke  # noqa: F401 - a fixture
from tests.report.test_page import read

from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.report import write_report
from planetoid.report.shown import ShownColumns

IDS = NodeIds(["a", "b", "c"])


def test_a_pandas_table_is_aligned_by_its_index():
    table = pd.DataFrame({"name": ["Cy", "Ann", "?"], "age": [3.0, None, 4.5]}, index=["c", "a", "x"])
    assert ShownColumns.of(table, IDS).cells == {"name": ["Ann", "", "Cy"], "age": ["", "", "3"]}
    assert ShownColumns.of(table["name"], IDS).cells == {"name": ["Ann", "", "Cy"]}


def test_long_cells_are_cut_and_line_breaks_removed():
    shown = ShownColumns.of({"text": ["x" * 301, "one\n two", 7]}, IDS)
    assert shown.cells["text"] == ["x" * 299 + "…", "one two", "7"]
    assert ShownColumns.of(None, IDS).name(0) == ""


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"name": ["Ann"]}, "the column 'name' to show has 1 entries for 3 nodes"),
        (pd.DataFrame({"name": ["Ann"]}), "no index of the table to show is the id of a node, such as 'a'"),
    ],
)
def test_columns_that_do_not_fit(columns, words):
    with pytest.raises(DataError, match=words):
        ShownColumns.of(columns, IDS)


def test_names_are_in_the_data_of_the_page_and_escaped(hostile, tmp_path):
    model, record = hostile
    names = dict(zip(HOSTILE_IDS, (f"<i>{k}</i>" for k in range(len(HOSTILE_IDS))), strict=True))
    table = pd.DataFrame({"name": names, "size": 1})
    write_report(tmp_path / "r.html", model, record=record, show=table)
    data = data_of(tmp_path / "r.html")
    assert [column["name"] for column in data["shown"]] == ["name", "size"]
    assert dict(zip(data["ids"], data["shown"][0]["cells"], strict=True)) == names
    texts = read(tmp_path / "r.html").texts
    assert "<i>1</i>" in texts  # as text, in the table of nodes to label
    lines = list(csv.DictReader(data["csv"].splitlines()))
    assert all(names[line["id"]] == line["name"] and line["size"] == "1" for line in lines if line["id"] in names)


def test_the_node_table_of_the_fit_has_the_columns(invoke, tmp_path):  # noqa: F811
    people = pd.DataFrame({"id": range(6), "name": list("ABCDEF"), "x": 0.5, "label": ["u", "v", "", "", "", ""]})
    people.to_csv(tmp_path / "people.csv", index=False)
    people.rename(columns={"id": "key"}).to_csv(tmp_path / "others.csv", index=False)
    (tmp_path / "edges.csv").write_text("0,2\n2,4\n1,3\n3,5\n")
    fit = ["fit", "--edges", "edges.csv", "--nodes", "people.csv", "--method", "lp", "--out", "model"]
    assert invoke(*fit).exit_code == 0
    assert invoke("report", "model", "--show", "name", "--show", "x").exit_code == 0
    data = data_of(tmp_path / "report.html")
    assert dict(zip(data["ids"], data["shown"][0]["cells"], strict=True)) == dict(zip("012345", "ABCDEF", strict=True))
    other = ("report", "model", "--nodes", "others.csv", "--id-column", "key", "--show", "name", "--force")
    assert invoke(*other).exit_code == 0
    assert data_of(tmp_path / "report.html")["shown"][0]["cells"] == data["shown"][0]["cells"]
    wrong = invoke("report", "model", "--show", "nome", "--force")
    assert (wrong.exit_code, "there is no column 'nome'" in wrong.stderr) == (2, True)
    (tmp_path / "people.csv").unlink()  # as for a model that was copied to another folder
    gone = invoke("report", "model", "--show", "name", "--force")
    message = (
        "error: people.csv: the file that the model was fitted on is no longer there; run the command in the folder"
    )
    assert (gone.exit_code, gone.stderr.startswith(message)) == (2, True)


def test_show_without_a_table_says_what_is_missing(invoke, tmp_path):  # noqa: F811
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    (tmp_path / "labels.csv").write_text("id,label\na,x\nc,y\n")
    assert invoke(*FIT).exit_code == 0
    assert "--show requires --nodes FILE" in invoke("report", "model", "--show", "name").stderr
    assert "--nodes requires --show" in invoke("report", "model", "--nodes", "edges.csv").stderr
