"""How good predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.datasets.lists import recall_of_pairs
from planetoid.errors import DataError, ParameterError

__all__ = ["accuracy", "expected_calibration_error", "macro_f1", "recall_at_k"]


def accuracy(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Return the share of predictions that are right.

    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    right, guessed = _paired(truth, predicted)
    return float((right == guessed).mean())


def macro_f1(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Return the mean F1 of the classes that occur in the truth, each counting the same.

    A class that is predicted but never true lowers the F1 of the true ones; it has none of its own.

    >>> round(macro_f1(["a", "a", "a", "b"], ["a", "a", "a", "a"]), 4)  # a: 6/7, b: 0
    0.4286
    """
    from sklearn.metrics import f1_score

    right, guessed = _paired(truth, predicted)
    return float(f1_score(right, guessed, labels=np.unique(right), average="macro", zero_division=0.0))


def expected_calibration_error(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, classes: npt.ArrayLike, n_bins: int = 15
) -> float:
    """Return how far confidence and accuracy lie apart (Guo et al., 2017): 0 is perfect.

    Predictions are put into bins of equal width by the probability of the
    predicted class; the error is the mean distance between that probability
    and the accuracy of a bin, weighted by its size.

    Parameters
    ----------
    truth : array of shape (n,)
    probabilities : array of shape (n, n_classes)
    classes : array of shape (n_classes,)
        The label of each column.
    n_bins : int

    Examples
    --------
    Four times 75 % sure, and three times right:

    >>> sure = [[0.75, 0.25]] * 4
    >>> expected_calibration_error(["a", "a", "a", "b"], sure, ["a", "b"])
    0.0
    >>> expected_calibration_error(["b", "b", "a", "b"], sure, ["a", "b"])
    0.5
    """
    if n_bins < 1:
        raise ParameterError(f"n_bins={n_bins}; at least one bin is needed")
    table, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
    if table.ndim != 2 or table.shape[1] != len(labels):
        raise DataError(f"probabilities have the shape {table.shape}; it must be (n, {len(labels)}), a column a class")
    right, guessed = _paired(truth, labels[table.argmax(axis=1)])
    confidence = table.max(axis=1)
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)  # (0, 1/n], (1/n, 2/n], ...
    surplus = np.bincount(bins, weights=(right == guessed) - confidence, minlength=n_bins)
    return float(np.abs(surplus).sum() / len(right))


def recall_at_k(scores: npt.ArrayLike, truth: npt.ArrayLike, k: int, *, n_true: int | None = None) -> float:
    """Return the share of the true (item, category) pairs among the ``k`` best-scored pairs.

    Pairs that tie at the k-th place count by the share of them that fits in,
    so that no order of the rows is better than another.

    Parameters
    ----------
    scores : array of shape (n_items, n_categories)
    truth : array of shape (n_pairs, 2)
        Row and column of each true pair.
    k : int
        The paper's table 4 has 240,000.
    n_true : int, optional
        How many true pairs there are, if some of them have no row.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]
    >>> recall_at_k(scores, [[0, 0], [1, 1], [2, 1]], k=2)  # the pair (2, 1) is not among the two best
    0.6666666666666666
    """
    table, pairs = np.asarray(scores), np.asarray(truth, dtype=np.int64).reshape(-1, 2)
    if table.ndim != 2:
        raise DataError(f"scores have the shape {table.shape}; it must be (n_items, n_categories)")
    if k < 1:
        raise ParameterError(f"k={k}; it is a number of pairs, at least 1")
    wanted = len(pairs) if n_true is None else n_true
    if wanted < max(len(pairs), 1):
        raise DataError(f"there are {wanted} true pairs, but recall needs one at least and truth has {len(pairs)}")
    return recall_of_pairs(table.ravel(), pairs[:, 0] * table.shape[1] + pairs[:, 1], k, wanted)


def _paired(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    right, guessed = np.asarray(truth), np.asarray(predicted)
    if right.shape != guessed.shape or right.ndim != 1:
        raise DataError(f"{right.shape} true labels and {guessed.shape} predictions; there must be one for one")
    if len(right) == 0:
        raise DataError("there is no node to measure on")
    return right, guessed
