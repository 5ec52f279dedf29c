"""What a method sees under each protocol, and what the results record."""

import json

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator.classifier import GraphClassifier
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.evaluation import Protocol, Result, evaluate, protocols, run_once, summarize, what_it_uses

SMALL = {"per_class": 5, "n_val": 30, "n_test": 60}


@pytest.fixture(scope="module")
def data():
    return pl.datasets.make_citation(200, 3, 50, seed=1)


class Spy(GraphClassifier):
    """Stores the data that it was fitted on and predicts the first class."""

    uses_features = "optional"
    uses_validation = True

    def __init__(self, random_state=None, tool=print):
        self.random_state = random_state
        self.tool = tool

    def _fit(self, data):
        self.data_ = data
        scores = np.zeros((data.n_nodes, data.n_classes))
        scores[:, 0] = 1.0
        return scores


class InductiveSpy(Spy, InductiveClassifier):
    inductive = True

    def _predict_rows(self, X):
        self.X_new_ = X
        return np.tile([1.0, 0.0, 0.0], (X.shape[0], 1))


@pytest.fixture
def spies(monkeypatch):
    monkeypatch.setattr(protocols, "METHODS", {"spy": Spy, "inductive-spy": InductiveSpy})


def test_a_method_sees_no_labels_but_the_training_labels(data, spies):
    run = run_once("spy", data, Protocol(**SMALL), seed=3)
    seen = run.model.data_
    np.testing.assert_array_equal(np.flatnonzero(seen.y >= 0), run.split.train)
    assert seen.validation is None
    assert len(run.split.train) == 15
    assert seen.n_nodes == data.n_nodes


def test_validation_labels_are_passed_only_if_the_protocol_says_so(data, spies):
    run = run_once("spy", data, Protocol(validation=True, **SMALL), seed=3)
    np.testing.assert_array_equal(np.flatnonzero(run.model.data_.validation >= 0), run.split.val)
    np.testing.assert_array_equal(np.flatnonzero(run.model.data_.y >= 0), run.split.train)
    assert "early stopping on validation labels" in run.result.protocol


def test_a_method_that_does_not_use_validation_labels_is_not_given_them(data):
    raw = {"calibrate": False}
    result = run_once("feat", data, Protocol(validation=True, **SMALL), seed=3, parameters=raw).result
    assert result.warnings == []
    without = run_once("feat", data, Protocol(**SMALL), seed=3, parameters=raw).result
    assert result.metrics == without.metrics


def test_unseen_nodes_are_absent_while_fitting(data, spies):
    run = run_once("inductive-spy", data, Protocol(setting="unseen", validation=True, **SMALL), seed=0)
    seen = run.model.data_
    assert seen.n_nodes == data.n_nodes - len(run.split.test)
    ids = set(seen.graph.node_ids.tolist())
    assert ids.isdisjoint(data.node_ids[run.split.test].tolist())
    np.testing.assert_array_equal(seen.graph.node_ids[seen.labelled], data.node_ids[run.split.train])
    np.testing.assert_array_equal(seen.graph.node_ids[seen.validation >= 0], data.node_ids[run.split.val])
    assert (run.model.X_new_ != data.X[run.split.test]).nnz == 0


def test_the_features_setting_has_the_test_nodes_in_the_graph(data, spies):
    run = run_once("inductive-spy", data, Protocol(setting="features", **SMALL), seed=0)
    assert run.model.data_.n_nodes == data.n_nodes
    assert run.model.X_new_.shape[0] == len(run.split.test)


def test_features_are_withheld_if_the_protocol_says_so(data, spies):
    run = run_once("spy", data, Protocol(features=False, **SMALL), seed=0)
    assert run.model.data_.X is None
    assert "no features used" in run.result.protocol
    with pytest.raises(ParameterError, match="predicts from features"):
        run_once("inductive-spy", data, Protocol(setting="unseen", features=False, **SMALL), seed=0)


def test_features_cannot_be_withheld_from_a_method_that_requires_them(data):
    with pytest.raises(ParameterError, match="feat requires features"):
        run_once("feat", data, Protocol(features=False, **SMALL), seed=0)


def test_a_transductive_method_is_refused_before_any_fit(data, spies):
    done = []
    with pytest.raises(ParameterError, match="spy is transductive"):
        evaluate(["inductive-spy", "spy"], data, protocol=Protocol(setting="unseen", **SMALL), keep=done.append)
    assert not done


def test_metrics_against_the_truth(data, spies):
    run = run_once("spy", data, Protocol(**SMALL), seed=2)
    share = (data.y[run.split.test] == 0).mean()
    assert run.result.metrics["accuracy"] == pytest.approx(share)
    assert run.result.metrics["macro_f1"] == pytest.approx(2 * share / (1 + share) / 3)
    assert run.result.metrics["calibration_error"] == pytest.approx(1 - share)


def test_the_seed_is_the_random_state_unless_given(data, spies):
    assert run_once("spy", data, Protocol(**SMALL), 7).model.random_state == 7
    run = run_once("spy", data, Protocol(**SMALL), 7, {"random_state": 1})
    assert run.model.random_state == 1
    assert run.result.seed == 7
    with pytest.raises(ParameterError, match="Spy has no parameter 'depth'"):
        run_once("spy", data, Protocol(**SMALL), 7, {"depth": 1})


