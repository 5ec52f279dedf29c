"""How good the predictions are, on nodes whose class is known and was not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planetoid.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from planetoid.report.nodes import NodeTable

__all__ = ["Bin", "Quality", "measure_quality", "wilson_interval"]

N_BINS = 15  # of expected_calibration_error, so that its figure is that of the picture


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same confidence: how many, how sure on average, how often right."""

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Quality:
    """Figures of one set of nodes.

    Attributes
    ----------
    n : int
        Nodes measured on.
    accuracy, macro_f1, calibration_error : float
    interval : (float, float)
        95 % interval of the accuracy (Wilson).
    confusion : int array of shape (n_true_classes, n_classes)
        Rows: true class; columns: predicted.
    bins : list of Bin
        Those that are not empty, by confidence.
    """

    n: int
    accuracy: float
    macro_f1: float
    calibration_error: float
    interval: tuple[float, float]
    confusion: npt.NDArray[np.int64]
    bins: list[Bin]

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """Share of each true class that was found, NaN for a class that does not occur."""
        return _share(self.confusion.diagonal(), self.confusion.sum(axis=1)[: self.confusion.shape[1]])

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """Share of each predicted class that was right, NaN for a class that was not predicted."""
        return _share(self.confusion.diagonal(), self.confusion.sum(axis=0))


def measure_quality(nodes: NodeTable) -> Quality | None:
    """Return the figures, or None where no node may be measured on."""
    if not nodes.measured.any():
        return None
    true, probabilities = nodes.truth[nodes.measured], nodes.probabilities[nodes.measured]
    guessed = probabilities.argmax(axis=1)
    confusion = np.zeros((len(nodes.class_names), nodes.n_classes), dtype=np.int64)
    np.add.at(confusion, (true, guessed), 1)
    return Quality(
        n=len(true),
        accuracy=accuracy(true, guessed),
        macro_f1=macro_f1(true, guessed),
        calibration_error=expected_calibration_error(true, probabilities, np.arange(nodes.n_classes), N_BINS),
        interval=wilson_interval(int((true == guessed).sum()), len(true)),
        confusion=confusion,
        bins=_bins(true == guessed, probabilities.max(axis=1).astype(np.float64)),
    )


def wilson_interval(right: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the interval in which a share of ``right`` in ``n`` lies with 95 % confidence (Wilson, 1927).

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    share = right / n
    middle = share + z * z / (2 * n)
    reach = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(0.0, (middle - reach) / (1 + z * z / n)), min(1.0, (middle + reach) / (1 + z * z / n))


def _bins(right: npt.NDArray[np.bool_], confidence: npt.NDArray[np.float64]) -> list[Bin]:
    place = np.clip(np.ceil(confidence * N_BINS).astype(np.int64) - 1, 0, N_BINS - 1)
    counts = np.bincount(place, minlength=N_BINS)
    sure, hits = (np.bincount(place, weights=values, minlength=N_BINS) for values in (confidence, right))
    return [Bin(int(counts[k]), float(sure[k] / counts[k]), float(hits[k] / counts[k])) for k in np.flatnonzero(counts)]


def _share(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
