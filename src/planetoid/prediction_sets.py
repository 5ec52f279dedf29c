"""Prediction sets: the classes that contain the true one with a stated probability (conformal prediction).

A set holds the classes whose calibrated probability is at least a threshold, and always the most probable class. The
threshold is that of the smallest sets that contain the label of a share 1 - alpha of the nodes of a sample
(:mod:`planetoid.calibration`): nodes whose label the model has not learned from. Where a node of the sample has
probabilities in the place of a label, each class counts by its probability.

A method that is calibrated by a reference has better sets for its fitted nodes (:func:`node_sets`): by a mean of its
own probabilities and those of the reference, which come from the whole neighbourhood of a node, with a threshold that
takes into account how often the sets of the reference contain labels that it was not shown. The constants were chosen
on random splits of Cora, Citeseer, Pubmed and NELL, other than those of ``benchmarks/prediction_sets.py``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import entr, softmax

from planetoid.calibration import Calibration, Reference, Sample
from planetoid.data.types import Probabilities
from planetoid.parameters import Real, check_parameters

__all__ = ["LEVELS", "members", "node_sets", "thresholds"]

LEVELS = 1_000  # coverages 0, 0.001, ..., 1 whose thresholds are kept
MOST_NODES = 2_000  # that the thresholds of these scores are chosen by
LABELS_THAT_COUNT = 20.0  # so many labels that the reference was not shown count as much as what it expects
# Of the weight of a method in the geometric mean: the largest, and the power of the ratio of entropies.
LARGEST_WEIGHT, SHARPNESS = 0.5, 4
SMALLEST = np.float32(1e-6)  # probability; a smaller one says no more

Vector = npt.NDArray[np.float64]


def thresholds(sample: Sample, calibration: Calibration) -> Vector:
    """Return the threshold for each coverage 0, 0.001, ..., 1; the sets of the last one hold all classes.

    With n labels, a coverage c takes the quantile c (n + 1) / n, so that few labels make larger sets, not invalid ones.

    >>> sample = Sample.of_labels(np.log([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), [0, 0, 1], "validation labels")
    >>> found = thresholds(sample, Calibration("validation labels"))
    >>> found[[250, 500, 750, 751]].round(2).tolist()  # labels have the probabilities 0.9, 0.6 and 0.3
    [0.9, 0.6, 0.3, 0.0]
    """
    wanted = np.arange(LEVELS + 1) / LEVELS * (sample.n_labels + 1) / max(sample.n_labels, 1)
    return _at_coverage(calibration.apply(np.exp(sample.scores)), sample.targets, wanted)


def node_sets(
    probabilities: Probabilities, reference: Reference, unlabelled: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float32], Vector]:
    """Return the scores of the classes of all nodes, and their threshold for each coverage 0, 0.001, ..., 1.

    What is expected of an unlabelled node says which share of the classes is covered by a threshold. The reference may
    be wrong about that: where its own sets are expected to cover a share c, but contain a share d of the labels that it
    was not shown, the sets for a coverage d need the level c. Few labels tell d roughly; the level is between the two.

    Parameters
    ----------
    probabilities : array of shape (n_nodes, n_classes)
        Calibrated, of the method.
    reference : Reference
    unlabelled : bool array of shape (n_nodes,)
        The nodes that thresholds are chosen by.
    """
    referred = probabilities if reference.probabilities is None else reference.calibrated()
    known = np.asarray(referred.any(axis=1, keepdims=True))
    referred = np.where(known, referred, probabilities)
    candidates = np.flatnonzero(unlabelled)
    rows = candidates[np.unique(np.linspace(0, len(candidates) - 1, MOST_NODES).astype(np.int64))]
    if reference.share is None:
        weight = _weight(probabilities[rows], referred[rows])
        scores = _geometric_mean(probabilities, referred, weight, reference, known)
        expected = scores[rows]
    else:
        scores = (reference.share * referred + (1 - reference.share) * probabilities).astype(np.float32)
        expected = referred[rows]
    wanted = np.arange(LEVELS + 1) / LEVELS
    of_labels = _coverage(referred[rows], _at_coverage(reference.hidden, reference.targets, wanted))
    counted = reference.n_labels / (reference.n_labels + LABELS_THAT_COUNT)
    found = _at_coverage(scores[rows], expected, counted * of_labels + (1 - counted) * wanted)
    found[-1] = 0.0
    return scores, found


def _weight(probabilities: Probabilities, referred: Probabilities) -> float:
    """Return the weight of a method beside its reference: the less, the less it says about the classes.

    >>> sure, unsure = np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]])
    >>> _weight(sure, unsure), _weight(sure, sure), round(_weight(unsure, sure), 3)
    (0.5, 0.5, 0.027)
    """
    smallest = np.finfo(float).tiny
    said, expected = (float(entr(table.astype(np.float64)).sum()) for table in (probabilities, referred))
    return LARGEST_WEIGHT * min(1.0, expected / max(said, smallest)) ** SHARPNESS


def _geometric_mean(
    probabilities: Probabilities,
    referred: Probabilities,
    weight: float,
    reference: Reference,
    known: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float32]:
    """Return the weighted geometric mean of a method and its reference, with rows that sum to one.

    Where the reference knows nothing, there is nothing to agree with.
    """
    logs = np.float32(weight) * np.log(np.maximum(probabilities, SMALLEST, dtype=np.float32))
    logs += np.float32(1 - weight) * np.log(np.maximum(referred, SMALLEST, dtype=np.float32))
    if reference.opinion is not None:
        logs += reference.opinion()
    logs /= np.where(known, np.float32(reference.agreement), np.float32(1))
    return np.asarray(softmax(logs, axis=1))


def members(
    probabilities: Probabilities, levels: Vector, alpha: float, scores: Probabilities | None = None
) -> npt.NDArray[np.bool_]:
    """Return which classes are in the set of each row: by their probability, or by other scores.

    >>> levels = np.linspace(1, 0, LEVELS + 1)  # the threshold of the coverage 0.9 is 0.1
    >>> members(np.array([[0.85, 0.14, 0.01], [0.95, 0.03, 0.02]]), levels, alpha=0.1).tolist()
    [[True, True, False], [True, False, False]]
    """
    check_parameters("predict_set", {"alpha": alpha}, {"alpha": Real(0, 1, closed="neither")})
    level = levels[int(np.ceil(round((1 - alpha) * LEVELS, 6)))]
    found = np.asarray((probabilities if scores is None else scores) >= level)
    found[np.arange(len(found)), probabilities.argmax(axis=1)] = True
    return found


def _at_coverage(scores: Probabilities, weights: Probabilities, wanted: Vector) -> Vector:
    """Return the largest threshold for which the classes above it have a share ``wanted`` of the weight."""
    order = np.argsort(-scores, axis=None, kind="stable")
    covered = weights.ravel()[order].cumsum() / max(weights.sum(), np.finfo(float).tiny)
    place = np.searchsorted(covered, wanted - 1e-9)
    return np.asarray(np.append(scores.ravel()[order], 0.0)[np.minimum(place, len(order))], dtype=np.float64)


def _coverage(probabilities: Probabilities, thresholds: Vector) -> Vector:
    """Return the share of all probability that classes have whose probability is at least a threshold."""
    ascending = np.sort(probabilities, axis=None)
    below = np.append(0.0, ascending.cumsum(dtype=np.float64))
    return np.asarray(1 - below[np.searchsorted(ascending, thresholds)] / max(below[-1], np.finfo(float).tiny))
