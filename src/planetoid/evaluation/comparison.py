"""How sure an accuracy is, and whether one method is better than another, from few labels.

Every label that was tested counts once: its score is the share of splits in which it was predicted correctly. The error
of a mean over n labels is binomial, and never smaller than what the spread between splits shows. Two methods are
compared label by label (a paired comparison), since they saw the same splits.

With several labels per node the figure is micro F1, a ratio of sums over nodes: twice the labels found, to the labels
that nodes have and those that are predicted. The score of a node is what the ratio gains by it, to first order (the
delta method), such that the mean score is micro F1 and methods are compared node by node in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

__all__ = [
    "Difference",
    "Interval",
    "LabelScores",
    "accuracy_interval",
    "f1_interval",
    "paired_difference",
    "score_label_sets",
    "score_labels",
    "undecided",
]

CONFIDENCE = 0.95
ERRORS = 2.0  # standard errors by which a difference is clear


class LabelScores(NamedTuple):
    """How often each label was predicted correctly.

    Attributes
    ----------
    rows : int64 array
        Nodes that were tested, in ascending order.
    share : float64 array
        Share of the splits that tested the node in which its prediction was correct; with several labels per node, its
        score. The mean is accuracy or micro F1.
    by_split : float64 array
        Accuracy or micro F1 of each split.
    n_independent : float
        How many independent labels the scores are worth at most.
    """

    rows: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    by_split: npt.NDArray[np.float64]
    n_independent: float


class Interval(NamedTuple):
    """Between which values an accuracy, or a micro F1, is with 95 % probability."""

    low: float
    high: float


class Difference(NamedTuple):
    """Difference of two accuracies, or of two micro F1, and its standard error."""

    mean: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether the difference is larger than two standard errors."""
        return abs(self.mean) > ERRORS * self.error


def score_labels(tested: Sequence[npt.NDArray[np.integer]], correct: Sequence[npt.NDArray[np.bool_]]) -> LabelScores:
    """Gather the test nodes of several splits, and which of them were predicted correctly.

    >>> score_labels([np.array([0, 3]), np.array([3, 5])], [np.array([True, True]), np.array([False, True])])[:2]
    (array([0, 3, 5]), array([1. , 0.5, 1. ]))
    """
    rows, position = np.unique(np.concatenate(tested), return_inverse=True)
    right = np.bincount(position, np.concatenate(correct).astype(np.float64), len(rows))
    by_split = np.array([one.mean() for one in correct if len(one)])
    share = right / np.bincount(position, minlength=len(rows))
    return LabelScores(rows.astype(np.int64), share, by_split, float(len(rows)))


def score_label_sets(
    tested: Sequence[npt.NDArray[np.integer]],
    found: Sequence[npt.NDArray[np.integer]],
    sizes: Sequence[npt.NDArray[np.integer]],
) -> LabelScores:
    """Gather the test nodes of several splits, with several labels each.

    Parameters
    ----------
    tested : sequence of int arrays
        Test nodes of each split.
    found : sequence of int arrays
        How many labels of each of them were predicted.
    sizes : sequence of int arrays
        How many labels each has, and how many are predicted, together.

    Examples
    --------
    >>> scores = score_label_sets([np.array([2, 7])], [np.array([1, 1])], [np.array([2, 3])])
    >>> scores.rows.tolist(), round(float(scores.share.mean()), 3)  # 2 * (1 + 1) / (2 + 3)
    ([2, 7], 0.8)
    """
    rows, position = np.unique(np.concatenate(tested), return_inverse=True)
    times = np.bincount(position, minlength=len(rows))
    twice, size = (
        np.bincount(position, np.concatenate(one).astype(np.float64), len(rows)) / times
        for one in ([2 * each for each in found], sizes)
    )
    total = max(float(size.sum()), 1.0)
    f1 = float(twice.sum()) / total
    by_split = np.array([2 * one.sum() / max(1, size.sum()) for one, size in zip(found, sizes, strict=True)])
    return LabelScores(rows.astype(np.int64), f1 + len(rows) * (twice - f1 * size) / total, by_split, total / (2 - f1))


