"""Metrics of the predictions, on nodes whose class is known and that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.evaluation.metrics import (
    CalibrationBin,
    accuracy,
    calibration_bins,
    expected_calibration_error,
    macro_f1,
)

if TYPE_CHECKING:
    from planetoid.report.nodes import ReportNodes

__all__ = ["N_BINS", "Interval", "Quality", "measure_quality", "wilson_interval"]

N_BINS = 15  # of the calibration error and of its chart


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Quality:
    """Metrics on one set of nodes.

    Attributes
    ----------
    n : int
        Number of nodes.
    accuracy, macro_f1, calibration_error : float
    interval : Interval
        95 % confidence interval of the accuracy (Wilson).
    confusion : int array of shape (n_true_classes, n_classes)
        True classes in rows, predicted classes in columns.
    bins : list of CalibrationBin
    """

    n: int
    accuracy: float
    macro_f1: float
    calibration_error: float
    interval: Interval
    confusion: npt.NDArray[np.int64]
    bins: list[CalibrationBin]

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """Recall per class, NaN for a class that does not occur."""
        return _ratio(self.confusion.diagonal(), self.confusion.sum(axis=1)[: self.confusion.shape[1]])

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """Precision per class, NaN for a class that is never predicted."""
        return _ratio(self.confusion.diagonal(), self.confusion.sum(axis=0))

    @property
    def overconfidence(self) -> float:
        """Mean confidence minus accuracy; positive if the model is overconfident."""
        return sum(one.count * (one.confidence - one.accuracy) for one in self.bins) / self.n


def measure_quality(nodes: ReportNodes) -> Quality | None:
    """Return the metrics, ``None`` if there are no nodes to evaluate on, or nodes may have several labels."""
    if not nodes.evaluated.any() or nodes.label_sets is not None:
        return None
    true, probabilities = nodes.truth[nodes.evaluated], nodes.probabilities[nodes.evaluated]
    predicted = probabilities.argmax(axis=1)
    confusion = np.zeros((len(nodes.class_names), nodes.n_classes), dtype=np.int64)
    np.add.at(confusion, (true, predicted), 1)
    correct = true == predicted
    return Quality(
        n=len(true),
        accuracy=accuracy(true, predicted),
        macro_f1=macro_f1(true, predicted),
        calibration_error=expected_calibration_error(true, probabilities, np.arange(nodes.n_classes), N_BINS),
        interval=wilson_interval(int(correct.sum()), len(true)),
        confusion=confusion,
        bins=calibration_bins(correct, probabilities.max(axis=1).astype(np.float64), N_BINS),
    )


def wilson_interval(successes: int, n: int, z: float = 1.959964) -> Interval:
    """Return the 95 % confidence interval of a proportion (Wilson, 1927).

    >>> interval = wilson_interval(8, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.49, 0.943)
    """
    share = successes / n
    centre = share + z * z / (2 * n)
    reach = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    return Interval(max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale))


def _ratio(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
