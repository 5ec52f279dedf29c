"""Softmax regression with an L2 penalty on class codes, and its scores for labelled rows that are left out.

The objective, the stopping rule and the form for two classes (one row of weights) are those of scikit-learn's
``LogisticRegression(C=C, tol=tol)``, whose package takes half a second to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

from planetoid.calibration import Sample, log_probabilities, predicted_prior
from planetoid.errors import PlanetoidWarning, warn
from planetoid.labels import are_balanced, some_of_each_class

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.data.scaling import Rows

__all__ = [
    "MOST_LEFT_OUT",
    "SoftmaxRegression",
    "fit_softmax",
    "fit_softmax_coarsely",
    "labels_to_leave_out",
    "left_out_sample",
    "left_out_scores",
    "products",
    "with_first_class",
    "with_usual_size",
]

MOST_LEFT_OUT, FEWEST_PER_CLASS = 1_000, 5  # labelled rows; their products are a dense matrix
MOST_ENTRIES = 50_000_000  # of them, propagated, in all columns
SMALLEST_DECREASE = 64 * np.finfo(np.float64).eps  # of the objective, relative to it, at which the solver stops
MOST_LINE_SEARCH_STEPS = 50
LARGEST_CURVATURE, MOST_COARSE_STEPS = 0.5, 100  # of a coarse solution: of the log-loss of a row, and steps
# Logarithm of the temperature, relative to the size of the scores: with one label per class, by how much it grows with
# the logarithm of labels per class, and its standard deviation. On random splits of the citation networks.
USUAL_SIZE = (0.57, -0.35, 0.2)
SMALLEST_SIZE = 1e-9  # of scores, if all are the same
MOST_PER_CLASS, MOST_NODES = 50, 1_000  # labels per class up to which it grows; nodes that tell the size of scores

Matrix = npt.NDArray[np.float64]


class SoftmaxRegression(NamedTuple):
    """A fitted softmax regression; two classes share one row of weights, that of the second."""

    coef: Matrix  # (class, input)
    intercept: Matrix  # (class)
    C: float = 1.0  # inverse of the penalty
    n_iter: int = 0

    def scores(self, X: Rows) -> Matrix:
        """Return the scores of rows, 0 for the first of two classes."""
        scores = np.asarray(X @ self.coef.T + self.intercept, dtype=np.float64)
        return with_first_class(scores)

    def probabilities(self, X: Rows) -> Matrix:
        """Return class probabilities of rows."""
        return np.asarray(softmax(self.scores(X), axis=1))


def with_first_class(scores: Matrix) -> Matrix:
    """Return scores with a column per class: where there is one column, it is that of the second class."""
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores


def fit_softmax(
    X: Rows, codes: npt.NDArray[np.integer], n_classes: int, C: float, *, tol: float = 1e-4, max_iter: int = 1000
) -> SoftmaxRegression:
    """Minimise ``C * log-loss + |coef|^2 / 2`` by L-BFGS.

    Parameters
    ----------
    X : array or sparse matrix
    codes : array of int
        Class of each row.
    n_classes : int
    C : float
        Inverse of the penalty.
    tol : float
        Largest entry of the gradient of the objective, divided by C and the number of rows, at which to stop.
    max_iter : int
        Maximum number of iterations; a warning is issued if they do not suffice.

    Examples
    --------
    >>> fitted = fit_softmax(np.eye(3), np.array([0, 1, 2]), 3, C=100.0)
    >>> fitted.probabilities(np.eye(3)).argmax(axis=1).tolist()
    [0, 1, 2]
    """
    from scipy.optimize import minimize

    n, d = X.shape
    k = 1 if n_classes == 2 else n_classes
    X = X.astype(np.float64, copy=False)
    transposed = X.T if isinstance(X, np.ndarray) else sparse.csr_array(X.T)
    rows = np.arange(n)
    penalty = 1.0 / (C * n)

    def objective(flat: Matrix) -> tuple[float, Matrix]:
        coef, intercept = flat[: d * k].reshape(d, k), flat[d * k :]
        scores = X @ coef + intercept
        if k == 1:
            value = (np.logaddexp(0.0, scores[:, 0]) - codes * scores[:, 0]).mean()
            rest = (expit(scores) - codes[:, None]) / n
        else:
            logs = log_softmax(scores, axis=1)
            value = -logs[rows, codes].mean()
            rest = np.exp(logs)
            rest[rows, codes] -= 1.0
            rest /= n
        value += 0.5 * penalty * float((coef**2).sum())
        return float(value), np.concatenate([(transposed @ rest + penalty * coef).ravel(), rest.sum(axis=0)])

    found = minimize(
        objective,
        np.zeros((d + 1) * k),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxls": MOST_LINE_SEARCH_STEPS, "gtol": tol, "ftol": SMALLEST_DECREASE},
    )
    if found.nit >= max_iter and not found.success:
        warn(
            PlanetoidWarning(
                f"softmax regression did not converge in {max_iter} iterations; raise max_iter, or lower C"
            )
        )
    return SoftmaxRegression(found.x[: d * k].reshape(d, k).T.copy(), found.x[d * k :].copy(), C, int(found.nit))


def fit_softmax_coarsely(
    gram: Matrix, codes: npt.NDArray[np.integer], n_classes: int, C: float, *, tol: float = 1e-3
) -> tuple[Matrix, Matrix, int]:
    """Minimise what :func:`fit_softmax` does, where a coarse solution from few rows is enough: half the time for 150.

    The weights are ``shares.T @ rows``. A Newton step whose curvature is that of evenly likely classes needs one matrix
    for all steps; it is made larger whenever the objective does not decrease.

    Parameters
    ----------
    gram : array of shape (n_rows, n_rows)
        Products of the rows.
    codes, n_classes, C
        As in :func:`fit_softmax`.
    tol : float
        Largest norm of a class's gradient, divided by C and the number of rows, at which to stop.

    Returns
    -------
    shares : array of shape (n_rows, n_classes), or (n_rows, 1) for two classes
    intercept : array
    n_iter : int

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> shares, intercept, _ = fit_softmax_coarsely(rows @ rows.T, np.array([0, 1, 2]), 3, C=1.0, tol=1e-8)
    >>> fitted = fit_softmax(rows, np.array([0, 1, 2]), 3, C=1.0, tol=1e-8)
    >>> bool(np.allclose(shares.T @ rows, fitted.coef, atol=1e-5))
    True
    """
    n, two = len(gram), n_classes == 2
    if two:  # two rows of weights that sum to zero have half the penalty of their difference
        C = C / 2
    targets = np.eye(n_classes)[codes]
    shares, intercept, scores = np.zeros((n, n_classes)), np.zeros(n_classes), np.zeros((n, n_classes))
    curvature, best, n_iter = 1 / n_classes, np.inf, 0
    inverse = np.linalg.inv(curvature * C * gram + np.eye(n))
    step, shift = np.zeros_like(shares), np.zeros_like(intercept)
    while n_iter < MOST_COARSE_STEPS:
        n_iter += 1
        logits = scores + intercept
        logits -= logits.max(axis=1, keepdims=True)
        probabilities = np.exp(logits)
        total = probabilities.sum(axis=1, keepdims=True)
        probabilities /= total
        value = C * float(np.log(total).sum() - (targets * logits).sum()) + 0.5 * float((shares * scores).sum())
        if value > best + SMALLEST_DECREASE * abs(best) and curvature < LARGEST_CURVATURE:
            shares, intercept, curvature = shares - step, intercept - shift, 2 * curvature
            inverse, scores = np.linalg.inv(curvature * C * gram + np.eye(n)), gram @ shares
            best = np.inf  # of the same point, once more
            continue
        best = value
        residual = C * (probabilities - targets)
        gradient = residual + shares
        squares = (gradient * (gram @ gradient)).sum(axis=0)
        if max(np.sqrt(np.maximum(squares, 0.0).max()), np.abs(residual.sum(axis=0)).max()) <= tol * C * n:
            break
        # Both equations of the step, of the shares and of the intercept, solved together.
        step, of_ones = -inverse @ gradient, inverse.sum(axis=1)
        shift = (shares.sum(axis=0) + step.sum(axis=0)) / (curvature * C * of_ones.sum())
        step -= curvature * C * of_ones[:, None] * shift
        shares, intercept = shares + step, intercept + shift
        scores = gram @ shares
    if two:
        return shares[:, 1:] - shares[:, :1], intercept[1:] - intercept[:1], n_iter
    return shares, intercept, n_iter


def left_out_scores(
    gram: Matrix, scores: Matrix, codes: npt.NDArray[np.integer], C: float, weight: float = 1.0
) -> Matrix:
    """Return the scores of each row as they would be if its label had not been learned from, to first order.

    Leaving out a row moves the solution by about one Newton step. With one curvature for all classes of a row, instead
    of a matrix, it takes the inverse of a matrix of rows x rows. The intercept is held: a class that lacks one of its
    labels is not rarer for it.

    Parameters
    ----------
    gram : array of shape (n_rows, n_rows)
        Products of the rows.
    scores : array of shape (n_rows, n_classes)
        What the fitted regression says about them: for two classes, 0 about the first.
    codes : array
        Their labels.
    C : float
        Inverse of the penalty.
    weight : float
        Number of rows of the fit that each of these stands for.
    """
    n_classes = scores.shape[1]
    binary = n_classes == 2
    probabilities = softmax(scores, axis=1)
    residual = C * (np.eye(n_classes)[codes] - probabilities)
    spread = 1.0 - (probabilities**2).sum(axis=1)
    curvature = np.maximum(C * (spread / 2 if binary else spread / (n_classes - 1)), 1e-9)
    inner = gram + np.diag(1.0 / (weight * curvature))
    leverage = np.diag(gram) - (gram * np.linalg.solve(inner, gram)).sum(axis=0)
    step = leverage / np.maximum(1.0 - curvature * leverage, 1e-6)
    left = scores - step[:, None] * residual
    if binary:
        left[:, 0] = 0.0  # all of the difference is in the score of the second
    return np.asarray(left)


def labels_to_leave_out(data: Dataset, most: int = MOST_LEFT_OUT) -> npt.NDArray[np.int64]:
    """Return labelled nodes, some of each class if there are many, or very many features."""
    affordable = max(FEWEST_PER_CLASS * data.n_classes, MOST_ENTRIES // max(1, data.n_features))
    return some_of_each_class(data.y, data.labelled, min(most, affordable))


def products(rows: Rows) -> Matrix:
    """Return the products of all pairs of rows."""
    found = rows @ rows.T
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float64)


def left_out_sample(
    gram: Matrix,
    scores: Matrix,
    rows: npt.NDArray[np.int64],
    C: float,
    data: Dataset,
    probabilities: npt.NDArray[np.floating],
    counted: npt.NDArray[np.bool_] | bool = True,
) -> Sample:
    """Return the sample for calibration of labelled nodes ``rows``, each scored without its own label.

    A node counts if its class has another label, and if it is among those that are ``counted``.
    """
    codes = data.y[rows]
    left = left_out_scores(gram, scores, codes, C, len(data.labelled) / len(rows))
    counted = counted & (np.bincount(codes)[codes] > 1)
    scores = log_softmax(left[counted], axis=1)
    prior = predicted_prior(probabilities)
    return Sample.of_labels(scores, codes[counted], "leave-one-out", prior, balanced=are_balanced(codes))


def with_usual_size(sample: Sample, data: Dataset, probabilities: npt.NDArray[np.floating]) -> Sample:
    """Return a sample of a linear method on features, whose temperature is close to one that fits the scores.

    How large scores are depends on the unit of the features and on the penalty. Divided by the right temperature, those
    of unlabelled nodes have much the same size on many data sets, which is known better than few labels tell. Not if
    features say nothing: with this temperature, left-out labels would then be less likely than by chance.
    """
    rows = np.flatnonzero(data.y < 0)
    if not (len(rows) and len(sample.scores)):
        return sample
    logs = log_probabilities(probabilities[rows[:: -(-len(rows) // MOST_NODES)]])
    logs -= logs.mean(axis=1, keepdims=True)
    size = np.sqrt((logs**2).sum() / (len(logs) * (logs.shape[1] - 1)))
    mean, growth, spread = USUAL_SIZE
    per_class = np.clip(data.labels_per_class, 1, MOST_PER_CLASS)
    usual = float(np.log(max(size, SMALLEST_SIZE)) + mean + growth * np.log(per_class))
    likely = (sample.targets * log_softmax(sample.scores / np.exp(usual), axis=1)).sum() / sample.targets.sum()
    if likely <= -np.log(logs.shape[1]):
        return sample
    return sample._replace(usual_temperature=(usual - np.log(sample.temperature_factor), spread))
