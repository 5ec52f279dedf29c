"""Softmax regression on the features of rows that share features with each row: a reference without edges."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import softmax

from planetoid.calibration import FEATURES_ALONE, Sample, with_usual_values
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import scale_rows
from planetoid.data.types import Probabilities
from planetoid.graph.adjacency import strengths
from planetoid.training.softmax_regression import (
    fit_softmax,
    labels_to_leave_out,
    left_out_sample,
    products,
    with_first_class,
)

__all__ = ["FEATURES_C", "has_shared_features", "with_shared_features"]

FEATURES_C = 10.0  # inverse of the penalty of softmax regression on features alone
SMALLEST_SIZE = 1e-9  # of the inputs of labelled rows, if all are the same
MOST_ENTRIES = 50_000_000  # of dense matrices (label, row) and (label, feature), to propagate over shared features


def has_shared_features(data: Dataset) -> bool:
    """Return whether features are like words: few of all, and not negative."""
    X = data.X
    if X is None or isinstance(X, np.ndarray) or not X.nnz or X.data.min() < 0:
        return False
    return bool(len(labels_to_leave_out(data)) * max(X.shape) <= MOST_ENTRIES)


def with_shared_features(data: Dataset) -> tuple[Probabilities, Sample]:
    """Classify by softmax regression on the mean features of rows that share features with each row.

    The mean is that over steps of a random walk, from a row to one of its features and on to a row that has it. The
    other rows tell which features belong together, which labelled rows alone cannot. Returns the probabilities of all
    rows, and the sample of labelled rows, each scored without its own label.
    """
    X = sparse.csr_array(scale_rows(data.X, "l2", np.float64))
    transposed = sparse.csr_array(X.T)
    of_row, of_feature = strengths(X), strengths(transposed)
    step = sparse.diags_array(1 / np.where(of_row > 0, of_row, 1.0)) @ X
    step = sparse.csr_array(step @ sparse.diags_array(1 / np.where(of_feature > 0, of_feature, 1.0)))
    rows = labels_to_leave_out(data)
    rows = rows[data.has_features[rows]]
    inputs = ((step[rows] @ transposed) @ X).toarray()
    centre = inputs.mean(axis=0)
    inputs -= centre
    size = max(float(np.sqrt((inputs**2).sum(axis=1).mean())), SMALLEST_SIZE)
    inputs /= size
    regression = fit_softmax(inputs, data.y[rows], data.n_classes, FEATURES_C)
    weights = regression.coef.T / size
    scores = step @ (transposed @ (X @ weights)) - centre @ weights + regression.intercept
    probabilities = softmax(with_first_class(scores), axis=1)
    probabilities[~data.has_features] = 0.0
    sample = left_out_sample(products(inputs), regression.scores(inputs), rows, FEATURES_C, data, probabilities)
    return probabilities, with_usual_values(sample, data.labels_per_class, FEATURES_ALONE)
