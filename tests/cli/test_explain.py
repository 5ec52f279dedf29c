"""``planetoid explain``."""

import json

import pytest
from tests.cli.test_imports import imported  # noqa: F401

import planetoid as pl


@pytest.mark.parametrize("method", ["lp", "ssgc", "planetoid-g"])
def test_prints_what_the_model_says(models, done, method):
    model = pl.load(models(method))
    assert done("explain", models(method), "paper_17").stdout.rstrip("\n") == repr(model.explain("paper_17"))


def test_json_of_another_class(models, done):
    model = pl.load(models("ssgc"))
    runner_up = model.explain("paper_17").runner_up
    command = ("explain", models("ssgc"), "paper_17", "--label", runner_up, "--top", 2)
    found = json.loads(done(*command, "--format", "json").stdout)
    assert found["label"] == runner_up
    assert found["node"] == "paper_17"
    assert all(len(group["reasons"]) <= 4 for group in found["groups"])
    assert {group["kind"] for group in found["groups"]} == {"labels", "neighbours", "features"}
    assert json.loads(done(*command, "--json").stdout) == found


def test_integer_ids(done, tmp_path):
    pl.LabelPropagation().fit(y={1: "a", 5: "b"}, graph=[(1, 2), (2, 5)]).save(tmp_path / "m")
    assert done("explain", tmp_path / "m", "2").stdout.startswith("node 2: ")


def test_unknown_nodes_and_classes(models, refused):
    line = refused("explain", models("lp"), "paper_9999")
    assert "the model has no node 'paper_9999'; its ids look like 'paper_0'" in line
    line = refused("explain", models("lp"), "paper_17", "--label", "nothing")
    assert "--label: there is no class 'nothing'; the classes are" in line


def test_files_stand_in_for_data_that_was_not_saved(files, done, refused, tmp_path, monkeypatch):
    monkeypatch.setattr("planetoid.explanation.fitted_data.MOST_BYTES", 0)
    model = tmp_path / "m"
    done("fit", *files.all(), "--method", "ssgc", "--hold-out", "0.2", "--out", model, "--quiet")
    line = refused("explain", model, "paper_17")
    assert "pass --edges, --features and --nodes as they were" in line
    found = done("explain", model, "paper_17", "--edges", files.edges, "--features", files.features, "--json").stdout
    found = json.loads(found)
    with pytest.warns(pl.PlanetoidWarning, match="without an edge"):
        data = pl.read_dataset(edges=files.edges, features=files.features, labels=files.labels).hold_out(0.2, 0)
    expected = pl.PropagatedFeatures().fit(data.X, pl.mask_labels(data.labels, data.labelled), graph=data.graph)
    expected = expected.explain("paper_17")
    assert found["score"] == pytest.approx(expected.score, rel=1e-4)
    assert [group["total"] for group in found["groups"]] == pytest.approx([g.total for g in expected.groups], rel=1e-3)
    line = refused("explain", model, "paper_17", "--edges", files.edges)
    assert "the files have 228 nodes, not the 240 that the model was fitted on" in line


def test_the_default_method_needs_no_torch(files, done, imported, tmp_path):  # noqa: F811
    done("fit", *files.all(), "--set", "training.steps=5", "--out", tmp_path / "m", "--quiet")
    assert imported(("torch",), "explain", tmp_path / "m", "paper_17", "--quiet") == []
