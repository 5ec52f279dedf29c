"""``planetoid datasets``, without a network."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from planetoid import datasets
from planetoid.cli.main import app


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    """Run with an empty cache and no ``PLANETOID_DATA``."""
    monkeypatch.delenv("PLANETOID_DATA", raising=False)
    monkeypatch.setattr("planetoid.datasets.files.cache_folder", lambda: tmp_path / "cache")

    def run(*arguments):
        return CliRunner().invoke(app, ["datasets", *map(str, arguments)], catch_exceptions=False)

    return run


def test_list_names_them_all(invoke):
    done = invoke("list")
    assert done.exit_code == 0
    for name in datasets.names():
        assert name in done.stdout
    assert "bundled with the package" in done.stdout
    assert "planetoid datasets get pubmed" in done.stdout
    assert "by hand" in done.stdout


def test_list_as_json(invoke):
    entries = {entry["name"]: entry for entry in json.loads(invoke("list", "--json").stdout)}
    assert list(entries) == datasets.names()
    assert entries["pubmed"]["where"] is None
    assert entries["pubmed"]["paper_edges"] == 44_338
    assert entries["cora-bundled"]["where"] == "bundled with the package"


def test_info_counts_what_is_here(invoke):
    done = invoke("info", "cora-bundled")
    assert done.exit_code == 0
    for words in ("2,708", "5,278 undirected edges", "Genetic_Algorithms", "5,429 edges", "bundled with the package"):
        assert words in done.stdout
    assert json.loads(invoke("info", "cora-bundled", "--json").stdout)["counts"] == {
        "nodes": 2708,
        "edges": 5278,
        "features": 1433,
        "classes": 7,
        "labels": 2708,
    }


def test_info_of_what_is_not_here(invoke):
    done = invoke("info", "citeseer")
    assert done.exit_code == 0
    assert "3,327 nodes, 4,732 edges, 6 classes" in done.stdout
    assert "planetoid datasets get citeseer" in done.stdout
    assert json.loads(invoke("info", "citeseer", "--json").stdout)["counts"] is None
    assert "by hand" in invoke("info", "diel").stdout


def test_get_finds_what_is_here_already(invoke, data_root, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for path in (data_root / "planetoid").glob("ind.cora.*"):
        shutil.copy(path, folder)
    done = invoke("get", "cora", "--root", folder)
    assert done.exit_code == 0
    assert done.stdout == f"{folder}\n"
    assert "2,708" in done.stderr
    assert invoke("get", "cora", "--root", folder, "--quiet").stderr == ""
    assert str(folder) in invoke("info", "cora", "--root", folder).stdout


def test_a_damaged_file_is_an_error(invoke, data_root, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for path in (data_root / "planetoid").glob("ind.cora.*"):
        shutil.copy(path, folder)
    (folder / "ind.cora.graph").chmod(0o600)
    (folder / "ind.cora.graph").write_bytes(b"something else")
    done = invoke("get", "cora", "--root", folder)
    assert done.exit_code == 2
    assert "ind.cora.graph: the file has the SHA-256" in done.stderr


def test_get_what_has_to_be_downloaded_by_hand(invoke):
    done = invoke("get", "diel")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: diel was not found")
    assert done.stderr.count("\n") == 1
