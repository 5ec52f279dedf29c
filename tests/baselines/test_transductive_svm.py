"""TransductiveSVM: the plain SVM as its limit, switches at the end, the best labelling of small problems."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

import planetoid as pl
from planetoid.errors import ParameterError, PlanetoidWarning

EXACT = {"row_normalize": None, "tol": 1e-8, "max_iter": 200_000}


def two_clouds(seed, n=12, n_labelled=2):
    """Points around (-1, 0) and (1, 0), as many of each; the first few of each cloud are labelled."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = np.c_[2.0 * truth - 1, np.zeros(n)] + 0.7 * rng.standard_normal((n, 2))
    y = truth.copy()
    y[2 * n_labelled :] = -1
    return X.astype(np.float32), y


def objective(X, sign, cost, loss="hinge"):
    """The value of the SVM's objective at its optimum for given labels."""
    svm = LinearSVC(loss=loss, tol=1e-8, max_iter=200_000, random_state=0).fit(X, sign, sample_weight=cost)
    slack = np.maximum(0, 1 - sign * svm.decision_function(X))
    norm = svm.coef_[0] @ svm.coef_[0] + svm.intercept_[0] ** 2
    return norm / 2 + cost @ (slack if loss == "hinge" else slack**2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_unlabelled_weight_it_is_the_svm(n_classes):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((40, 6)) * (rng.random((40, 6)) < 0.5), dtype=np.float32)
    y = np.where(np.arange(40) < 15, np.arange(40) % n_classes, -1)
    model = pl.TransductiveSVM(C=0.7, unlabelled_C=0, **EXACT).fit(X, y)
    svm = LinearSVC(C=0.7, loss="hinge", tol=1e-8, max_iter=200_000).fit(X[:15], y[:15])
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, svm.intercept_, atol=1e-5)
    np.testing.assert_array_equal(model.predict(), svm.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_raw_probabilities_are_logistic_functions_of_the_distances(n_classes):
    rng = np.random.default_rng(1)
    X = 3 * rng.standard_normal((40, 6)).astype(np.float32)
    y = np.where(np.arange(40) < 15, np.arange(40) % n_classes, -1)
    model = pl.TransductiveSVM(row_normalize=None, calibrate=False).fit(X, y)
    distances = X @ model.coef_.T + model.intercept_
    against_rest = 1 / (1 + np.exp(-np.hstack([-distances, distances] if n_classes == 2 else [distances])))
    np.testing.assert_allclose(model.predict_proba(), against_rest / against_rest.sum(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_no_switch_of_a_pair_lowers_the_objective(seed, loss):
    X, y = two_clouds(seed, n=40)
    model = pl.TransductiveSVM(C=1.0, unlabelled_C=0.5, loss=loss, **EXACT).fit(X, y)
    plane, intercept = model.coef_[0], model.intercept_[0]
    score = X @ plane + intercept
    hidden = np.flatnonzero(y < 0)
    sign = np.where(y == 1, 1.0, -1.0)
    ordered = hidden[np.argsort(-score[hidden])]
    sign[ordered[: len(hidden) // 2]] = 1.0  # the class ratio of the labels is one half

    def value(sign):
        slack = np.maximum(0, 1 - sign * score)
        cost = np.where(y < 0, 0.5, 1.0)
        return (plane @ plane + intercept**2) / 2 + cost @ (slack if loss == "hinge" else slack**2)

    at_the_end = value(sign)
    np.testing.assert_allclose(model.objective_[0], at_the_end, rtol=1e-6)
    for up in hidden[sign[hidden] > 0]:
        for down in hidden[sign[hidden] < 0]:
            switched = sign.copy()
            switched[[up, down]] = -sign[[up, down]]
            assert value(switched) >= at_the_end - 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_finds_the_best_labelling_of_a_small_problem(seed):
    """Against every labelling that keeps the class ratio, each with its own optimal hyperplane."""
    X, y = two_clouds(seed)
    cost = np.where(y < 0, 0.3, 1.0)
    hidden = np.flatnonzero(y < 0)
    values = []
    for positives in combinations(hidden, len(hidden) // 2):
        sign = np.where(y == 1, 1.0, -1.0)
        sign[list(positives)] = 1.0
        values.append(objective(X, sign, cost))
    model = pl.TransductiveSVM(unlabelled_C=0.3, **EXACT).fit(X, y)
    assert model.objective_[0] == pytest.approx(min(values), rel=1e-4)


def test_rows_without_features_do_not_matter():
    X, y = two_clouds(0, n=30)
    model = pl.TransductiveSVM(**EXACT).fit(X, y)
    padded = pl.TransductiveSVM(**EXACT).fit(np.vstack([X, np.zeros((50, 2))]), np.append(y, [-1] * 50))
    np.testing.assert_array_equal(padded.coef_, model.coef_)


def test_one_unlabelled_row_is_enough():
    X, y = two_clouds(0, n=5)
    assert len(pl.TransductiveSVM().fit(X, np.where(y < 0, np.nan, y)).predict()) == 5


def test_warns_when_the_solver_did_not_converge():
    X, y = two_clouds(1, n=60)
    with pytest.warns(PlanetoidWarning, match=r"did not converge in \d+ of its fits"):
        pl.TransductiveSVM(C=1e4, unlabelled_C=1e4, row_normalize=None, tol=1e-12, max_iter=2).fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("C", 0), ("unlabelled_C", -1), ("loss", "log"), ("row_normalize", "max")])
def test_invalid_parameters(name, value):
    X, y = two_clouds(0)
    with pytest.raises(ParameterError, match=f"{name} must be .*, got {value!r}"):
        pl.TransductiveSVM(**{name: value}).fit(X, y)
