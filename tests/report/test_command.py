"""``planetoid report`` on the command line."""

import json

import pytest
from tests.report.conftest import data_of
from typer.testing import CliRunner

from planetoid.cli import main
from planetoid.persistence import write_record

FIT = ("fit", "--edges", "edges.csv", "--labels", "labels.csv", "--method", "lp", "--out", "model")


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(main.app, list(map(str, arguments)), catch_exceptions=False)

    return run


@pytest.fixture
def folder(cited, tmp_path):
    """A model's folder with its record, and labels to measure on beside it."""
    model, record, truth = cited
    model.save(tmp_path / "model")
    write_record(tmp_path / "model", record)
    lines = [f"{node},{label}" for node, label in truth.items()]
    (tmp_path / "truth.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    return tmp_path / "model"


def test_from_files_to_a_report(invoke, tmp_path):
    links = [(k, (k + 1) % 40) for k in range(40)] + [(40, 41)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{j}\n" for i, j in links))
    (tmp_path / "labels.csv").write_text("id,label\nn0,<a>\nn20,b & c\n")
    (tmp_path / "test.csv").write_text("id,label\nn2,<a>\nn19,<a>\nn0,b & c\n")
    assert invoke(*FIT).exit_code == 0
    done = invoke("report", "model", "--out", "report.html", "--truth", "test.csv")
    assert done.exit_code == 0
    assert done.stdout == "report.html\n"
    assert "Report on 42 nodes, accuracy 50.0 % on 2 labelled nodes that were not used for training" in done.stderr
    page = (tmp_path / "report.html").read_text()
    assert "planetoid fit --edges edges.csv" in page
    assert "can say nothing about 2 of 42 nodes" in page
    assert data_of(tmp_path / "report.html")["neighbours"] is not None


def test_json(invoke, folder, tmp_path):
    done = invoke(
        "report", folder, "--out", tmp_path / "r.html", "--truth", "truth.csv", "--json", "--quiet", "--points", 150
    )
    assert done.exit_code == 0
    assert done.stderr == ""
    summary = json.loads(done.stdout)
    assert summary["path"] == str(tmp_path / "r.html")
    assert summary["n_points"] == 150
    assert summary["n_evaluated"] == 100
    assert summary["seconds"] > 0
    assert summary["n_bytes"] == (tmp_path / "r.html").stat().st_size


def test_an_existing_file_is_kept_without_force(invoke, folder, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    done = invoke("report", folder, "--out", "r.html")
    assert done.exit_code == 2
    assert "r.html: the file exists; pass --force to replace it" in done.stderr
    assert (tmp_path / "r.html").read_text() == "mine"
    assert invoke("report", folder, "--out", "r.html", "--force", "--title", "Mine & yours").exit_code == 0
    assert "<title>Mine &amp; yours</title>" in (tmp_path / "r.html").read_text()


def test_a_model_without_record_can_be_given_its_edges(invoke, cited, tmp_path):
    model, record, _ = cited
    model.save(tmp_path / "bare")
    first = record.neighbours(0).tolist()[0]
    (tmp_path / "edges.csv").write_text(f"source,target\npaper_0,paper_{first}\n")
    done = invoke("report", "bare", "--edges", "edges.csv")
    assert done.exit_code == 0
    assert "bare has no record of the fit" in done.stderr
    data = data_of(tmp_path / "report.html")
    assert data["neighbours"] is not None
    assert data["hasTruth"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere: there is no model"),
        (("model", "--truth", "none.csv"), "none.csv"),
        (("model", "--truth", "strange.csv"), "no record has the id of a node"),
        (("model", "--edges", "strange.csv"), "the graph has none of the model's nodes"),
        (("model", "--out", "."), "is a folder"),
        (("model", "--out", "truth.csv/r.html"), "cannot write here"),
    ],
)
def test_errors_are_one_line(invoke, folder, tmp_path, arguments, words):
    (tmp_path / "strange.csv").write_text("id,label\nq1,x\nq2,y\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = invoke("report", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_integer_ids_in_a_file_match_string_ids_of_the_model(invoke, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n2,x\n")
    (tmp_path / "labels.csv").write_text("id,label\n1,a\nx,b\n")
    assert invoke(*FIT).exit_code == 0
    (tmp_path / "some.csv").write_text("source,target\n1,2\n")
    done = invoke("report", "model", "--edges", "some.csv", "--json")
    assert done.exit_code == 0
    assert "planetoid fit" in (tmp_path / "report.html").read_text()
