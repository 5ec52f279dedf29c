"""Several labels per node on the command line, on files of the BlogCatalog kind."""

import csv
import io
import json

import numpy as np
import pytest

import planetoid as pl
from planetoid.evaluation import Protocol, run_once


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """``edges.csv`` and ``group-edges.csv`` without headers, ``cells.csv`` with several labels in a cell."""
    folder = tmp_path_factory.mktemp("groups")
    data = pl.datasets.make_multilabel(150, 4, within=0.8, mean_degree=16, seed=1)
    split = data.split("rate", rate=0.5, n_val=30, seed=0)
    edges = data.graph.to_scipy().tocoo()
    (folder / "edges.csv").write_text(
        "".join(f"{i + 1},{j + 1}\n" for i, j in zip(*edges.coords, strict=True) if i < j)
    )

    def lines(rows):
        return "".join(f"{row + 1},{label + 1}\n" for row in rows for label in data.Y[[row]].indices)

    for name, rows in (("group-edges", split.train), ("validation", split.val), ("truth", split.test)):
        (folder / f"{name}.csv").write_text(lines(rows))
    cells = ((row + 1, ";".join(f"g{label + 1}" for label in data.Y[[row]].indices)) for row in split.train)
    (folder / "cells.csv").write_text("id,label\n" + "".join(f"{node},{cell}\n" for node, cell in cells))
    return folder, data, split


def options(folder):
    return ("--edges", folder / "edges.csv", "--labels", folder / "group-edges.csv", "--multi-label")


def rows_of(result):
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_fit_and_predict(groups, done, tmp_path):
    folder, _, _ = groups
    done("fit", *options(folder), "--method", "lp", "--out", tmp_path / "m", "--quiet")
    rows = rows_of(done("predict", tmp_path / "m", "--all-probabilities"))
    assert list(rows[0]) == ["id", "labels", "probabilities", *(f"probability_{k}" for k in range(1, 5))]
    model = pl.load(tmp_path / "m")
    for row, labels in zip(rows, model.predict(), strict=True):
        found = {int(label) for label in row["labels"].split(";")}
        assert found == set(model.classes_[labels > 0].tolist())
        shown = [float(one) for one in row["probabilities"].split(";")]
        assert shown == sorted(shown, reverse=True)
        assert len(shown) == len(found)
    in_python = pl.read_dataset(edges=folder / "edges.csv", labels=folder / "group-edges.csv", multi_label=True)
    same = pl.LabelPropagation().fit(in_python).predict_proba()
    np.testing.assert_array_equal(model.predict_proba(), same)


def test_top_and_separator(groups, done, tmp_path, invoke):
    folder, _, _ = groups
    cells = ("--edges", folder / "edges.csv", "--labels", folder / "cells.csv", "--label-separator", ";")
    done("fit", *cells, "--method", "lp", "--out", tmp_path / "m", "--quiet")
    rows = rows_of(done("predict", tmp_path / "m", "--top", "2", "--label-separator", "|"))
    assert all(row["labels"].count("|") == 1 for row in rows)
    assert rows[0]["labels"].startswith("g")
    assert "a class has it in its name" in invoke("predict", tmp_path / "m", "--label-separator", "g").stderr
    assert "from 0 to 4" in invoke("predict", tmp_path / "m", "--top", "5").stderr
    refused = " ".join(invoke("predict", tmp_path / "m", "--coverage", "0.9").stderr.split())
    assert "for several, --all-probabilities gives" in refused


def test_validation_labels_are_scored(groups, done, tmp_path):
    folder, _, _ = groups
    with_validation = (*options(folder), "--validation", folder / "validation.csv")
    result = done(
        "fit", *with_validation, "--method", "graphemb", "--set", "dimension=8", "--out", tmp_path / "m", "--json"
    )
    printed = json.loads(result.stdout)
    assert printed["validation"] == 30
    assert 0 < printed["validation_micro_f1"] <= 1


def test_without_the_option(groups, invoke):
    folder, _, _ = groups
    result = invoke("check", "--edges", folder / "edges.csv", "--labels", folder / "group-edges.csv")
    assert result.exit_code == 2
    assert "pass --multi-label if nodes may have several labels" in result.stdout
    result = invoke("check", "--edges", folder / "edges.csv", "--labels", folder / "cells.csv")
    assert "pass --label-separator ';' to separate them" in " ".join(result.stdout.split())


def test_check_counts_labels(groups, done):
    folder, data, split = groups
    printed = json.loads(done("check", *options(folder), "--json").stdout)
    assert printed["counts"]["labels"] == len(split.train)
    sizes = np.asarray(data.Y[split.train].sum(axis=0)).ravel()
    assert list(printed["counts"]["classes"].values()) == sizes.tolist()
    assert printed["methods"] == ["lp", "graphemb", "planetoid-g", "planetoid"]
    assert printed["excluded"]["lgc"] == "takes one label per node"


def test_evaluate_shows_f1(groups, done):
    folder, _, _ = groups
    result = done("evaluate", *options(folder), "--method", "lp", "--splits", "2", "--jobs", "1", "--json", "--quiet")
    printed = json.loads(result.stdout)
    data = pl.read_dataset(edges=folder / "edges.csv", labels=folder / "group-edges.csv", multi_label=True)
    runs = [run_once("lp", data, Protocol(split="folds"), seed).result.metrics for seed in (0, 1)]
    for name in ("micro_f1", "macro_f1", "micro_f1_number_known"):
        assert printed["methods"][0][name]["mean"] == pytest.approx(np.mean([run[name] for run in runs]))
    text = done("evaluate", *options(folder), "--method", "lp", "--splits", "1", "--train-share", "0.6", "--jobs", "1")
    assert "micro F1 %" in text.stdout
    assert "tested nodes" in " ".join(text.stdout.split())


