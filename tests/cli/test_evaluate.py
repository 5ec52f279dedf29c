"""``planetoid evaluate`` and ``compare``: splits of the known labels, figures, and failures."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.conftest import QUICK, started

import planetoid as pl
from planetoid.cli import measurement
from planetoid.cli.compare import recommend
from planetoid.cli.evaluate import _details
from planetoid.cli.measurement import Outcome, calibration, confusion_matrix, split_protocol
from planetoid.cli.method_choice import BEST_FIRST
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.evaluation import Protocol, run_once
from planetoid.evaluation.comparison import accuracy_interval, score_labels

ONE = ("--jobs", "1")


@pytest.fixture(scope="module")
def data(files):
    with pytest.warns(PlanetoidWarning):
        return pl.read_dataset(files.edges, files.features, files.labels)


def protocol(data, **given):
    usual = {"train_share": None, "per_class": None, "hold_out": None, "new_nodes": False}
    return split_protocol(data, **usual | given)


def test_figures_are_those_of_the_evaluation(files, data, done):
    result = done("evaluate", *files.all(), "--method", "lp,feat", "--splits", "2", *ONE, "--json", "--quiet")
    printed = json.loads(result.stdout)
    assert result.stderr == ""
    assert [row["method"] for row in printed["methods"]] == ["lp", "feat"]
    assert printed["classes"] == ["art", "biology", "chess"]
    runs = [run_once("lp", data, protocol(data), seed) for seed in (0, 1)]
    accuracies = [run.result.metrics["accuracy"] for run in runs]
    assert printed["methods"][0]["accuracy"]["mean"] == pytest.approx(np.mean(accuracies))
    assert printed["methods"][0]["accuracy"]["sd"] == pytest.approx(np.std(accuracies, ddof=1))
    sizes = [entry["n_test"] for entry in printed["results"][:2]]
    assert sizes == [8, 7]  # of 36 labels in five folds
    for row in printed["methods"]:
        matrix = np.array(row["confusion"])
        assert matrix.sum() == sum(sizes) == row["labels_tested"]
        assert row["accuracy"]["low"] < matrix.trace() / sum(sizes) <= row["accuracy"]["high"]
        assert [entry["count"] for entry in row["per_class"]] == matrix.sum(axis=1).tolist()
        assert sum(entry["count"] for entry in row["calibration"]) == sum(sizes)
        right = sum(entry["count"] * entry["accuracy"] for entry in row["calibration"])
        assert right == pytest.approx(matrix.trace())


def test_the_table_says_how_it_was_measured(files, done):
    text = done("evaluate", *files.all(), "--method", "feat", "--splits", "2", *ONE).stdout
    assert Protocol(split="folds").in_words() in text
    assert "from 15 tested labels" in text
    assert "about the same number of labels" in text
    assert "1 art" in text
    assert "feat: calibration" in text
    assert "±" in text


def test_singular_and_plural(files, tmp_path, done):
    labels = pd.read_csv(files.labels).groupby("label").head(2).iloc[[0, 1, 2]]  # two of a class, one of another
    labels.to_csv(tmp_path / "l.csv", index=False)
    command = ["--edges", files.edges, "--labels", tmp_path / "l.csv", "--method", "lp", "--splits", "1", *ONE]
    text = done("evaluate", *command, "--train-share", "0.5").stdout
    assert "from 1 tested label;" in text
    assert "comparing lp on 1 split\n" in done("compare", *command).stderr


def test_several_processes_give_the_same_figures(files, done):
    command = ["evaluate", *files.graph(), "--method", "lp", "--splits", "2", "--json"]
    one, two = (json.loads(done(*command, "--jobs", jobs).stdout)["methods"] for jobs in (1, 2))
    for row in one + two:
        del row["seconds"]
    assert one == two


def test_sizes_of_splits(data):
    tested = [protocol(data).draw(data, seed).test for seed in range(5)]
    assert sorted(np.concatenate(tested)) == data.labelled.tolist()  # every label once
    by_class = protocol(data, per_class=5)
    assert (by_class.split, by_class.per_class, by_class.n_test) == ("random", 5, 21)
    held = protocol(data, train_share=0.5, hold_out=0.25)
    assert (held.n_val, held.n_test, held.validation) == (9, 9, True)
    assert protocol(data, new_nodes=True).setting == "unseen"
    split = held.draw(data, seed=3)
    assert (len(split.train), len(split.val), len(split.test)) == (18, 9, 9)
    for given, printed in (
        ({"train_share": 0.5, "per_class": 5}, "mutually exclusive"),
        ({"train_share": 1.5}, r"--train-share must be a number in \(0, 1\), got 1.5"),
        ({"hold_out": 0.0}, r"--hold-out must be a number in \(0, 1\), got 0.0"),
    ):
        with pytest.raises(ParameterError, match=printed):
            protocol(data, **given)
    with pytest.raises(DataError, match="--per-class 13: class 'art' has only 12 labels"):
        protocol(data, per_class=13)
    with pytest.raises(DataError, match="no label is left for testing: of 36 labels in 3 classes, 36 are for training"):
        protocol(data, per_class=12)
    with pytest.raises(DataError, match="27 are for training and 9 for early stopping"):
        protocol(data, hold_out=0.25)


def test_a_class_with_one_label_is_trained_on(files, tmp_path, done):
    pd.DataFrame({"id": files.names[:7], "label": ["a"] * 3 + ["b"] * 3 + ["c"]}).to_csv(
        tmp_path / "l.csv", index=False
    )
    command = ["evaluate", "--edges", files.edges, "--labels", tmp_path / "l.csv", "--method", "lp", "--json"]
    printed = json.loads(done(*command, *ONE).stdout)
    assert {entry["n_train"] for entry in printed["results"]} == {5}
    assert [row["count"] for row in printed["methods"][0]["per_class"]] == [5, 5, 0]
    assert printed["methods"][0]["per_class"][2]["accuracy"] is None


def test_new_nodes_are_removed_from_the_graph(files, done, refused):
    command = ["evaluate", *files.all(), "--new-nodes", "--splits", "1", *ONE]
    assert "unseen" in done(*command, "--method", "feat").stdout
    assert "lp does not suit the data: it does not label new nodes" in refused(*command, "--method", "lp")


def test_settings_reach_the_methods(files, done):
    command = ["evaluate", *files.all(), "--method", "feat,lp", "--splits", "1", *ONE, "--json"]
    printed = json.loads(done(*command, "--set", "max_iter=77", "--set", "feat.C=3").stdout)
    feat, lp = (entry["parameters"] for entry in printed["results"])
    assert (feat["max_iter"], feat["C"], lp["max_iter"]) == (77, 3, 77)


def test_auto_evaluates_what_fit_would_choose(files, done):
    printed = json.loads(done("evaluate", *files.words(), "--splits", "1", *ONE, "--json").stdout)
    assert [row["method"] for row in printed["methods"]] == ["planetoid"]


def test_confusion_and_calibration_by_hand():
    outcomes = [
        Outcome("lp", 0, None, np.arange(3), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.95, 0.55, 0.6])),
        Outcome("lp", 1, None, np.arange(1), np.array([1]), np.array([0]), np.array([0.51])),
    ]
    assert confusion_matrix(outcomes, 2).tolist() == [[1, 1], [1, 1]]
    low, high = calibration(outcomes)
    assert (low.low, low.high, low.count) == (0.5, 0.6, 3)
    assert low.confidence == pytest.approx((0.55 + 0.6 + 0.51) / 3)
    assert low.accuracy == pytest.approx(1 / 3)
    assert (high.count, high.accuracy) == (1, 1.0)


def measured(**right):
    """Return the rows of methods, and their scores on the same labels: 1 where correct."""
    scores = {name.replace("_", "-"): score_labels([np.arange(len(one))], [one > 0]) for name, one in right.items()}
    rows = [
        {
            "method": name,
            "splits": 5,
            "accuracy": {"mean": one.share.mean()} | accuracy_interval(one)._asdict(),
            "seconds": float(place),
        }
        for place, (name, one) in enumerate(scores.items())
    ]
    return rows, scores


def test_a_clear_winner_is_recommended():
    choice = recommend(*measured(planetoid=np.arange(100) < 60, mad=np.arange(100) < 80))
    assert choice.method == "mad"
    assert "by more than two standard errors" in choice.reason


def test_without_a_clear_winner_the_best_on_other_data_is_recommended():
    sixteen = np.arange(16)
    choice = recommend(*measured(ica=sixteen < 11, planetoid=sixteen < 10, lp=sixteen < 9))
    assert choice.method == "planetoid"
    assert "No clear winner: 16 tested labels cannot tell ica, planetoid and lp apart" in choice.reason
    assert "The fastest of them is ica" in choice.reason


def test_a_method_that_was_interrupted_is_not_recommended():
    rows, scores = measured(planetoid=np.ones(10), lp=np.ones(10))
    rows[0]["splits"] = 1
    assert recommend(rows, scores).method == "lp"


def test_the_order_without_a_winner_is_that_of_the_mean_ranks():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "robustness.json"
    ranks = json.loads(path.read_text())["ranks"]["mean rank"]
    assert sorted(BEST_FIRST, key=lambda name: ranks[name]) == list(BEST_FIRST)
    assert set(BEST_FIRST) == set(ranks)


def test_figures_for_classes_of_other_sizes():
    """All of "a" and half of "b" are correct; "a" is predicted for one in ten nodes."""
    truth = np.repeat([0, 1], 10)
    predicted = np.where(np.arange(20) < 15, truth, 0)
    outcome = Outcome("lp", 0, None, np.arange(20), truth, predicted, np.ones(20), np.array([0.1, 0.9]))
    details = _details("lp", [outcome], ("a", "b"))
    assert details["accuracy_weighted_by_predictions"] == pytest.approx(0.1 * 1 + 0.9 * 0.5)


def test_compare_ranks_suitable_methods_and_says_why_others_are_excluded(files, done):
    command = ["compare", *files.graph(), "--splits", "2", "--method", "lp,mad,lgc,feat,planetoid-t", *ONE]
    printed = json.loads(done(*command, "--json").stdout)
    accuracies = [entry["accuracy"]["mean"] for entry in printed["ranking"]]
    assert accuracies == sorted(accuracies, reverse=True)
    assert {entry["method"] for entry in printed["ranking"]} == {"lp", "mad", "lgc"}
    assert set(printed["excluded"]) == {"feat", "planetoid-t"}
    assert printed["recommended"] in ("lp", "mad", "lgc")
    assert printed["failed"] == {}
    text = done(*command).stdout
    assert "excluded: feat, planetoid-t (requires features)" in text
    assert "Recommended: " in text


def test_a_failure_does_not_end_the_comparison(files, done, refused, monkeypatch):
    class Broken(pl.LabelPropagation):
        def _fit(self, problem):
            raise ZeroDivisionError("of its own")

    usual = type(pl.METHODS).__getitem__
    monkeypatch.setattr(
        type(pl.METHODS), "__getitem__", lambda self, name: Broken if name == "mad" else usual(self, name)
    )
    command = ["compare", *files.graph(), "--splits", "2", *ONE]
    result = done(*command, "--method", "lp,mad")
    assert "mad failed: ZeroDivisionError: of its own" in result.stdout
    assert "Recommended: lp" in result.stdout
    printed = json.loads(done(*command, "--method", "lp,mad", "--json").stdout)
    assert set(printed["failed"]) == {"mad"}
    assert [entry["method"] for entry in printed["ranking"]] == ["lp"]
    monkeypatch.setattr(measurement, "run_once", lambda *_: pl.Graph.of(3))
    assert "lp failed on split 0" in refused("evaluate", *files.graph(), "--splits", "1", "--method", "lp", *ONE)


def test_no_method_suits_the_data(files, refused):
    assert "no method suits the data: feat requires features" in refused("compare", *files.graph(), "--method", "feat")


@pytest.mark.parametrize("command", ["compare", "evaluate"])
def test_ctrl_c_shows_what_was_finished(files, invoke, monkeypatch, command):
    attempt = measurement.attempt

    def interrupted(task):
        if (task.method, task.seed) == ("lp", 1):
            raise KeyboardInterrupt
        return attempt(task)

    monkeypatch.setattr(measurement, "attempt", interrupted)
    result = invoke(command, *files.all(), "--method", "feat,lp", "--splits", "2", *ONE)
    assert result.exit_code == 130
    assert result.stderr.endswith("interrupted\n")
    assert "feat" in result.stdout
    assert "lp" in result.stdout
    printed = json.loads(invoke(command, *files.all(), "--method", "feat,lp", "--splits", "2", *ONE, "--json").stdout)
    rows = printed["ranking" if command == "compare" else "methods"]
    assert {entry["method"]: entry["splits"] for entry in rows} == {"feat": 2, "lp": 1}


@pytest.mark.parametrize("command", ["compare", "evaluate"])
def test_a_journal_resumes_with_the_same_result(files, invoke, done, refused, monkeypatch, tmp_path, command):
    attempt, tried = measurement.attempt, []

    def counted(task):
        tried.append((task.method, task.seed))
        if len(tried) == 3:
            raise KeyboardInterrupt
        return attempt(task)

    log = tmp_path / "runs.log"
    arguments = [command, *files.all(), "--splits", "2", *ONE]
    monkeypatch.setattr(measurement, "attempt", counted)
    stopped = invoke(*arguments, "--method", "feat,lp", "--journal", log)
    assert stopped.exit_code == 130
    assert f"Finished runs are in {log}: the same command continues from there." in stopped.stderr
    resumed = json.loads(done(*arguments, "--method", "feat,lp", "--journal", log, "--json").stdout)
    assert tried == [("feat", 0), ("feat", 1), ("lp", 0), ("lp", 0), ("lp", 1)]
    done(*arguments, "--method", "feat,lp,mad", "--journal", log)
    assert tried[5:] == [("mad", 0), ("mad", 1)]
    monkeypatch.setattr(measurement, "attempt", attempt)
    whole = json.loads(done(*arguments, "--method", "feat,lp", "--json").stdout)
    assert _without_times(resumed) == _without_times(whole)
    other = refused(*arguments, "--method", "feat", "--journal", log, "--per-class", "1")
    assert "belongs to other data, another kind of splits or another version of planetoid" in other


def _without_times(found):
    if isinstance(found, dict):
        return {key: _without_times(value) for key, value in found.items() if "seconds" not in key and key != "reason"}
    return [_without_times(one) for one in found] if isinstance(found, list) else found


def test_what_failed_is_tried_again(files, done, monkeypatch, tmp_path):
    broken = {"mad"}
    run_once = measurement.run_once

    def sometimes(method, *others):
        if method in broken:
            raise ZeroDivisionError
        return run_once(method, *others)

    monkeypatch.setattr(measurement, "run_once", sometimes)
    command = ["compare", *files.graph(), "--splits", "1", "--method", "lp,mad", *ONE, "--journal", tmp_path / "j"]
    assert "mad failed" in done(*command).stdout
    broken.clear()
    assert "mad failed" not in done(*command).stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize(
    ("command", "sent"), [("compare", signal.SIGINT), ("fit", signal.SIGINT), ("fit", signal.SIGTERM)]
)
def test_ctrl_c_as_a_terminal_sends_it(files, tmp_path, command, sent):
    """To the whole group of processes, in the middle of the work; no partial output is left."""
    more = {
        "compare": ["--splits", "400", "--method", "feat,planetoid-g", "--jobs", "2"],
        "fit": ["--method", "planetoid-t", "--set", "training.steps=1000000", "--out", tmp_path / "m"],
    }[command]
    code = "from planetoid.cli.main import run\nrun()"
    arguments = [sys.executable, "-c", code, command, *map(str, [*files.all(), *more])]
    with started(arguments) as process:
        begun = "comparing" if command == "compare" else "fitting"
        while not process.stderr.readline().startswith(begun):
            assert process.poll() is None
        time.sleep(3)
        os.killpg(process.pid, sent)
        output, messages = process.communicate(timeout=120)
    code, last = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated")}[sent]
    assert process.returncode == code
    assert messages.splitlines()[-1] == last
    assert "Traceback" not in messages
    assert list(tmp_path.iterdir()) == []
    assert output == "" or (command == "compare" and "feat" in output)  # as far as it had come


def test_planetoid_runs_in_a_comparison(files, done):
    command = ["compare", *files.all(), "--method", "planetoid-t", "--splits", "1", *ONE, *QUICK, "--json"]
    printed = json.loads(done(*command, "--hold-out", "0.1").stdout)
    assert printed["recommended"] == "planetoid-t"
    assert Protocol(split="rate", rate=0.8, validation=True).in_words() == printed["protocol"]
