"""Metrics of predicted labels, probabilities and rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.datasets.lists import recall_of_pairs
from planetoid.errors import DataError
from planetoid.parameters import Integer, check_parameters

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "CalibrationBin", "accuracy", "calibration_bins", "expected_calibration_error", "macro_f1", "multi_label_f1",
    "recall_at_k",
]  # fmt: skip

Confidence = npt.NDArray[np.floating[Any]]


def accuracy(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Return the share of correct predictions.

    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    true, guessed = _paired(truth, predicted)
    return float((true == guessed).mean())


def macro_f1(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> float:
    """Return the unweighted mean of the F1 scores of the classes that occur in ``truth``.

    A class that is predicted but does not occur lowers the F1 of the others; it has no term of its own.

    >>> round(macro_f1(["a", "a", "a", "b"], ["a", "a", "a", "a"]), 4)  # a: 6/7, b: 0
    0.4286
    """
    from sklearn.metrics import f1_score

    true, guessed = _paired(truth, predicted)
    return float(f1_score(true, guessed, labels=np.unique(true), average="macro", zero_division=0.0))


class MultiLabelF1(NamedTuple):
    """F1 of several labels per node: of all labels together, and the mean over classes."""

    micro: float
    macro: float


def multi_label_f1(
    truth: npt.ArrayLike | sparse.csr_array, predicted: npt.ArrayLike | sparse.csr_array
) -> MultiLabelF1:
    """Return micro and macro F1 of indicator matrices, a row per node and a column per class.

    Micro F1 counts every label alike; macro F1 is the unweighted mean over the classes that occur in ``truth``.

    >>> multi_label_f1([[1, 1], [1, 0]], [[1, 0], [1, 0]])  # 2 of 3 labels found, none wrong; the second class never
    MultiLabelF1(micro=0.8, macro=0.5)
    """
    from scipy import sparse

    true, guessed = (
        np.asarray(sparse.csr_array(one).toarray() if sparse.issparse(one) else one, dtype=bool)
        for one in (truth, predicted)
    )
    if true.shape != guessed.shape or true.ndim != 2 or len(true) == 0:
        raise DataError(
            f"truth has shape {true.shape} and predicted has shape {guessed.shape}; expected two indicator matrices "
            "with a row per node"
        )
    both, either = (true & guessed).sum(axis=0), true.sum(axis=0) + guessed.sum(axis=0)
    occurring = true.any(axis=0)
    each = 2 * both[occurring] / either[occurring]
    return MultiLabelF1(float(2 * both.sum() / max(1, either.sum())), float(each.mean()) if len(each) else 0.0)


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions of similar confidence.

    Attributes
    ----------
    low, high : float
        Ends of the bin; ``low`` is exclusive, ``high`` inclusive.
    count : int
        Number of predictions.
    confidence : float
        Mean probability of the predicted class.
    accuracy : float
        Share of correct predictions.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def calibration_bins(correct: npt.ArrayLike, confidence: npt.ArrayLike, n_bins: int = 15) -> list[CalibrationBin]:
    """Group predictions into bins of equal width by confidence; empty bins are left out.

    Parameters
    ----------
    correct : bool array of shape (n,)
        Whether each prediction is correct.
    confidence : array of shape (n,)
        Probability of the predicted class.
    n_bins : int

    Examples
    --------
    >>> calibration_bins([True, False, True], [0.55, 0.6, 0.95], n_bins=10)[0].accuracy
    0.5
    """
    right, sure = np.asarray(correct, dtype=bool), np.asarray(confidence)
    number = _bin_numbers(sure, n_bins)
    counts = np.bincount(number, minlength=n_bins)
    total_confidence, hits = (np.bincount(number, weights=values, minlength=n_bins) for values in (sure, right))
    return [
        CalibrationBin(
            low=k / n_bins,
            high=(k + 1) / n_bins,
            count=int(counts[k]),
            confidence=float(total_confidence[k] / counts[k]),
            accuracy=float(hits[k] / counts[k]),
        )
        for k in np.flatnonzero(counts).tolist()
    ]


def expected_calibration_error(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, classes: npt.ArrayLike, n_bins: int = 15
) -> float:
    """Return the expected calibration error (Guo et al., 2017); 0 is perfect.

    Predictions are binned by the probability of the predicted class. The error is the mean absolute difference
    between confidence and accuracy of a bin, weighted by the size of the bin.

    Parameters
    ----------
    truth : array of shape (n,)
    probabilities : array of shape (n, n_classes)
    classes : array of shape (n_classes,)
        The label of each column.
    n_bins : int

    Examples
    --------
    Four predictions with probability 0.75, three of them correct, then one:

    >>> probabilities = [[0.75, 0.25]] * 4
    >>> expected_calibration_error(["a", "a", "a", "b"], probabilities, ["a", "b"])
    0.0
    >>> expected_calibration_error(["b", "b", "a", "b"], probabilities, ["a", "b"])
    0.5
    """
    table, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
    if table.ndim != 2 or table.shape[1] != len(labels):
        raise DataError(
            f"probabilities have shape {table.shape}, expected (n, {len(labels)}): one column per class",
            parameter="probabilities",
        )
    true, guessed = _paired(truth, labels[table.argmax(axis=1)])
    confidence = table.max(axis=1)
    surplus = np.bincount(_bin_numbers(confidence, n_bins), weights=(true == guessed) - confidence, minlength=n_bins)
    return float(np.abs(surplus).sum() / len(true))


def recall_at_k(scores: npt.ArrayLike, truth: npt.ArrayLike, k: int, *, n_true: int | None = None) -> float:
    """Return the share of the true (item, category) pairs among the ``k`` pairs with the highest scores.

    Pairs tied at rank k count fractionally, so that the result does not depend on the order of the rows.

    Parameters
    ----------
    scores : array of shape (n_items, n_categories)
    truth : array of shape (n_pairs, 2)
        Row and column of each true pair.
    k : int
        240,000 in the paper's Table 4.
    n_true : int, optional
        Number of true pairs, if some of them have no row.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]
    >>> recall_at_k(scores, [[0, 0], [1, 1], [2, 1]], k=2)  # the pair (2, 1) is not in the top two
    0.6666666666666666
    """
    check_parameters("recall_at_k", {"k": k}, {"k": Integer(1)})
    table, pairs = np.asarray(scores), np.asarray(truth, dtype=np.int64).reshape(-1, 2)
    if table.ndim != 2:
        raise DataError(f"scores have shape {table.shape}, expected (n_items, n_categories)", parameter="scores")
    total = len(pairs) if n_true is None else n_true
    if total < max(len(pairs), 1):
        raise DataError(f"n_true must be >= 1 and >= the {len(pairs)} pairs in truth, got {total}", parameter="n_true")
    return recall_of_pairs(table.ravel(), pairs[:, 0] * table.shape[1] + pairs[:, 1], k, total)


def _bin_numbers(confidence: Confidence, n_bins: int) -> npt.NDArray[np.int64]:
    """Return the bin of each confidence: (0, 1/n], (1/n, 2/n], ..."""
    check_parameters("calibration", {"n_bins": n_bins}, {"n_bins": Integer(1)})
    return np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)


def _paired(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    true, guessed = np.asarray(truth), np.asarray(predicted)
    if true.shape != guessed.shape or true.ndim != 1:
        raise DataError(
            f"truth has shape {true.shape} and predicted has shape {guessed.shape}; expected one prediction per node"
        )
    if len(true) == 0:
        raise DataError("there are no nodes to evaluate on")
    return true, guessed