def test_compare_ranks_by_micro_f1(groups, done, tmp_path):
    folder, _, _ = groups
    few = ("--method", "lp,graphemb,lgc", "--set", "graphemb.dimension=8", "--jobs", "1", "--quiet")
    command = ("compare", *options(folder), *few, "--splits", "2", "--journal", tmp_path / "runs.log")
    printed = json.loads(done(*command, "--json").stdout)
    assert printed["excluded"] == {"lgc": "takes one label per node"}
    ranking = printed["ranking"]
    assert {row["method"] for row in ranking} == {"lp", "graphemb"}
    assert ranking[0]["micro_f1"]["mean"] >= ranking[1]["micro_f1"]["mean"]
    for row in ranking:
        assert row["micro_f1"]["low"] < row["micro_f1"]["mean"] < row["micro_f1"]["high"]
        assert 0 < row["macro_f1"]["mean"] < 1
    data = pl.read_dataset(edges=folder / "edges.csv", labels=folder / "group-edges.csv", multi_label=True)
    runs = [run_once("lp", data, Protocol(split="folds"), seed).result.metrics["micro_f1"] for seed in (0, 1)]
    found = next(row for row in ranking if row["method"] == "lp")
    assert found["micro_f1"]["mean"] == pytest.approx(np.mean(runs))
    assert printed["recommended"] in {"lp", "graphemb"}
    again = done(*command)  # from the journal
    assert "micro F1 %" in again.stdout
    assert printed["reason"] in " ".join(again.stdout.split())
    assert json.loads(done(*command, "--json").stdout) == printed


def test_tune_maximizes_micro_f1(groups, done):
    folder, _, _ = groups
    command = ("tune", *options(folder), "--method", "lp", "--trials", "3", "--splits", "1", "--jobs", "1", "--quiet")
    printed = json.loads(done(*command, "--json").stdout)
    data = pl.read_dataset(edges=folder / "edges.csv", labels=folder / "group-edges.csv", multi_label=True)
    run = run_once("lp", data, Protocol(split="folds"), 1000, printed["parameters"])
    assert printed["metric"] == "micro_f1"
    assert printed["score"]["mean"] == pytest.approx(run.result.metrics["micro_f1"])
    assert printed["score"]["mean"] >= printed["default"]["mean"]
    text = done(*command).stdout
    assert "Micro F1" in text
    assert "--multi-label" in text


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("fit", "--method", "lgc"), "LocalGlobalConsistency takes one label per node"),
        (("evaluate", "--method", "lgc"), "takes one label per node"),
        (("evaluate", "--method", "lp", "--per-class", "3"), "for several, use --train-share"),
        (("compare", "--method", "lgc,mad"), "no method suits the data: lgc takes one label per node"),
        (("tune", "--method", "poisson"), "poisson does not suit the data: it takes one label per node"),
    ],
)
def test_what_takes_one_label_says_so(groups, invoke, command, message):
    name, *more = command
    result = invoke(name, *options(groups[0]), *more)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_report(groups, done, tmp_path):
    folder, data, split = groups
    done("fit", *options(folder), "--method", "lp", "--out", tmp_path / "m", "--quiet")
    out = tmp_path / "r.html"
    result = done("report", tmp_path / "m", "--truth", folder / "truth.csv", "--out", out, "--json")
    printed = json.loads(result.stdout)
    model = pl.load(tmp_path / "m")
    rows = [int(node) - 1 for node in model.node_ids_.to_numpy()]
    tested = np.isin(rows, split.test)
    truth = data.Y[rows].toarray()[tested]
    expected = pl.evaluation.multi_label_f1(truth, model.predict()[tested])
    assert printed["n_evaluated"] == len(split.test)
    assert printed["accuracy"] is None
    assert printed["micro_f1"] == pytest.approx(expected.micro)
    assert printed["macro_f1"] == pytest.approx(expected.macro)
    page = out.read_text()
    assert f"Micro F1 {100 * expected.micro:.1f}" in page
    several = next(labels for labels in data.labels[split.train] if len(labels) > 1)
    assert "; ".join(str(int(name.split()[1]) + 1) for name in several) in page


def test_explain(groups, done, tmp_path, invoke):
    folder, _, _ = groups
    done("fit", *options(folder), "--method", "lp", "--out", tmp_path / "m", "--quiet")
    text = done("explain", tmp_path / "m", "3", "--label", "2").stdout
    assert text.startswith("node 3: 2 (")
    assert "rather than" not in text
    printed = json.loads(done("explain", tmp_path / "m", "3", "--label", "2", "--format", "json").stdout)
    assert (printed["label"], printed["runner_up"], printed["runner_up_probability"]) == (2, None, None)
    files = ("--edges", folder / "edges.csv")  # labels are those of the record
    again = json.loads(done("explain", tmp_path / "m", "3", "--label", "2", *files, "--json").stdout)
    assert again["score"] == pytest.approx(printed["score"])
    assert [reason["labels"] for reason in again["groups"][0]["reasons"]] == [
        reason["labels"] for reason in printed["groups"][0]["reasons"]
    ]
    assert "there is no class 'x'" in invoke("explain", tmp_path / "m", "3", "--label", "x").stderr