def test_results_are_plain_data(data, spies):
    run = run_once("spy", data, Protocol(**SMALL), 0)
    stored = json.loads(json.dumps(run.result.as_dict(), allow_nan=False))
    assert Result.from_dict(stored) == run.result
    assert stored["parameters"]["tool"] == repr(print)
    with pytest.raises(DataError, match="unknown field 'colour'"):
        Result.from_dict({**stored, "colour": "red"})
    del stored["seed"]
    with pytest.raises(DataError, match="has no field 'seed'"):
        Result.from_dict(stored)


def test_all_methods_see_the_same_splits(data):
    order, splits = [], {}

    def note(result, test):
        order.append((result.method, result.seed))
        splits.setdefault(result.seed, []).append(test)

    results = evaluate(
        ["feat", "lp"],
        data,
        protocol=Protocol(**SMALL),
        seeds=[4, 5],
        keep=lambda run: run.split.test,
        on_result=note,
    )
    assert order == [("feat", 4), ("feat", 5), ("lp", 4), ("lp", 5)]
    assert [(result.method, result.seed) for result in results] == order
    np.testing.assert_array_equal(*splits[4])
    np.testing.assert_array_equal(*splits[5])
    assert not np.array_equal(splits[4][0], splits[5][0])


def shape_of(run):
    return run.probabilities.shape


def test_several_processes_give_the_same_metrics(data):
    tasks = {"protocol": Protocol(**SMALL), "seeds": [0, 1, 2]}
    alone = evaluate(["feat", "lp"], data, **tasks)
    kept = []
    together = evaluate(
        ["feat", "lp"],
        data,
        **tasks,
        jobs=2,
        keep=shape_of,
        on_result=lambda _, shape: kept.append(shape),
    )
    assert [(r.method, r.seed, r.metrics) for r in together] == [(r.method, r.seed, r.metrics) for r in alone]
    assert kept == [(60, 3)] * 6


def test_the_same_seed_gives_the_same_metrics(data):
    first, second = (evaluate(["lp"], data, protocol=Protocol(**SMALL), seeds=[1])[0] for _ in range(2))
    assert first.metrics == second.metrics


def test_warnings_of_a_method_are_recorded(data):
    apart = data.graph.with_nodes([*data.node_ids, "nobody"])
    one_more = pl.datasets.Dataset("apart", apart, None, np.append(data.y, -1), data.class_names)
    result = run_once("lp", one_more, Protocol(**SMALL), 0).result
    assert any("of 201 nodes" in message for message in result.warnings)


def test_a_warning_of_another_library_is_issued_again(data, spies, monkeypatch):
    def loud(self, data):
        import warnings

        warnings.warn("not ours", RuntimeWarning, stacklevel=1)
        warnings.warn("ours", PlanetoidWarning, stacklevel=1)
        return np.ones((data.n_nodes, data.n_classes))

    monkeypatch.setattr(Spy, "_fit", loud)
    with pytest.warns(RuntimeWarning, match="not ours"):
        result = run_once("spy", data, Protocol(**SMALL), 0).result
    assert result.warnings == ["ours"]


def test_data_without_features_or_test_nodes(data):
    bare = pl.datasets.Dataset("bare", data.graph, None, data.y, data.class_names)
    with pytest.raises(DataError, match="feat requires features, but bare has none"):
        evaluate(["lp", "feat"], bare, protocol=Protocol(**SMALL))
    with pytest.raises(DataError, match="has no test nodes"):
        run_once("lp", data, Protocol(per_class=5, n_val=0, n_test=0), 0)


def test_the_protocol_in_words():
    assert Protocol(split="public").in_words().startswith("the public split; test nodes in the graph; no validation")
    assert "unseen while fitting" in Protocol(setting="unseen").in_words()
    assert Protocol(split="rate", rate=0.1).in_words().startswith("labelling rate 0.1, random splits;")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"setting": "cheating"}, "setting must be 'transductive', 'features' or 'unseen', got 'cheating'"),
        ({"split": "own"}, "split must be 'random', 'public', 'rate' or 'folds', got 'own'"),
        ({"per_class": -1}, "per_class must be an integer >= 0, got -1"),
        ({"rate": 1.0}, r"rate must be a number in \(0, 1\) or None, got 1.0"),
    ],
)
def test_invalid_protocols(wrong, words):
    with pytest.raises(ParameterError, match=words):
        Protocol(**wrong)


def test_summary_by_hand():
    def result(seed, value, seconds):
        return Result("lp", "cora", "p", seed, {"accuracy": value}, seconds, 0.0, 140, 500, 1000)

    (summary,) = summarize([result(0, 0.6, 9.0), result(1, 0.7, 1.0), result(2, 0.8, 2.0)])
    assert summary.metrics["accuracy"].mean == pytest.approx(0.7)
    assert summary.metrics["accuracy"].sd == pytest.approx(0.1)  # n - 1 in the denominator
    assert summary.fit_seconds == 2.0
    assert summary.seeds == [0, 1, 2]
    (single,) = summarize([result(0, 0.6, 9.0)])
    assert single.metrics["accuracy"].sd is None
    assert single.metrics["accuracy"].percent() == "60.0"


def test_what_methods_use():
    assert {method: what_it_uses(method) for method in ("feat", "lp", "graphemb")} == {
        "feat": "features",
        "lp": "graph",
        "graphemb": "graph",
    }
