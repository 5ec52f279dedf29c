"""Prediction sets: the classes that contain the true one with a stated probability (conformal prediction).

A set holds the classes whose calibrated probability is at least a threshold, and always the most probable class. The
threshold is that of the smallest sets that contain the label of a share 1 - alpha of the nodes of a sample
(:mod:`planetoid.calibration`): nodes whose label the model has not learned from. Where a node of the sample has
probabilities in the place of a label, each class counts by its probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.calibration import Calibration, Sample
from planetoid.parameters import Real, check_parameters

__all__ = ["LEVELS", "members", "thresholds"]

LEVELS = 1_000  # coverages 0, 0.001, ..., 1 whose thresholds are kept

Vector = npt.NDArray[np.float64]


def thresholds(sample: Sample, calibration: Calibration) -> Vector:
    """Return the threshold for each coverage 0, 0.001, ..., 1; the sets of the last one hold all classes.

    With n labels, a coverage c takes the quantile c (n + 1) / n, so that few labels make larger sets, not invalid ones.

    >>> sample = Sample.of_labels(np.log([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), [0, 0, 1], "validation labels")
    >>> found = thresholds(sample, Calibration("validation labels"))
    >>> found[[250, 500, 750, 751]].round(2).tolist()  # labels have the probabilities 0.9, 0.6 and 0.3
    [0.9, 0.6, 0.3, 0.0]
    """
    probabilities = calibration.apply(np.exp(sample.scores)).ravel()
    weights = sample.targets.ravel()
    order = np.argsort(-probabilities, kind="stable")
    covered = weights[order].cumsum() / max(weights.sum(), np.finfo(float).tiny)
    wanted = np.arange(LEVELS + 1) / LEVELS * (sample.n_labels + 1) / max(sample.n_labels, 1)
    place = np.searchsorted(covered, wanted - 1e-9)
    return np.asarray(np.append(probabilities[order], 0.0)[np.minimum(place, len(order))])


def members(probabilities: npt.NDArray[np.floating[Any]], levels: Vector, alpha: float) -> npt.NDArray[np.bool_]:
    """Return which classes are in the set of each row.

    >>> levels = np.linspace(1, 0, LEVELS + 1)  # the threshold of the coverage 0.9 is 0.1
    >>> members(np.array([[0.85, 0.14, 0.01], [0.95, 0.03, 0.02]]), levels, alpha=0.1).tolist()
    [[True, True, False], [True, False, False]]
    """
    check_parameters("predict_set", {"alpha": alpha}, {"alpha": Real(0, 1, closed="neither")})
    level = levels[int(np.ceil(round((1 - alpha) * LEVELS, 6)))]
    found = np.asarray(probabilities >= level)
    found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
    return found
