"""DualSVM against liblinear: from scratch and from another solution."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from planetoid.baselines.dual_svm import DualSVM


def problem(seed):
    """Rows of two overlapping classes, with costs of their own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.7)
    sign = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, 1.0, -1.0)
    return X, sign, rng.uniform(0.05, 2.0, 60)


def expected(X, sign, cost, loss):
    svm = LinearSVC(loss=loss, tol=1e-9, max_iter=1_000_000, random_state=0).fit(X, sign, sample_weight=cost)
    return np.append(svm.coef_[0], svm.intercept_[0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_every_fit_is_the_optimum_wherever_it_starts(loss, kind):
    """Signs and costs change between the fits; some rows do not count at first."""
    X, sign, cost = problem(0)
    svm = DualSVM(kind(X), loss, 1e-9, 100_000, seed=0)
    some = np.arange(60) < 20
    np.testing.assert_allclose(svm.fit(sign, cost * some), expected(X[some], sign[some], cost[some], loss), atol=1e-6)
    for changed, factor in ((0, 1.0), (5, 1.0), (9, 2.0)):
        sign = np.where(np.arange(60) >= 60 - changed, -sign, sign)
        cost = cost * factor
        np.testing.assert_allclose(svm.fit(sign, cost), expected(X, sign, cost, loss), atol=1e-6)
        assert svm.converged


def test_a_solution_is_found_again_at_once():
    X, sign, cost = problem(1)
    svm = DualSVM(X, "hinge", 1e-6, 10_000, seed=0)
    found = svm.fit(sign, cost)
    svm.max_iter = 2
    np.testing.assert_allclose(svm.fit(sign, cost), found, atol=1e-5)
    assert svm.converged
    svm.fit(np.roll(sign, 1), cost)
    assert not svm.converged


def test_the_seed_decides_the_bits():
    X, sign, cost = problem(2)
    one, same, other = (DualSVM(X, "hinge", 1e-2, 1000, seed).fit(sign, cost) for seed in (3, 3, 2**64 + 4))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    np.testing.assert_allclose(one, other, atol=0.1)


def test_one_row_takes_one_step():
    """The intercept counts in the size of the step: without it, it would be twice as long, and never end."""
    svm = DualSVM(np.array([[1.0]]), "hinge", 1e-9, 3, seed=0)
    np.testing.assert_allclose(svm.fit(np.array([1.0]), np.array([10.0])), [0.5, 0.5])
    assert svm.converged
