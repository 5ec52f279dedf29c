"""Opinions about the classes, as probabilities: how they are compared, sharpened and pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "FEW_LABELS", "SECOND_POWER", "Codes", "clearly_better", "geometric_mean", "kappa", "second_labels", "sharpened",
    "to_probabilities",
]  # fmt: skip

SECOND_POWER = 6  # of how good an opinion is, relative to the best one: its weight
FEW_LABELS = 10  # correct ones that two classifiers are compared with beforehand, so that few labels decide little
ROWS_FOR_CONFIDENCE = 4_000  # of a graph, about, that the mean confidence is taken over
SMALLEST = 1e-30  # probability; in single precision there are smaller ones

Matrix = npt.NDArray[np.float32]
Codes = npt.NDArray[np.integer]


def geometric_mean(one: Matrix, other: Matrix, share: float) -> Matrix:
    """Return probabilities between two opinions; ``share`` is the weight of the other.

    >>> geometric_mean(np.array([[0.5, 0.5]]), np.array([[0.1, 0.9]]), 0.5).round(2).tolist()
    [[0.25, 0.75]]
    """
    logs = (1.0 - share) * np.log(np.maximum(one, SMALLEST))
    logs += share * np.log(np.maximum(other, SMALLEST))
    return to_probabilities(logs).astype(np.float32, copy=False)


def sharpened(probabilities: npt.NDArray[np.float32], confidence: float) -> npt.NDArray[np.float32]:
    """Return the probabilities to a power at which the largest of each row is ``confidence`` on average.

    >>> sharpened(np.array([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]], np.float32), 0.8).max(axis=1).mean().round(2)
    np.float32(0.8)
    """
    logs = np.log(np.maximum(probabilities, 1e-9))
    some = logs[:: max(1, len(logs) // ROWS_FOR_CONFIDENCE)]
    low, high = 0.01, 1000.0
    for _ in range(30):
        power = np.sqrt(low * high)
        low, high = (power, high) if _largest(power * some).mean() < confidence else (low, power)
    return to_probabilities(power * logs).astype(np.float32, copy=False)


def to_probabilities(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn scores into their softmax over each row, in place: of all nodes and many classes, copies take as long."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def _largest(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the largest entry of each row of ``softmax(scores, axis=1)``; changes the scores."""
    scores -= scores.max(axis=1, keepdims=True)
    return np.asarray(1 / np.exp(scores, out=scores).sum(axis=1))


def kappa(one: Codes, other: Codes, n_classes: int) -> float:
    """Return how often two labellings agree, scaled so that 1 is always and 0 is as often as by chance (Cohen)."""
    if len(one) == 0:
        return 0.0
    shares = [np.bincount(codes, minlength=n_classes) / len(codes) for codes in (one, other)]
    chance = float(shares[0] @ shares[1])
    return float(((one == other).mean() - chance) / max(1.0 - chance, 1e-9))


def clearly_better(
    correct: npt.NDArray[np.bool_], correct_before: npt.NDArray[np.bool_], standard_errors: float = 1.0
) -> bool:
    """Return whether more are correct by more than so many standard errors of the difference, which is paired.

    >>> before = np.arange(100) < 60
    >>> clearly_better(np.arange(100) < 61, before), clearly_better(np.arange(100) < 70, before)
    (False, True)
    """
    gain = int(correct.sum()) - int(correct_before.sum())
    return bool(gain > standard_errors * np.sqrt((correct != correct_before).sum()))


def second_labels(codes: Codes) -> npt.NDArray[np.bool_]:
    """Return which labels to hide: every second one of each class, so that one of each remains.

    >>> second_labels(np.array([0, 1, 0, 0, 0])).tolist()
    [False, False, True, False, True]
    """
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], codes[order])  # where the labels of the same class begin
    hidden = np.zeros(len(codes), bool)
    hidden[order] = (np.arange(len(codes)) - first) % 2 == 1
    return hidden
