"""Softmax regression: the solution of scikit-learn, and its limits."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import planetoid as pl
from planetoid.training.softmax_regression import fit_softmax, fit_softmax_coarsely

ONE_OF_EACH = np.eye(25), np.arange(25)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("C", [0.05, 20.0])
def test_equals_scikit_learn(n_classes, kind, C) -> None:
    random = np.random.default_rng(n_classes)
    codes = np.arange(80) % n_classes
    X = random.normal(size=(80, 12)) + 0.8 * np.eye(12)[codes]
    X[np.abs(X) < 0.5] = 0.0
    found = fit_softmax(kind(X), codes, n_classes, C, tol=1e-8)
    expected = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(X, codes)
    assert found.coef.shape == expected.coef_.shape
    np.testing.assert_allclose(found.coef, expected.coef_, atol=2e-5 * (1 + np.abs(expected.coef_).max()))
    np.testing.assert_allclose(
        found.intercept - found.intercept[0], expected.intercept_ - expected.intercept_[0], atol=1e-4
    )
    np.testing.assert_allclose(found.probabilities(kind(X)), expected.predict_proba(X), atol=1e-5)


def test_the_tolerance_is_that_of_scikit_learn() -> None:
    """With the same stopping rule, both stop after about the same number of iterations."""
    random = np.random.default_rng(0)
    codes = np.arange(90) % 3
    X = random.normal(size=(90, 30)) + np.eye(30)[codes]
    for tol in (1e-2, 1e-6):
        expected = LogisticRegression(C=10.0, tol=tol, max_iter=1000).fit(X, codes).n_iter_[0]
        assert abs(fit_softmax(X, codes, 3, 10.0, tol=tol).n_iter - expected) <= 2


def test_one_example_per_class_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_softmax(*ONE_OF_EACH, 25, 1.0)
        pl.Feat().fit(*ONE_OF_EACH)


def test_too_few_iterations_warn() -> None:
    with pytest.warns(pl.PlanetoidWarning, match="did not converge in 1 iterations"):
        fit_softmax(*ONE_OF_EACH, 25, 1e6, max_iter=1)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_a_fine_coarse_solution_is_the_same(n_classes, C) -> None:
    random = np.random.default_rng(n_classes)
    codes = np.arange(60) % n_classes
    rows = random.normal(size=(60, 90)) / 9 + 0.3 * np.eye(90)[codes]
    shares, intercept, n_iter = fit_softmax_coarsely(rows @ rows.T, codes, n_classes, C, tol=1e-7)
    expected = fit_softmax(rows, codes, n_classes, C, tol=1e-9)
    assert shares.shape == (60, len(expected.coef))
    np.testing.assert_allclose(shares.T @ rows, expected.coef, atol=1e-4 * (1 + np.abs(expected.coef).max()))
    np.testing.assert_allclose(intercept - intercept.mean(), expected.intercept - expected.intercept.mean(), atol=1e-3)
    assert fit_softmax_coarsely(rows @ rows.T, codes, n_classes, C, tol=1e-2)[2] < n_iter


def test_steps_that_are_too_long_are_taken_back() -> None:
    """Two likely classes of 40 have a larger curvature than 40 evenly likely ones."""
    codes = np.append(np.arange(200) % 2, np.arange(40))
    rows = np.random.default_rng(0).normal(size=(240, 3)) + 0.3 * np.eye(40)[codes][:, :3]
    shares, _, n_iter = fit_softmax_coarsely(rows @ rows.T, codes, 40, 0.1)
    assert n_iter < 60
    np.testing.assert_allclose(shares.T @ rows, fit_softmax(rows, codes, 40, 0.1, tol=1e-8).coef, atol=0.02)
