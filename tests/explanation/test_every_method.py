"""Whatever is in ``pl.METHODS`` explains its predictions, in the ids, names and classes of the user."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from tests.explanation.conftest import CLASSES, fit, fitted

import planetoid as pl
from planetoid.data.scaling import scale_rows
from planetoid.errors import DataError
from planetoid.explanation.contributions import Question
from planetoid.graph.adjacency import normalized_adjacency, symmetric_adjacency
from planetoid.models.context_network import ContextNetwork
from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.opinions import geometric_mean

OWN_ROW = ("feat", "tsvm", "manireg", "diel", "semiemb", "planetoid-i", "planetoid-t", "ica")
AROUND = ("planetoid", "ssgc", "gcn")
REFIT = ("lp", "lgc", "mad", "poisson", "graphemb", "planetoid-g")


def ask(model, data, row, contrast, x=None):
    known = data.X if model.uses_features != "never" else None
    x = known[[row]] if x is None and known is not None else x
    return model._explain(Question(row, x, contrast, data, type(model).__name__))


def contrast_of(model, row):
    order = np.argsort(-model.label_distributions_[row], kind="stable")
    contrast = np.zeros(len(model.classes_))
    contrast[order[0]], contrast[order[1]] = 1.0, -1.0
    return contrast


def without(matrix, rows=(), columns=()):
    changed = sparse.lil_array(matrix)
    changed[list(rows)] = 0.0
    changed[:, list(columns)] = 0.0
    return sparse.csr_array(changed)


def forward(method, model, data, row, contrast, X):
    """The score of a method that sees the features around a node, with other features."""
    if method == "ssgc":
        return ask(model, replace(data, X=X), row, contrast).score
    if method == "gcn":
        A = normalized_adjacency(symmetric_adjacency(data.graph))
        hidden = np.maximum(A @ (scale_rows(X, model.row_normalize) @ model.W1_), 0)
        return (A[[row]] @ hidden @ model.W2_)[0] @ contrast
    x = sparse.csr_array(model._inputs.scaled(X))
    layers, contexts = model._network.layers, model._network.contexts
    hidden = ContextNetwork.of(layers, contexts, x).embedding()
    logits = hidden @ layers.W2 + layers.b2 + model.opinions_
    raw = softmax(logits, axis=1)
    if model._context_predictions is not None:
        predictions = ContextPredictions.of(model._context_predictions.layers, x)
        raw = geometric_mean(raw, predictions.mean(contexts, raw), model.propagation_weight_)
    return np.log(np.maximum(raw[row], 1e-30)) @ contrast


def removal(method, model, data, row, contrast):
    """The kind of reasons to remove, and the score without some of them."""
    if method in OWN_ROW:
        x = data.X[[row]]
        return "features", lambda columns: ask(model, data, row, contrast, without(x, columns=columns)).score
    if method in AROUND:
        return "neighbours", lambda rows: forward(method, model, data, row, contrast, without(data.X, rows=rows))

    def refitted(rows):
        y = data.y.copy()
        y[rows] = -1
        fewer = replace(data, y=y)
        return ask(fit(method, fewer), fewer, row, contrast).score

    return "labels", refitted


def assert_same(found, expected):
    """The same reasons, but for rounding, which depends on where arrays are in memory."""
    assert (found.label, found.runner_up, found.quantity) == (expected.label, expected.runner_up, expected.quantity)
    assert found.score == pytest.approx(expected.score, rel=1e-5)
    for one, other in zip(found.groups, expected.groups, strict=True):
        assert one.kind == other.kind
        values = {reason.name: reason.contribution for reason in other.reasons}
        assert {reason.name: reason.contribution for reason in one.reasons} == pytest.approx(values, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("method", list(pl.METHODS))
class TestEveryMethod:
    def test_removing_the_strongest_reasons_matters_more_than_removing_others(self, method, data):
        model = fitted(method)
        rng = np.random.default_rng(0)
        strongest, others = [], []
        rows = [30, 80] if method in REFIT else list(range(25, 110, 8))
        for row in rows:
            contrast = contrast_of(model, row)
            kind, score_without = removal(method, model, data, row, contrast)
            answer = ask(model, data, row, contrast)
            part = next(part for part in answer.parts if part.kind == kind)
            best = part.at[np.argsort(-part.values, kind="stable")[:3]]
            pool = np.setdiff1d(part.at, best)
            strongest.append(answer.score - score_without(best))
            chosen = [rng.choice(pool, min(3, len(pool)), replace=False) for _ in range(2)]
            others.append(np.mean([answer.score - score_without(rows) for rows in chosen]))
        assert np.mean(strongest) > 0
        assert np.mean(strongest) > 2 * np.mean(others)

    def test_names_and_numbers_are_those_of_the_user(self, method, data):
        model = fitted(method)
        found = model.explain("n42", top=3)
        assert found.node == "n42"
        assert found.method == type(model).__name__
        assert found.label == model.predict(nodes=["n42"])[0]
        probabilities = dict(zip(model.classes_, model.predict_proba(nodes=["n42"])[0], strict=True))
        assert found.probability == probabilities[found.label]
        assert found.runner_up_probability == sorted(probabilities.values())[-2]
        assert found.groups
        labels = dict(zip(data.node_ids, data.labels, strict=True))
        for group in found.groups:
            assert group.meaning
            assert len(group.supporting) <= 3
            assert len(group.opposing) <= 3
            assert 0 < len(group.reasons) <= group.n_reasons
            values = [reason.contribution for reason in group.reasons]
            assert values == sorted(values, reverse=True)
            names = set(data.feature_names) if group.kind == "features" else set(data.node_ids)
            assert {reason.name for reason in group.reasons} <= names
            if group.kind != "features":
                assert all(reason.label == labels[reason.name] for reason in group.reasons)
            if group.base is not None:
                assert group.base + group.total == pytest.approx(found.score, abs=1e-6)
        assert "n42" in repr(found)
        assert json.loads(json.dumps(found.to_dict()))["label"] == found.label

    def test_another_class_can_be_asked_about(self, method):
        model = fitted(method)
        predicted = model.explain("n42")
        other = model.explain("n42", label=predicted.runner_up)
        assert (other.label, other.runner_up) == (predicted.runner_up, predicted.label)
        assert other.score == pytest.approx(-predicted.score, rel=1e-6)
        third = next(label for label in CLASSES if label not in (predicted.label, predicted.runner_up))
        assert model.explain("n42", label=third).runner_up == predicted.label

    @pytest.mark.parametrize("node", ["n0", "n119"])
    def test_labelled_and_isolated_nodes(self, method, data, node):
        model = fitted(method)
        found = model.explain(node)
        for group in found.groups:
            assert np.isfinite(group.total)
            if group.base is not None:
                assert group.base + group.total == pytest.approx(found.score, abs=1e-6)
        if node == "n119" and model.uses_features == "never":
            assert "nothing is known about this node" in found.note
            assert not any(group.reasons for group in found.groups)

    def test_saved_copied_and_pickled_models_give_the_same_reasons(self, method, tmp_path):
        model = fitted(method)
        expected = model.explain("n42")
        model.save(tmp_path / "model")
        assert_same(pl.load(tmp_path / "model").explain("n42"), expected)
        assert_same(pickle.loads(pickle.dumps(model)).explain("n42"), expected)

    def test_a_model_without_its_data_takes_it_as_an_argument(self, method, data, tmp_path, monkeypatch):
        monkeypatch.setattr("planetoid.explanation.fitted_data.MOST_BYTES", 0)
        model = fitted(method)
        model.save(tmp_path / "model")
        loaded = pl.load(tmp_path / "model")
        if method == "planetoid":  # holds the graph and the inputs of the network
            assert loaded.explain("n42").neighbours.total == pytest.approx(model.explain("n42").neighbours.total)
            assert loaded.explain("n42").features is None
        else:
            with pytest.raises(DataError, match=f"{type(model).__name__} explains a node by the data.*pass data="):
                loaded.explain("n42")
        assert_same(loaded.explain("n42", data=data), model.explain("n42"))

    def test_new_rows(self, method, data):
        model = fitted(method)
        row = data.X[[42]].copy()
        row.data[0] += 0.5  # no fitted row is the same
        if not model.inductive:
            with pytest.raises(pl.NotInductiveError):
                model.explain(X=row)
            return
        found = model.explain(X=row)
        assert found.node is None
        assert found.label == model.predict(row)[0]
        assert {reason.name for reason in found.features.reasons} <= set(data.feature_names[row.indices])
        with pytest.raises(DataError, match="one new row at a time, X has 2"):
            model.explain(X=data.X[:2])
