"""SemiSupervisedEmbedding: what transform returns, its constraints, and its likeness to manifold regularization."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.baselines import smooth_network
from planetoid.errors import ParameterError

QUICK = {"steps": 30, "width": 8, "batch_size": 20}


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = ((rng.random((30, 6)) < 0.4) * rng.random((30, 6))).astype(np.float32)
    X[:, 0] += 0.1
    y = np.where(np.arange(30) < 9, np.arange(30) % 3, -1)
    graph = pl.Graph.from_edges(np.arange(30), (np.arange(30) + 3) % 30, rng.random(30) + 0.1)
    return X, y, graph


def test_without_lambda_the_graph_does_not_matter(small):
    X, y, graph = small
    model = pl.SemiSupervisedEmbedding(lambda_=0, **QUICK)
    first = model.fit(X, y, graph=graph).predict_proba()
    second = model.fit(X, y, graph=pl.Graph.from_edges([0], [29], nodes=30)).predict_proba()
    np.testing.assert_array_equal(first, second)


def test_the_parameters_of_the_loss_reach_the_training(small, monkeypatch):
    X, y, graph = small
    plans = []
    train = smooth_network.train
    monkeypatch.setattr(smooth_network, "train", lambda *given: plans.append(given[-1]) or train(*given))
    pl.SemiSupervisedEmbedding(
        lambda_=3.0, margin=0.7, steps=4, batch_size=11, learning_rate=0.02, weight_decay=0.1, random_state=5
    ).fit(X, y, graph=graph)
    pl.ManifoldRegularization(kind="network", intrinsic=3.0, ambient=0.2, steps=6, edge_batch=13).fit(X, y, graph=graph)
    first, second = plans
    assert (first.penalty, first.margin, first.steps, first.n_labelled, first.n_pairs) == (3.0, 0.7, 4, 11, 11)
    assert (first.learning_rate, first.weight_decay, first.seed) == (0.02, 0.1, 5)
    assert (second.penalty, second.margin, second.steps, second.n_pairs, second.weight_decay) == (3.0, 0, 6, 13, 0.2)


def test_transform_gives_the_layer(small):
    X, y, graph = small
    model = pl.SemiSupervisedEmbedding(embedding="auxiliary", dimension=5, **QUICK).fit(X, y, graph=graph)
    assert model.embedding_.shape == (30, 5)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(), atol=1e-6)
    output = pl.SemiSupervisedEmbedding(embedding="output", **QUICK).fit(X, y, graph=graph)
    np.testing.assert_allclose(output.embedding_, output.predict_proba(), atol=1e-6)


def test_history(small):
    X, y, graph = small
    model = pl.SemiSupervisedEmbedding(lambda_=0.1, dropout=0.0, **QUICK).fit(X, y, graph=graph)
    assert [record["step"] for record in model.history_] == [10, 20, 30]
    assert set(model.history_[0]) == {"step", "loss", "pair_loss"}
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"embedding": "input"}, "embedding must be 'hidden', 'output' or 'auxiliary', got 'input'"),
        ({"lambda_": -1}, "lambda_ must be a number >= 0, got -1"),
        ({"margin": -1}, "margin must be a number >= 0, got -1"),
        ({"steps": 0}, "steps must be an integer >= 1, got 0"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1, got 0"),
        ({"dropout": 1}, r"dropout must be a number in \[0, 1\), got 1"),
        ({"layers": 0}, "layers must be an integer >= 1 for embedding='hidden', got 0"),
    ],
)
def test_invalid_parameters(parameters, message, small):
    X, y, graph = small
    with pytest.raises(ParameterError, match=f"SemiSupervisedEmbedding: {message}"):
        pl.SemiSupervisedEmbedding(**parameters).fit(X, y, graph=graph)


def test_manifold_regularization_by_a_network_is_the_penalty_on_outputs(small):
    X, y, graph = small
    manifold = pl.ManifoldRegularization(
        kind="network", intrinsic=2.0, ambient=5e-4, steps=30, width=8, edge_batch=20, random_state=3
    ).fit(X, y, graph=graph)
    embedding = pl.SemiSupervisedEmbedding(
        embedding="output", lambda_=2.0, margin=0, dropout=0.0, random_state=3, **QUICK
    ).fit(X, y, graph=graph)
    np.testing.assert_array_equal(manifold.predict_proba(), embedding.predict_proba())
    np.testing.assert_allclose(manifold.predict_proba(X), manifold.predict_proba(), atol=1e-6)
    assert manifold.history_ == embedding.history_


@pytest.mark.parametrize(
    "model",
    [pl.SemiSupervisedEmbedding(embedding="auxiliary", **QUICK), pl.ManifoldRegularization(kind="network", steps=20)],
    ids=["semiemb", "manireg"],
)
def test_comes_back_from_a_folder(model, small, tmp_path):
    X, y, graph = small
    expected = model.fit(sparse.csr_array(X), y, graph=graph).predict_proba(X[::2])
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X[::2]), expected)
    assert loaded.history_ == model.history_
