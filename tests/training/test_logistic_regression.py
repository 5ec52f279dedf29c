"""Independent logistic regressions, against scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from planetoid.training.logistic_regression import cross_fitted_logits, fit_logistic


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    Y = rng.random((120, 3)) < 1 / (1 + np.exp(-X[:, :3] * 2 + 0.5))
    return X, sparse.csr_array(Y)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_each_is_that_of_scikit_learn(data, C, kind):
    X, Y = data
    found = fit_logistic(kind(X), Y, C)
    for k in range(3):
        expected = LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(X, Y.toarray()[:, k])
        np.testing.assert_allclose(found.coef[:, k], expected.coef_[0], atol=2e-3)
        np.testing.assert_allclose(found.intercept[k], expected.intercept_[0], atol=2e-3)


def test_a_class_that_nobody_or_everybody_has(data):
    X, Y = data
    constant = sparse.csr_array(np.hstack([Y.toarray(), np.zeros((120, 1), bool), np.ones((120, 1), bool)]))
    logits = fit_logistic(X, constant, 1.0).logits(X)
    assert logits[:, 3].max() < -4
    assert logits[:, 4].min() > 4


def test_left_out_rows_are_scored_by_the_others(data):
    X, Y = data
    folds = np.arange(120) % 4
    found = cross_fitted_logits(X, Y, 1.0, folds, fit_logistic(X, Y, 1.0))
    without = fit_logistic(X[folds != 2], Y[folds != 2], 1.0)
    np.testing.assert_allclose(found[folds == 2], without.logits(X[folds == 2]), atol=5e-3)