def accuracy_interval(scores: LabelScores) -> Interval:
    """Return the 95 % credible interval of the accuracy (Jeffreys prior).

    Three splits that happen to agree say little if they tested few labels:

    >>> tested = [np.arange(16)] * 3
    >>> right = [np.arange(16) < 11] * 3
    >>> [round(end, 2) for end in accuracy_interval(score_labels(tested, right))]
    [0.44, 0.87]
    """
    n, mean = scores.n_independent, float(scores.share.mean())
    spread = _spread_of_splits(scores)
    if spread > mean * (1 - mean) / n > 0:  # splits differ by more than their few labels explain
        n = mean * (1 - mean) / spread
    return _interval(mean, n)


def f1_interval(scores: LabelScores) -> Interval:
    """Return the interval of micro F1: that of as many independent labels as would vary as much as its nodes do.

    Labels of a node stand and fall together, so that many labels of few nodes say less than as many nodes would:

    >>> many = [np.arange(40)], [np.arange(40) % 2], [np.full(40, 2)]
    >>> few = [np.arange(10)], [4 * (np.arange(10) % 2)], [np.full(10, 8)]
    >>> [[round(end, 2) for end in f1_interval(score_label_sets(*one))] for one in (many, few)]
    [[0.35, 0.65], [0.22, 0.78]]
    """
    n, mean = float(len(scores.rows)), min(1.0, max(0.0, float(scores.share.mean())))
    variance = max(float(scores.share.var()) / n, _spread_of_splits(scores))
    binomial = mean * (1 - mean)
    return _interval(mean, min(scores.n_independent, binomial / variance) if binomial > 0 and variance > 0 else n)


def _spread_of_splits(scores: LabelScores) -> float:
    """Return the variance of the mean over splits, 0 of a single one."""
    return float(scores.by_split.var(ddof=1)) / len(scores.by_split) if len(scores.by_split) > 1 else 0.0


def _interval(mean: float, n: float) -> Interval:
    """Return the interval of a share that was seen in n independent labels."""
    right, wrong, tail = n * mean + 0.5, n * (1 - mean) + 0.5, (1 - CONFIDENCE) / 2
    low = 0.0 if mean == 0 else float(betaincinv(right, wrong, tail))
    return Interval(low, 1.0 if mean == 1 else float(betaincinv(right, wrong, 1 - tail)))


def paired_difference(one: LabelScores, other: LabelScores) -> Difference:
    """Return how much more accurate the first method is, on the nodes that both were tested on.

    One label on which they differ is added, so that methods which agree on a handful of labels are not taken for equal.

    >>> def scores(right): return score_labels([np.arange(len(right))], [np.array(right, bool)])
    >>> difference = paired_difference(scores([1] * 9 + [0]), scores([1] * 6 + [0] * 4))
    >>> round(difference.mean, 2), round(difference.error, 2), difference.is_clear
    (0.3, 0.18, False)
    """
    _, at_one, at_other = np.intersect1d(one.rows, other.rows, assume_unique=True, return_indices=True)
    if len(at_one) == 0:
        return Difference(0.0, np.inf)
    differences = one.share[at_one] - other.share[at_other]
    n, mean = len(differences), float(differences.mean())
    squares = float((differences**2).sum()) + 1.0
    return Difference(mean, float(np.sqrt(max(squares / n - mean**2, 0.0) / n)))


def undecided(scores: Mapping[str, LabelScores]) -> list[str]:
    """Return the methods that are not clearly worse than the best one, the best first."""
    ordered = sorted(scores, key=lambda name: -float(scores[name].share.mean()))
    best = ordered[0]
    return [best] + [name for name in ordered[1:] if not paired_difference(scores[best], scores[name]).is_clear]
