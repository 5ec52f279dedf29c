"""``planetoid demo`` on few splits and quick methods."""

import json
import os
import stat

import pytest
from typer.testing import CliRunner

from planetoid.cli import demo, main
from planetoid.evaluation import Protocol, Result
from planetoid.registry import METHODS


@pytest.fixture
def invoke(monkeypatch):
    monkeypatch.setattr(demo, "SHOWN", ("feat", "lp"))

    def run(*arguments):
        return CliRunner().invoke(
            main.app, ["demo", "--seeds", "2", "--jobs", "1", *map(str, arguments)], catch_exceptions=False
        )

    return run


def test_every_method_of_the_demo_exists():
    assert set(demo.SHOWN) <= set(METHODS)
    assert set(demo.MAPPED) <= set(demo.SHOWN)


def test_table_protocol_picture_and_results(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "SHOWN", ("feat", "lp", "graphemb"))
    out = tmp_path / "some" / "where"
    done = invoke("--out", out, "--jobs", 2)
    assert done.exit_code == 0
    for word in ("LabelPropagation", "lp", "graph", "Feat", "features", "±", "1,000 test papers"):
        assert word in done.stdout
    assert Protocol().in_words() in done.stdout
    assert str(out / "demo.png") in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["demo.png", "results.json"]
    picture = (out / "demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 50_000
    stored = json.loads((out / "results.json").read_text())
    results = [Result.from_dict(entry) for entry in stored["results"]]
    assert [(result.method, result.seed) for result in results] == [
        (method, seed) for method in ("feat", "lp", "graphemb") for seed in (0, 1)
    ]
    assert all(result.n_train == 140 and result.n_test == 1000 for result in results)
    assert all(result.metrics["accuracy"] > 0.5 for result in results)


def test_json_and_quiet(invoke, tmp_path):
    done = invoke("--out", tmp_path, "--json", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert record["picture"] == str(tmp_path / "demo.png")
    assert record["dataset"] == "cora-bundled"
    assert [row["method"] for row in record["summary"]] == ["feat", "lp"]
    assert record["summary"][0]["metrics"]["accuracy"]["sd"] > 0
    assert set(record["versions"]) >= {"planetoid", "python", "numpy", "torch"}


def test_a_second_demo_replaces_the_first(invoke, tmp_path):
    (tmp_path / "results.json").write_text("old")
    (tmp_path / "mine.txt").write_text("kept")
    assert invoke("--out", tmp_path, "--quiet").exit_code == 0
    assert json.loads((tmp_path / "results.json").read_text())["dataset"] == "cora-bundled"
    assert (tmp_path / "mine.txt").read_text() == "kept"


def test_a_folder_that_cannot_be_is_refused_before_the_work(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "compare", lambda *_, **__: pytest.fail("the work began"))
    taken = tmp_path / "file"
    taken.write_text("")
    done = invoke("--out", taken)
    assert done.exit_code == 2
    assert f"{taken}: --out must be a folder, this is a file" in done.stderr
    done = invoke("--out", taken / "below")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {taken}")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write(invoke, tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    done = invoke("--out", tmp_path)
    tmp_path.chmod(stat.S_IRWXU)
    assert done.exit_code == 2
    assert "no permission to write" in done.stderr


def test_nothing_half_is_left_when_writing_fails(invoke, tmp_path, monkeypatch):
    def fails(path, *_):
        path.write_bytes(b"\x89PNG half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("planetoid.cli.demo_picture.draw", fails)
    (tmp_path / "demo.png").write_bytes(b"whole")
    done = invoke("--out", tmp_path)
    assert done.exit_code == 2
    assert "No space left on device" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"demo.png": b"whole"}
