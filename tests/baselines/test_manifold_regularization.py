"""ManifoldRegularization: Laplacian RLS against its dual closed form, Laplacian SVM against a general optimiser."""

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

import planetoid as pl
from planetoid.baselines import rkhs
from planetoid.errors import ParameterError


@pytest.fixture
def small(random_weighted_graph):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((40, 5)) * (rng.random((40, 5)) < 0.6)).astype(np.float32)
    y = np.where(np.arange(40) < 12, np.arange(40) % 3, -1)
    return X, y, random_weighted_graph(40, 0)


def scores(model, X):
    return model._mapped(model._scaled(X)) @ model.coef_ + model.intercept_


def scaled_laplacian(matrix):
    laplacian = np.diag(matrix.sum(axis=1, dtype=float)) - matrix
    return laplacian / (matrix.sum(dtype=float) / 2)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_laplacian_rls_equals_the_dual_closed_form(kernel, small):
    """Belkin et al., equation 8: alpha = (J K + ambient l I + intrinsic l L K)^-1 Y."""
    X, y, matrix = small
    ambient, intrinsic, n_labelled = 0.02, 0.7, 12
    K = X.astype(float) @ X.T.astype(float) if kernel == "linear" else rbf_kernel(X.astype(float), gamma=0.3)
    J = np.diag((y >= 0).astype(float))
    Y = np.where(y[:, None] < 0, 0.0, 2.0 * (y[:, None] == np.arange(3)) - 1)
    system = J @ K + ambient * n_labelled * np.eye(40) + intrinsic * n_labelled * scaled_laplacian(matrix) @ K
    expected = K @ np.linalg.solve(system, Y)
    model = pl.ManifoldRegularization(
        kernel=kernel, ambient=ambient, intrinsic=intrinsic, gamma=0.3, n_landmarks=40, row_normalize=None
    )
    for features in (X, sparse.csr_array(X)):
        model.fit(features, y, graph=sparse.csr_array(matrix))
        np.testing.assert_allclose(scores(model, features), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["rls", "svm"])
def test_products_alone_give_what_the_factorisation_gives(kind, small, monkeypatch):
    X, y, matrix = small
    model = pl.ManifoldRegularization(kind=kind).fit(sparse.csr_array(X), y, graph=sparse.csr_array(matrix))
    expected = model.coef_
    monkeypatch.setattr(rkhs, "is_factorised", lambda *sizes: False)
    for features in (X, sparse.csr_array(X)):
        model.fit(features, y, graph=sparse.csr_array(matrix))
        np.testing.assert_allclose(model.coef_, expected, atol=1e-4)


def test_a_wide_matrix_is_factorised_only_if_the_right_sides_take_more_memory():
    assert rkhs.is_factorised(10, rkhs.DENSE_LIMIT, 1)
    assert not rkhs.is_factorised(65_000, 5_000, 105)  # labels of as many classes
    assert rkhs.is_factorised(65_000, 5_000, 1_000)  # labelled rows


def test_laplacian_svm_reaches_the_optimum(small):
    """Against sequential quadratic programming on w, the intercept and the slacks."""
    X, y, matrix = small
    y = np.where(y == 2, -1, y)  # two classes
    ambient, intrinsic = 0.05, 0.5
    rows = np.flatnonzero(y >= 0)
    sign, labelled = 2.0 * y[rows] - 1, X[rows].astype(float)
    form = ambient * np.eye(5) + intrinsic * X.T.astype(float) @ scaled_laplacian(matrix) @ X

    def objective(z):
        return z[:5] @ form @ z[:5] + z[6:].mean()

    constraint = {"type": "ineq", "fun": lambda z: sign * (labelled @ z[:5] + z[5]) - 1 + z[6:]}
    start = np.r_[np.zeros(6), np.ones(len(rows))]
    bounds = [(None, None)] * 6 + [(0, None)] * len(rows)
    best = optimize.minimize(objective, start, bounds=bounds, constraints=constraint, options={"ftol": 1e-12})
    assert best.success
    model = pl.ManifoldRegularization(kind="svm", ambient=ambient, intrinsic=intrinsic, row_normalize=None)
    model.fit(X, y, graph=sparse.csr_array(matrix))
    w, b = model.coef_[:, 0], model.intercept_[0]
    found = np.r_[w, b, np.maximum(0, 1 - sign * (labelled @ w + b))]
    assert objective(found) == pytest.approx(objective(best.x), rel=1e-4)


def test_without_the_graph_it_is_ridge_regression(small):
    X, y, matrix = small
    model = pl.ManifoldRegularization(ambient=0.1, intrinsic=0, row_normalize=None)
    model.fit(X, y, graph=sparse.csr_array(matrix))
    targets = 2.0 * (y[:12, None] == np.arange(3)) - 1
    ridge = Ridge(alpha=0.1 * 12, fit_intercept=False).fit(X[:12].astype(float), targets)
    np.testing.assert_allclose(model.coef_, ridge.coef_.T, atol=1e-5)


def test_few_landmarks_are_near_the_exact_kernel():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 2))
    exact = rbf_kernel(X, gamma=0.1)
    mapped = rkhs.LandmarkMap(X, 0.1, 60, 0)(X)
    assert mapped.shape[1] <= 60
    np.testing.assert_allclose(mapped @ mapped.T, exact, atol=1e-3)


def test_refuses_a_kernel_that_would_not_fit(small, monkeypatch):
    X, y, matrix = small
    monkeypatch.setattr(rkhs, "ENTRY_LIMIT", 1000)
    with pytest.raises(ParameterError, match="n_landmarks=1000 on 40 nodes"):
        pl.ManifoldRegularization(kernel="rbf").fit(X, y, graph=sparse.csr_array(matrix))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kind", "tree", "must be 'rls', 'svm' or 'network', got 'tree'"),
        ("kernel", "poly", "must be 'linear' or 'rbf', got 'poly'"),
        ("ambient", 0, "must be a number > 0, got 0"),
        ("intrinsic", -1, "must be a number >= 0 or None, got -1"),
        ("gamma", 0, "must be a number > 0, got 0"),
        ("n_landmarks", 0, "must be an integer >= 1, got 0"),
    ],
)
def test_invalid_parameters(name, value, message, small):
    X, y, matrix = small
    with pytest.raises(ParameterError, match=f"ManifoldRegularization: {name} {message}"):
        pl.ManifoldRegularization(**{name: value}).fit(X, y, graph=sparse.csr_array(matrix))


def test_a_fit_of_another_kind_leaves_nothing_behind(small):
    X, y, matrix = small
    model = pl.ManifoldRegularization(kind="network", steps=10).fit(X, y, graph=sparse.csr_array(matrix))
    assert [record["step"] for record in model.history_] == [10]
    model.set_params(kind="rls").fit(X, y, graph=sparse.csr_array(matrix))
    assert {"coef_", "intercept_"} <= set(vars(model))
    assert not {"history_", "network_"} & set(vars(model))
