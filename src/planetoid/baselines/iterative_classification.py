"""Iterative classification, ICA (Sen et al., 2008)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

from planetoid.baselines.reference import NEAR, reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import Probabilities
from planetoid.errors import PlanetoidWarning, warn
from planetoid.estimator.classifier import GraphClassifier
from planetoid.explanation.contributions import BY_WEIGHT, LOG_ODDS, Answer, Contributions, Question, entries_of
from planetoid.graph.adjacency import strengths, symmetric_adjacency
from planetoid.parameters import RANDOM_STATE, ROW_NORMALIZE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, Int, SearchSpace
from planetoid.training.softmax_regression import SoftmaxRegression, fit_softmax

__all__ = ["IterativeClassification"]

MANY = 0.01  # share of labels that still change
COLLAPSED = 0.5  # ratio of the diversity of the labels to that of the predictions from features alone

Labels = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


class LocalClassifier(NamedTuple):
    """A linear classifier in two parts.

    Attributes
    ----------
    content : array of shape (n_nodes, n_classes)
        Scores of each node by its features, intercept included.
    relation : array of shape (n_classes, n_classes)
        Added to the scores per neighbour, by the neighbour's class.
    """

    content: Matrix
    relation: Matrix


class IterativeClassification(GraphClassifier):
    """A classifier on a node's features and its neighbours' labels, applied until the labels converge.

    First a classifier on the features alone predicts every label. Then a local
    classifier is fitted to the labelled nodes, on their features and on how
    often each class occurs among their neighbours (known or predicted), and the
    unlabelled nodes are visited one after the other, each taking the best
    label given the current labels of its neighbours. Since most neighbours of
    the few labelled nodes are predictions, fitting and visiting are repeated
    ``n_rounds`` times with the improved ones, or until no label changes. A
    directed edge counts in both directions.

    Parameters
    ----------
    C : float, default 1.0
        Inverse of the regularisation strength of the local classifier.
    aggregate : {"proportion", "count"}, default "proportion"
        How the labels of a node's neighbours become features.
    order : {"degree", "confidence", "random"}, default "degree"
        Which nodes are visited first: those with most neighbours, the most
        confident ones, or a new random order in each sweep.
    n_rounds : int, default 10
        Maximum number of fits of the local classifier; a warning is issued if
        more than 1 % of the labels changed in the last.
    max_iter : int, default 1
        Maximum number of sweeps over the nodes per fit. On dense graphs more
        than one can be harmful: the first fit sees poor predictions, and its
        errors add up until one class is left.
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which each feature row is scaled.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
        Seed of the "random" order.

    Attributes
    ----------
    n_iter_ : int
        Number of sweeps in all rounds.
    coef_, intercept_ : arrays
        Weights per class of the local classifier: those of the features, then those of the neighbours' classes.
    final_labels_ : array of shape (n_nodes,)
        The label of each node, as a code of ``classes_``, that its neighbours saw at the end.

    References
    ----------
    P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad,
    "Collective classification in network data", AI Magazine 29(3), 2008.

    Examples
    --------
    The last node has no features, but three neighbours:

    >>> import planetoid as pl
    >>> X = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0]]
    >>> graph = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 3), (6, 4), (6, 5)]
    >>> model = pl.IterativeClassification().fit(X, {0: "a", 1: "a", 3: "b", 4: "b"}, graph=graph)
    >>> model.predict(nodes=[2, 5, 6]).tolist()
    ['a', 'b', 'b']
    """

    uses_features = "required"
    constraints: ClassVar[Constraints] = {
        "C": Real(0, closed="neither"),
        "aggregate": ("proportion", "count"),
        "order": ("degree", "confidence", "random"),
        "n_rounds": Integer(1),
        "max_iter": Integer(1),
        "row_normalize": ROW_NORMALIZE,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
    }
    search_space: ClassVar[SearchSpace] = {
        "C": Float(0.1, 1000.0),
        "aggregate": Categorical(("proportion", "count")),
        "n_rounds": Int(1, 10),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        aggregate: str = "proportion",
        order: str = "degree",
        n_rounds: int = 10,
        max_iter: int = 1,
        row_normalize: str | None = "l2",
        calibrate: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.aggregate = aggregate
        self.order = order
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.row_normalize = row_normalize
        self.calibrate = calibrate
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        assert data.X is not None
        X = scale_rows(data.X, self.row_normalize)
        self._unit_rows = X if self.row_normalize == "l2" and self._asks_for_sample(data) else None
        adjacency = _aggregation(symmetric_adjacency(data.graph), self.aggregate)
        known = data.labelled
        labels = fit_softmax(X[known], data.y[known], data.n_classes, self.C).scores(X).argmax(axis=1)
        labels[known] = data.y[known]
        generator = np.random.default_rng(self._seed)
        self.n_iter_ = 0
        hidden, first, changed = np.flatnonzero(data.y < 0), _n_effective(labels), 0
        for _ in range(self.n_rounds):
            neighbours = (adjacency @ _one_hot(labels, data.n_classes))[known]
            fitted = fit_softmax(_concatenate(X[known], neighbours), data.y[known], data.n_classes, self.C)
            local = _local_classifier(fitted, X)
            before = labels.copy()
            changed = self._sweep(adjacency, labels, hidden, local, generator)
            if np.array_equal(labels, before):
                break
        self._warn(changed, len(hidden), _n_effective(labels) / first)
        self.coef_, self.intercept_ = _per_class(fitted)
        self.final_labels_ = labels
        neighbours = adjacency @ _one_hot(labels, data.n_classes)
        return np.asarray(softmax(local.content + neighbours @ local.relation, axis=1))

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        x = scale_rows(question.known_row(), self.row_normalize)
        n_features = x.shape[1]
        around = _aggregation(symmetric_adjacency(question.known_data().graph), self.aggregate)[[question.row]]
        relation = self.coef_[:, n_features:].T @ question.contrast  # by the class of a neighbour
        values = around.data.astype(np.float64) * relation[self.final_labels_[around.indices]]
        of_features = self.coef_[:, :n_features].T @ question.contrast
        columns, entries = entries_of(x)
        from_features = entries * of_features[columns]
        base = float(self.intercept_ @ question.contrast)
        meaning = "weight of the class of the neighbour, known or predicted, times its share of the node's neighbours"
        parts = [
            Contributions("neighbours", around.indices, values, meaning, base + float(from_features.sum())),
            Contributions("features", columns, from_features, BY_WEIGHT, base + float(values.sum())),
        ]
        return Answer(base + float(values.sum() + from_features.sum()), LOG_ODDS, parts)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        unit_rows, self._unit_rows = self._unit_rows, None  # as large as the features
        return reference_sample(data, probabilities, smoothing=NEAR, unit_rows=unit_rows)

    def _sweep(
        self,
        adjacency: sparse.csr_array,
        labels: Labels,
        nodes: Labels,
        local: LocalClassifier,
        generator: np.random.Generator,
    ) -> int:
        """Visit the unlabelled nodes until no label changes; return how many the last sweep changed."""
        from planetoid.baselines.kernels import visit_nodes

        changed = 0
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            order = self._ordered(adjacency, labels, nodes, local, generator)
            csr = (adjacency.indptr, adjacency.indices, adjacency.data)
            changed = visit_nodes(*csr, order, local.content, local.relation, labels)
            if not changed:
                break
        return changed

    def _warn(self, changed: int, n_hidden: int, diversity: float) -> None:
        name = type(self).__name__
        if changed > MANY * n_hidden:
            warn(
                PlanetoidWarning(
                    f"{name} did not converge: {changed:,} of {n_hidden:,} labels changed in the last of "
                    f"n_rounds={self.n_rounds} rounds"
                )
            )
        if diversity < COLLAPSED:
            warn(
                PlanetoidWarning(
                    f"{name}: almost all nodes have the same label now, which the features alone do not say; use fewer "
                    "rounds or another method"
                )
            )

    def _ordered(
        self,
        adjacency: sparse.csr_array,
        labels: Labels,
        nodes: Labels,
        local: LocalClassifier,
        generator: np.random.Generator,
    ) -> Labels:
        if self.order == "random":
            return generator.permutation(nodes)
        if self.order == "degree":
            return nodes[np.argsort(-np.diff(adjacency.indptr)[nodes], kind="stable")]
        scores = local.content + (adjacency @ _one_hot(labels, len(local.relation))) @ local.relation
        best = np.partition(scores[nodes], -2, axis=1)[:, -2:]
        return nodes[np.argsort(best[:, 0] - best[:, 1], kind="stable")]


def _aggregation(adjacency: sparse.csr_array, aggregate: str) -> sparse.csr_array:
    """Weight each neighbour by its edge, or by its share of the node's total edge weight."""
    if aggregate == "count":
        return adjacency
    total = np.repeat(strengths(adjacency), np.diff(adjacency.indptr))
    data = (adjacency.data / total).astype(np.float32)
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)


def _n_effective(labels: Labels) -> float:
    """Return the number of classes of equal size that would be as diverse as the labels (by entropy)."""
    shares = np.bincount(labels) / len(labels)
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _one_hot(labels: Labels, n_classes: int) -> Matrix:
    return np.eye(n_classes)[labels]


def _concatenate(X: Rows, neighbours: Matrix) -> Rows:
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(neighbours)], format="csr")
    return np.hstack([X, neighbours])


def _per_class(fitted: SoftmaxRegression) -> tuple[Matrix, Matrix]:
    """Return weights and intercepts, also of two classes one row each."""
    weights, intercept = fitted.coef, fitted.intercept
    if len(weights) == 1:  # two classes: one score, that of the second
        weights, intercept = np.vstack([-weights, weights]) / 2, np.append(-intercept, intercept) / 2
    return weights, intercept


def _local_classifier(fitted: SoftmaxRegression, X: Rows) -> LocalClassifier:
    weights, intercept = _per_class(fitted)
    n_features = X.shape[1]
    content = np.asarray(X @ weights[:, :n_features].T + intercept, dtype=np.float64)
    return LocalClassifier(content, np.ascontiguousarray(weights[:, n_features:].T))
