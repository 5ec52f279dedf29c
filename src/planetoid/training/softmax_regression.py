"""Softmax regression by scikit-learn, on class codes, and its scores for labelled rows that are left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from planetoid.calibration import Sample, predicted_prior
from planetoid.labels import some_of_each_class

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.data.scaling import Rows

__all__ = ["fit_softmax", "labels_to_leave_out", "left_out_sample", "left_out_scores", "products"]

MOST_LEFT_OUT = 1_000  # labelled rows; their products are a dense matrix

Matrix = npt.NDArray[np.float64]


def fit_softmax(solver: LogisticRegression, X: Rows, codes: npt.NDArray[np.int32]) -> LogisticRegression:
    """Fit the solver to class codes, without a warning where there is one example per class.

    scikit-learn takes so many distinct integers for the target of a regression, and warns.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return solver.fit(X, codes)


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
    scores : array of shape (n_rows, n_classes), or (n_rows, 1) for two classes
        What the fitted regression says about them.
    codes : array
        Their labels.
    C : float
        Inverse of the penalty.
    weight : float
        Number of rows of the fit that each of these stands for.
    """
    binary = scores.shape[1] == 1
    full = np.hstack([np.zeros_like(scores), scores]) if binary else scores
    probabilities = softmax(full, axis=1)
    residual = C * (np.eye(full.shape[1])[codes] - probabilities)
    spread = 1.0 - (probabilities**2).sum(axis=1)
    curvature = np.maximum(C * (spread / 2 if binary else spread / (full.shape[1] - 1)), 1e-9)
    inner = gram + np.diag(1.0 / (weight * curvature))
    leverage = np.diag(gram) - (gram * np.linalg.solve(inner, gram)).sum(axis=0)
    step = leverage / np.maximum(1.0 - curvature * leverage, 1e-6)
    left = full - step[:, None] * residual
    if binary:
        left[:, 0] = 0.0  # all of the difference is in the score of the second
    return np.asarray(left)


def labels_to_leave_out(data: Dataset) -> npt.NDArray[np.int64]:
    """Return labelled nodes, some of each class if there are many."""
    return some_of_each_class(data.y, data.labelled, MOST_LEFT_OUT)


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
) -> Sample:
    """Return the sample for calibration of labelled nodes ``rows``, each scored without its own label.

    A node counts if its class has another label.
    """
    codes = data.y[rows]
    left = left_out_scores(gram, np.reshape(scores, (len(rows), -1)), codes, C, len(data.labelled) / len(rows))
    often = np.bincount(codes)[codes] > 1
    scores = log_softmax(left[often], axis=1)
    return Sample.of_labels(scores, codes[often], "leave-one-out", predicted_prior(probabilities))
