"""Metrics of the predictions, on nodes whose class is known and that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.evaluation.metrics import (
    CalibrationBin,
    accuracy,
    calibration_bins,
    expected_calibration_error,
    macro_f1,
)
from planetoid.utils.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from planetoid.evaluation.cross_validation import HeldOut
    from planetoid.report.nodes import Codes, ReportNodes

__all__ = ["N_BINS", "Quality", "measure_quality"]

N_BINS = 15  # of the calibration error and of its chart


@dataclass(frozen=True, eq=False)
class Quality:
    """Metrics on one set of nodes.

    Attributes
    ----------
    n : int
        Number of nodes.
    on : str
        What these nodes are, as a phrase.
    accuracy, macro_f1, calibration_error : float
    interval : Interval
        95 % confidence interval of the accuracy (Wilson).
    confusion : int array of shape (n_true_classes, n_classes)
        True classes in rows, predicted classes in columns.
    bins : list of CalibrationBin
    """

    n: int
    on: str
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


def measure_quality(nodes: ReportNodes, held_out: HeldOut | None = None) -> Quality | None:
    """Return the metrics on labels that were not used for training, else on training labels that were held out in turn.

    ``None`` if there are neither, or nodes may have several labels.
    """
    if nodes.label_sets is not None:
        return None
    if nodes.evaluated.any():
        true, probabilities = nodes.truth[nodes.evaluated], nodes.probabilities[nodes.evaluated]
        return _quality(nodes, true, probabilities, nodes.evaluated_on)
    if held_out is None:
        return None
    fits = held_out.probabilities.shape == (len(held_out.rows), nodes.n_classes)
    if not fits or held_out.rows.max() >= nodes.model.n_nodes or (nodes.labels[held_out.rows] < 0).any():
        raise DataError("the cross-validation belongs to another model", parameter="held_out")
    on = f"training labels, each by a model that was fitted without it ({held_out.n_folds}-fold cross-validation)"
    return _quality(nodes, nodes.labels[held_out.rows], held_out.probabilities, on)


def _quality(nodes: ReportNodes, true: Codes, probabilities: npt.NDArray[np.floating[Any]], on: str) -> Quality:
    predicted = probabilities.argmax(axis=1)
    confusion = np.zeros((len(nodes.class_names), nodes.n_classes), dtype=np.int64)
    np.add.at(confusion, (true, predicted), 1)
    correct = true == predicted
    return Quality(
        n=len(true),
        on=on,
        accuracy=accuracy(true, predicted),
        macro_f1=macro_f1(true, predicted),
        calibration_error=expected_calibration_error(true, probabilities, np.arange(nodes.n_classes), N_BINS),
        interval=wilson_interval(int(correct.sum()), len(true)),
        confusion=confusion,
        bins=calibration_bins(correct, probabilities.max(axis=1).astype(np.float64), N_BINS),
    )


def _ratio(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
