"""Student: the network on features by hand, and the rows that it knows."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from planetoid.models import student as module
from planetoid.models.student import Student, distil


@pytest.fixture(scope="module")
def taught():
    """Rows of which some are equal and the last has no feature, and predictions for them."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 6)) < 0.5, rng.random((40, 6)), 0.0).astype(np.float32)
    X[:, 0] += 0.1
    X[20:30] = X[:10]
    X[-1] = 0.0
    opinion = rng.dirichlet(np.ones(3), 40).astype(np.float32)
    labelled = np.arange(10, 16)
    return X, opinion, Student.of(distil(X, opinion, labelled, labelled % 3, seed=0), X, opinion)


def test_new_rows_go_through_two_layers_and_directly_to_the_classes(taught):
    X, _, student = taught
    new = X[:5] + 1.0
    W1, b1, W2, b2, direct = student.layers
    hidden = new @ W1 + b1
    assert (hidden < 0).any()
    assert direct.any()
    scores = np.maximum(hidden, 0) @ W2 + b2 + new @ direct
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(student.predict(sparse.csr_array(new)), expected, rtol=1e-4)


def test_a_known_row_has_the_mean_prediction_of_all_nodes_that_have_it(taught):
    X, opinion, student = taught
    found = student.predict(sparse.csr_array(X))
    np.testing.assert_allclose(found[:10], (opinion[:10] + opinion[20:30]) / 2, rtol=1e-5)
    np.testing.assert_allclose(found[10:20], opinion[10:20], rtol=1e-5)
    same, at = student.known_rows(sparse.csr_array(X))
    assert same.tolist() == [True] * 39 + [False]
    assert (student.nodes[at[:10]] == np.arange(10)).all()


@pytest.mark.parametrize(("n_rows", "share"), [(20, 0.5), (60, 0.5 * 2 * 15 / 60)])
def test_the_direct_part_is_ridge_regression_and_counts_where_features_are_many(n_rows, share, monkeypatch):
    """The solution of the normal equations, with so large a share beside the network."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n_rows, 15)) < 0.4, 1.0, 0.0).astype(np.float32)
    X[:, 0] = 1.0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    opinion = rng.dirichlet(np.ones(4), n_rows).astype(np.float32)
    labelled = np.arange(8)
    without = np.zeros((5, 15), np.float32)  # nodes without features, which say nothing
    X_all, opinion_all = np.vstack([X, without]), np.vstack([opinion, np.full((5, 4), [0.97, 0.01, 0.01, 0.01])])
    found = distil(X_all, opinion_all, labelled, labelled % 4, seed=0)
    logs = np.log(np.maximum(opinion, 1e-4)).astype(np.float64)
    logs -= logs.mean(axis=1, keepdims=True)
    rows = X.astype(np.float64)
    expected = np.linalg.solve(rows.T @ rows + 2.0 * np.eye(15), rows.T @ (logs - logs.mean(axis=0)))
    np.testing.assert_allclose(found.direct, share * expected, atol=1e-4)
    monkeypatch.setattr(module, "RIDGE_SHARE", 0.0)
    network = distil(X_all, opinion_all, labelled, labelled % 4, seed=0)
    assert not network.direct.any()
    np.testing.assert_allclose(found.W2, (1 - share) * network.W2, rtol=1e-5)
    np.testing.assert_allclose(found.b2, (1 - share) * network.b2 + share * logs.mean(axis=0), atol=1e-5)


def test_rows_without_any_feature_teach_nothing():
    opinion = np.full((6, 2), 0.5, np.float32)
    found = distil(np.zeros((6, 3), np.float32), opinion, np.arange(2), np.arange(2), seed=0)
    assert all(np.isfinite(part).all() for part in found)
    assert not found.direct.any()


@pytest.mark.parametrize(
    ("n_rows", "n_features", "expected"),
    [(50, 10, 300 + 700 * 0.6 * 50 / 200), (400, 10, 300 + 700 * 0.95), (400, 300, 300)],
)
def test_training_is_longer_where_rows_are_many_and_features_few(n_rows, n_features, expected, monkeypatch):
    seen = []
    monkeypatch.setattr(module, "MANY", 200)
    monkeypatch.setattr(module, "progress", lambda name, steps, verbose: seen.append(steps) or nullcontext(id))
    random = np.random.default_rng(0)
    rows = sparse.csr_array(random.random((n_rows, n_features)).astype(np.float32))
    distil(rows, random.dirichlet(np.ones(3), n_rows), np.arange(6), np.arange(6) % 3, seed=0)
    assert seen == [pytest.approx(expected, abs=1)]


def test_more_steps_are_smaller_and_drop_fewer_features():
    plan = module._plan(0.5, 3)
    assert module.PLAN.steps < plan.steps < module.MANY_ROWS.steps
    assert module.PLAN.n_unlabelled > plan.n_unlabelled > module.MANY_ROWS.n_unlabelled
    assert module.PLAN.feature_dropout > plan.feature_dropout > module.MANY_ROWS.feature_dropout
