"""Linear SVMs by scikit-learn's liblinear."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from planetoid.data.scaling import Rows, scale_rows

__all__ = ["LinearSVM", "fit_linear_svm", "liblinear_rows"]


class LinearSVM(NamedTuple):
    """Hyperplanes, one per class or a single one for two classes, and whether the solver converged."""

    coef: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    converged: bool


def liblinear_rows(X: Rows, norm: str | None, dtype: npt.DTypeLike | None = None) -> Rows:
    """Return scaled rows in a form that liblinear accepts: sparse ones with 32-bit indices."""
    rows = scale_rows(X, norm, dtype)
    return sparse.csr_matrix(rows) if sparse.issparse(rows) else rows


def fit_linear_svm(
    X: Rows,
    codes: npt.NDArray[np.int32],
    *,
    C: float,
    loss: str,
    tol: float,
    max_iter: int,
    seed: int,
) -> LinearSVM:
    """Fit one class against the rest; ``seed`` may be larger than scikit-learn allows."""
    svm = LinearSVC(C=C, loss=loss, tol=tol, max_iter=max_iter, random_state=seed % 2**32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        svm.fit(X, codes)
    converged = not any(issubclass(one.category, ConvergenceWarning) for one in caught)
    return LinearSVM(np.asarray(svm.coef_), np.asarray(svm.intercept_), converged)
