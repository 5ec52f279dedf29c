"""``reference_sample``: calibration by a simple method that can be asked about nodes whose label is hidden.

A network that has learned a node's label cannot be asked what it would say without it, short of training it again; nor
can a large linear system, short of solving it again. Two simple methods can, quickly: softmax regression on features,
propagated over edges or over the features that rows share, by leave-one-out in closed form, and a few steps of
propagation of the labels, one group hidden at a time. Calibrated by what they say about the labelled nodes, they say
for every unlabelled node how likely each class is, and so how often the predictions of another method are correct.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.shared_features import FEATURES_C, has_shared_features, with_shared_features
from planetoid.calibration import (
    FEATURES_ALONE,
    MIN_LABELS,
    Calibration,
    Reference,
    Sample,
    calibrate,
    graph_uniform,
    log_probabilities,
    not_zero,
    predicted_prior,
    with_usual_values,
)
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows
from planetoid.data.types import Probabilities
from planetoid.engine.filters import GraphMatrix, add_powers, one_thread_if_loaded
from planetoid.graph.adjacency import mean_weight, strengths, symmetric_adjacency, with_loops
from planetoid.labels import mask_labels
from planetoid.training.softmax_regression import MOST_LEFT_OUT, labels_to_leave_out

__all__ = [
    "FAR", "NEAR", "NEAR_ALONE", "Smoothing", "label_groups", "label_step", "propagated_labels", "reference_sample",
    "with_labels_beside",
]  # fmt: skip

MANY_NODES = 30_000  # from which on it is worth to find those with the same neighbours
CONTINUE = 0.9  # of the propagation of labels: the weight of each step beside the one before
FEW_COLUMNS = 32  # up to which scipy's product is as fast as the compiled one, on one thread
GROUPS = 4  # of the labels of each class, of which one is hidden at a time
MOST_AT_ONCE = 5_000_000  # entries of a matrix of propagated labels, with all groups of several classes side by side
# That two methods agree makes either more likely to be right, which the simple one does not know. Two that see the
# graph alone may be much the same; then it depends on how often they differ.
AGREEMENT, AGREEMENT_WITH_LABELS = 0.9, 0.8  # factors of the temperature, by the reference
BY_DIFFERENCE, SMALLEST_FACTOR = 1.6, 0.5  # on the graph alone: its fall, times the share of nodes that differ
FEATURES_AND_LABELS_AGREE, LABELS_AGREE = 1.04, 0.92  # temperatures of scores of sets; by labels alone, at least
FEATURES_AGREE = 1.05  # the same by features, with propagated labels beside
# The same of one method alone, with propagated labels beside: more by so much divided by the number of labels, which
# calibrate both, but by no more than that of the fewest.
LABELS_BESIDE, BY_FEW_LABELS, FEWEST_LABELS = 1.045, 4.0, 40
SHARE_BY_LABELS = 0.8  # of propagated labels in the scores of prediction sets, if they decide
LABELS_WEIGHT, LABELS_WEIGHT_ALONE = 0.375, 0.3  # of propagated labels beside either, if they were always right
MUCH_BETTER = 0.5  # times the log-loss of propagated labels: an embedding of the graph is the reference instead
USUAL_TEMPERATURE = (np.log(0.9), 0.25)  # prior of the logarithm of that of propagated labels


class Smoothing(NamedTuple):
    """How features and labels are propagated, and what softmax regression on the former is worth as a reference."""

    label_steps: int
    steps: int  # of features
    own: float  # share of a node's own features that no step mixes with others
    tolerance: float  # of softmax regression
    factor: float  # of the temperature, beside AGREEMENT: a weaker reference is less certain than a method may be
    most_labels: int  # that softmax regression learns from
    suffices: float = 0.0  # log-loss, as a share of that of a guess, below which propagated labels are not asked for


FAR = Smoothing(label_steps=10, steps=8, own=0.1, tolerance=1e-4, factor=1.0, most_labels=MOST_LEFT_OUT)
# Faster, and as good for some methods.
NEAR = Smoothing(label_steps=6, steps=2, own=0.2, tolerance=1e-3, factor=0.95, most_labels=300)
NEAR_ALONE = NEAR._replace(suffices=0.65)  # for a method whose fit takes as long as two references


def reference_sample(
    data: Dataset,
    probabilities: Probabilities,
    *,
    as_accurate: bool = False,
    pooled: bool = True,
    embedding: Rows | None = None,
    smoothing: Smoothing = FAR,
    unit_rows: Rows | None = None,
) -> Sample:
    """Return what a method says about unlabelled nodes, beside what a simple calibrated method says about them.

    With features and edges, the simple method is the one that labels hidden labels better.

    Parameters
    ----------
    data : Dataset
    probabilities : array of shape (n_nodes, n_classes)
    as_accurate : bool
        Whether the method is right as often as propagated labels, if those are the reference, also where they differ;
        see :meth:`~planetoid.calibration.Sample.of_reference`.
    pooled : bool
        Whether prediction sets are by both methods alike. Otherwise they are mostly by the simple one, where that uses
        the graph alone, as a method on the graph may be much worse.
    embedding : array or sparse matrix of shape (n_nodes, dimension), optional
        Of a graph without features: it stands in for them where it predicts hidden labels much better than propagated
        labels do.
    smoothing : FAR, NEAR or NEAR_ALONE
        How far to propagate: so that a method whose fit takes as long as few propagations takes the fast one.
    unit_rows : array or sparse matrix, optional
        The features in rows of unit length, if the method has scaled them already.
    """
    reference, by_labels = _reference(data, embedding, smoothing, unit_rows)
    assert reference.probabilities is not None
    known = not_zero(probabilities) & not_zero(reference.probabilities)
    unlabelled = known & (data.y < 0)
    rows = np.flatnonzero(unlabelled if unlabelled.any() else known)  # with all labels known, these nodes have to do
    sample = Sample.of_reference(probabilities, reference, rows=rows, as_accurate=as_accurate and by_labels)
    if not by_labels:
        return sample._replace(temperature_factor=smoothing.factor * AGREEMENT)
    factor, agreement = AGREEMENT_WITH_LABELS, FEATURES_AND_LABELS_AGREE
    if data.X is None:
        factor = max(SMALLEST_FACTOR, 1 - BY_DIFFERENCE * sample.differ)
        agreement = max(LABELS_AGREE, 1 - sample.differ)
    return sample._replace(
        temperature_factor=factor,
        usual_uniform=graph_uniform(data.n_classes),
        reference=reference._replace(share=None if pooled else SHARE_BY_LABELS, agreement=agreement),
    )


def _reference(
    data: Dataset, embedding: Rows | None, smoothing: Smoothing, unit_rows: Rows | None
) -> tuple[Reference, bool]:
    """Return the simple method, and whether it propagates labels."""
    if data.X is None:
        by_labels = _by_labels(data, smoothing.label_steps)
        if embedding is not None:
            by_embedding = _by_features(replace(data, X=embedding))
            if _log_loss(by_embedding) < MUCH_BETTER * _log_loss(by_labels):
                return by_embedding._replace(agreement=FEATURES_AGREE), False
        return by_labels, True
    if data.graph.n_edges == 0:
        return (_by_shared_features if has_shared_features(data) else _by_features)(data), False
    by_features = _by_features(data, smoothing, unit_rows)
    loss = _log_loss(by_features)
    if loss < smoothing.suffices * np.log(max(2, data.n_classes)):
        opinion = partial(_opinion_by_labels, data, smoothing.label_steps, LABELS_WEIGHT)
    else:
        by_labels = _by_labels(data, smoothing.label_steps)
        if _log_loss(by_labels) < loss:
            return by_labels, True
        opinion = partial(_opinion, by_labels, LABELS_WEIGHT)
    return by_features._replace(opinion=opinion, agreement=FEATURES_AGREE), False


def with_labels_beside(sample: Sample, data: Dataset) -> Sample:
    """Return the sample of a method on features, so that propagated labels have a say in its prediction sets."""
    if data.graph.n_edges == 0:
        return sample
    hidden = calibrate(sample).apply(np.exp(sample.scores))
    opinion = partial(_opinion_by_labels, data, FAR.label_steps, LABELS_WEIGHT_ALONE)
    agreement = LABELS_BESIDE + BY_FEW_LABELS / max(sample.n_labels, FEWEST_LABELS)
    beside = Reference(None, hidden, sample.targets, sample.n_labels, None, agreement, opinion)
    return sample._replace(reference=beside)


def _opinion_by_labels(data: Dataset, steps: int, weight: float) -> npt.NDArray[np.float32]:
    return _opinion(_by_labels(data, steps), weight)


def _opinion(by_labels: Reference, weight: float) -> npt.NDArray[np.float32]:
    """Return what propagated labels add to the logarithms of scores: the more, the better they predict."""
    assert by_labels.probabilities is not None
    known = not_zero(by_labels.probabilities)
    loss = _log_loss(by_labels) / np.log(max(2, by_labels.probabilities.shape[1]))
    opinion = weight * max(0.0, 1 - loss) * log_probabilities(by_labels.calibrated())
    opinion[~known] = 0.0
    return np.asarray(opinion, dtype=np.float32)


def _log_loss(reference: Reference) -> float:
    """Return the mean log-loss of labels that a reference was not shown; infinite without any."""
    total = float(reference.targets.sum())
    return -float((reference.targets * log_probabilities(reference.hidden)).sum()) / total if total else np.inf


def _by_features(data: Dataset, smoothing: Smoothing = FAR, unit_rows: Rows | None = None) -> Reference:
    """Classify by softmax regression on the features, propagated if there are edges."""
    from planetoid.baselines.feat import Feat
    from planetoid.baselines.propagated_features import PropagatedFeatures

    few = replace(data, y=mask_labels(data.y, labels_to_leave_out(data, smoothing.most_labels)), validation=None)
    if data.graph.n_edges:
        propagated = PropagatedFeatures(K=smoothing.steps, alpha=smoothing.own)
        if unit_rows is not None:
            few = replace(few, X=unit_rows)
            propagated.row_normalize = None
        propagated.classes_, propagated._tolerance = data.classes, smoothing.tolerance
        probabilities = propagated._fit(few)
        sample = propagated._left_out_sample(few, probabilities)
    else:
        feat = Feat(C=FEATURES_C, row_normalize="l2")
        probabilities = feat._fit(few)
        sample = with_usual_values(feat._calibration_sample(few, probabilities), data.labels_per_class, FEATURES_ALONE)
    return _left_out(probabilities, sample, data)


def _by_shared_features(data: Dataset) -> Reference:
    return _left_out(*with_shared_features(data), data)


def _left_out(probabilities: Probabilities, sample: Sample, data: Dataset) -> Reference:
    """Return a reference that is calibrated by leave-one-out."""
    calibration = calibrate(sample._replace(fewest=0))
    hidden = calibration.apply(np.exp(sample.scores))
    return Reference(probabilities, hidden, sample.targets, _n_labels(calibration, data), calibration=calibration)


def _n_labels(calibration: Calibration, data: Dataset) -> int:
    """Return how many labels a reference stands for: those it was calibrated by, or, if they are few, all of them."""
    return calibration.n_labels if calibration.n_labels >= MIN_LABELS else len(data.labelled)


def _by_labels(data: Dataset, steps: int) -> Reference:
    """Classify by propagated labels, calibrated by labels that are hidden a group at a time."""
    rows, groups = data.labelled, label_groups(data)
    codes, step = data.y[rows], label_step(data, steps)
    everywhere, hidden = np.empty((data.n_nodes, data.n_classes)), np.empty((len(rows), data.n_classes))
    at_once = max(1, MOST_AT_ONCE // (data.n_nodes * GROUPS))
    for first in range(0, data.n_classes, at_once):
        some = slice(first, min(first + at_once, data.n_classes))
        own = np.flatnonzero((codes >= some.start) & (codes < some.stop))  # labels of these classes
        columns = codes[own] - first
        labels = np.zeros((len(own), GROUPS, some.stop - first), np.float32)
        labels[np.arange(len(own)), groups[own], columns] = 1.0
        found = propagated_labels(step, rows[own], labels.reshape(len(own), -1)).reshape(-1, *labels.shape[1:])
        counts, others = labels.sum(axis=0), np.arange(GROUPS) != groups[own, None]
        everywhere[:, some] = sum(found[:, group] for group in range(GROUPS))
        everywhere[:, some] /= np.maximum(counts.sum(axis=0), 1)  # as much of each class
        hidden[:, some] = everywhere[rows, some]
        # Of the class of a label, only the other groups are seen.
        seen = (found[rows[own], :, columns] * others).sum(axis=1)
        hidden[own, codes[own]] = seen / np.maximum((counts.T[columns] * others).sum(axis=1), 1)
    shares, reached = _shares(hidden)
    everywhere, _ = _shares(everywhere)
    prior = predicted_prior(everywhere)
    shares[~reached] = data.class_prior
    learnable = np.bincount(codes)[codes] > 1  # by the other labels of the class
    shares, reached, codes = shares[learnable], reached[learnable], codes[learnable]
    sample = Sample.of_labels(log_probabilities(shares[reached]), codes[reached], "cross-fitting", prior)
    usual_uniform = graph_uniform(data.n_classes, data.labels_per_class)
    calibration = calibrate(sample._replace(usual_temperature=USUAL_TEMPERATURE, usual_uniform=usual_uniform, fewest=0))
    shares[reached] = calibration.apply(shares[reached])
    targets = Sample.of_labels(shares, codes, "cross-fitting", prior).targets
    return Reference(everywhere, shares, targets, _n_labels(calibration, data), calibration=calibration)


def label_step(data: Dataset, steps: int = FAR.label_steps) -> GraphMatrix:
    """Return ``sum_t (CONTINUE P)^t`` over t = 1, ..., ``steps`` for a random walk P with self-loops."""
    adjacency = symmetric_adjacency(data.graph).astype(np.float32, copy=False)
    loop = mean_weight(adjacency)
    scale = (CONTINUE / (strengths(adjacency) + loop)).astype(np.float32)
    looped = with_loops(adjacency, loop)
    looped.data *= np.repeat(scale, np.diff(looped.indptr))
    return GraphMatrix(looped, partial(_sum_over_steps, steps), find=data.n_nodes >= MANY_NODES)


def _sum_over_steps(steps: int, walk: sparse.csr_array, labels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    total = np.zeros(labels.shape, np.float32)
    n_threads = one_thread_if_loaded() if labels.shape[1] > FEW_COLUMNS else None
    add_powers(walk, labels, steps, total, n_threads=n_threads)
    return total


def propagated_labels(
    step: GraphMatrix, rows: npt.NDArray[np.int64], labels: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Propagate labels, which only ``rows`` have, to all nodes."""
    return step.times_rows(rows, labels)


def label_groups(data: Dataset) -> npt.NDArray[np.int64]:
    """Return the group of each labelled node; the labels of each class are spread evenly over the groups."""
    codes = data.y[data.labelled]
    shuffled = np.random.default_rng(0).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    first = np.searchsorted(codes[by_class], codes[by_class])
    groups = np.empty(len(codes), np.int64)
    groups[by_class] = (np.arange(len(codes)) - first) % GROUPS
    return groups


def _shares(scores: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return rows that sum to one, and which of them are not zero."""
    total = scores @ np.ones(scores.shape[1])
    reached = total > 0
    return scores / np.where(reached, total, 1.0)[:, None], reached
