"""Logistic regressions of several labels per node: one per class, independent of each other, fitted together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit

from planetoid.io.model_files import Tensors
from planetoid.multi_label import SetSample

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.data.scaling import Rows

__all__ = ["LogisticRegressions", "cross_fitted_logits", "fit_logistic", "left_out_sets"]

TOLERANCE = 1e-4  # of the gradient per row
MEMORY = 10  # earlier steps that L-BFGS keeps
FOLDS = 4
SMALLEST = 0.5  # nodes with a label, of which the first intercept takes the logarithm

Matrix = npt.NDArray[np.float64]


class LogisticRegressions(NamedTuple):
    """Weights of the regressions, a column per class."""

    coef: Matrix  # (feature, class)
    intercept: Matrix  # (class)
    n_iter: int = 0

    def logits(self, X: Rows) -> Matrix:
        """Return log p / (1 - p) of every class."""
        return np.asarray(X @ self.coef + self.intercept, dtype=np.float64)

    def tensors(self) -> Tensors:
        """Return the weights by name."""
        return {"logistic.coef": self.coef, "logistic.intercept": self.intercept}

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> LogisticRegressions:
        """Restore what :meth:`tensors` returned."""
        return cls(tensors["logistic.coef"], tensors["logistic.intercept"])


def fit_logistic(
    X: Rows, Y: sparse.csr_array, C: float, *, max_iter: int = 1000, start: LogisticRegressions | None = None
) -> LogisticRegressions:
    """Fit the regressions by L-BFGS on the sum of their losses, ``C * log-loss + |w|^2 / 2`` each.

    Each is that of scikit-learn's ``LogisticRegression(C=C)``; together they take matrix products in the place of
    loops over classes. A class that no row or every row has gets an intercept that says so.

    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.5, 0.5]])
    >>> Y = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [1, 1]], dtype=bool))
    >>> (fit_logistic(X, Y, C=100.0).logits(X) > 0).astype(int).tolist()
    [[1, 0], [1, 0], [0, 1], [1, 1]]
    """
    from scipy.optimize import minimize

    targets = Y.toarray().astype(np.float64)
    n, k = targets.shape
    d = X.shape[1]
    transposed = X.T if isinstance(X, np.ndarray) else sparse.csr_array(X.T)
    if start is None:
        count = np.clip(targets.sum(axis=0), SMALLEST, n - SMALLEST) if n > 1 else np.full(k, SMALLEST)
        start = LogisticRegressions(np.zeros((d, k)), np.log(count / np.maximum(n - count, SMALLEST)))

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        coef, intercept = flat[: d * k].reshape(d, k), flat[d * k :]
        scores = X @ coef + intercept
        rest = C * (expit(scores) - targets)
        value = C * (np.logaddexp(0.0, scores) - targets * scores).sum() + 0.5 * (coef**2).sum()
        return float(value), np.concatenate([(transposed @ rest + coef).ravel(), rest.sum(axis=0)])

    found = minimize(
        loss,
        np.concatenate([start.coef.ravel(), start.intercept]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": MEMORY, "gtol": TOLERANCE * max(1.0, C), "ftol": 1e-9},
    )
    return LogisticRegressions(found.x[: d * k].reshape(d, k), found.x[d * k :], int(found.nit))


def cross_fitted_logits(
    X: Rows, Y: sparse.csr_array, C: float, folds: npt.NDArray[np.int64], start: LogisticRegressions
) -> Matrix:
    """Return the logits of every row, by regressions that were fitted on the other folds.

    ``start`` are the regressions on all rows, from which few steps lead to each of these.
    """
    logits = np.empty(Y.shape)
    for fold in np.unique(folds):
        inside = folds == fold
        logits[inside] = fit_logistic(X[~inside], Y[~inside], C, start=start).logits(X[inside])
    return logits


def left_out_sets(
    X: Rows, rows: npt.NDArray[np.int64], C: float, data: Dataset, fitted: LogisticRegressions
) -> SetSample:
    """Return the sample for calibration of labelled nodes, whose rows of X these are, by folds that are left out."""
    assert data.Y is not None
    folds = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    C *= len(data.labelled) / max(1, len(rows))  # as many rows as the fit has had
    logits = cross_fitted_logits(X, data.Y[rows], C, folds, fitted)
    return SetSample(logits, data.Y[rows], "cross-fitting")
