"""What features, neighbourhoods and the graph say about the classes, and which of them to trust.

A *view* turns every node i into a row Z_i:

- ``"features"``: its own features, X_i;
- ``"neighbourhood"``: the features around it, (S X)_i;
- ``"graph"``: where it is in the graph, by the kernel of label spreading,

with the filter S of :mod:`planetoid.graph.adjacency`, a mean over powers of the normalised adjacency matrix. Rows are
centred and scaled to unit length. A classifier on a view is linear in the rows of the labelled nodes, so it takes one
small dense system and one propagation of n x classes numbers, in a fraction of a second.

With few labels, cross-validation is too noisy to select a view. What helps is *agreement*: split the evidence (the
edges, the columns of X) at random into halves and predict from each. The predictions of the two halves agree beyond
chance only if both halves carry the same signal, which neither a random graph nor noise features do. It is the mean
over all unlabelled nodes and over those that labels reach in both halves of the edges. With more labels,
:func:`ask_views` gives more weight to the leave-one-out accuracy on the labelled nodes.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from planetoid.data.scaling import Rows
from planetoid.errors import PlanetoidWarning
from planetoid.graph.adjacency import Filter, blocks, normalized_adjacency

__all__ = [
    "FEW_LABELS",
    "SECOND_POWER",
    "VIEWS",
    "Evidence",
    "FeatureView",
    "Teacher",
    "Verdict",
    "ask_views",
    "geometric_mean",
    "kappa",
    "most_labelled",
    "second_labels",
    "sharpened",
]

VIEWS = ("features", "neighbourhood", "graph")

STEPS, OWN_SHARE = 16, 0.05  # of the filter S
SPREAD_STEPS, SPREAD_RESTART = 64, 0.02  # of the kernel of the graph
SHARPNESS = 3.0  # of softmax regression: its C for the noise 1 is so many times classes^2 / labels, and at least 1
PROJECTIONS = 32  # that estimate the length of rows
NOISES = (1.0, 0.3, 3.0, 0.1, 10.0, 0.03)  # variances of a label, in units of a row's squared length, to choose from
LABELS_THAT_COUNT = 100  # so many labels weigh leave-one-out as much as agreement
MOST_LABELLED, FEWEST_PER_CLASS = 1_000, 5  # labelled nodes that a view learns from
MOST_ENTRIES = 200_000_000  # nodes times labelled nodes
SECOND_POWER = 6  # of a view's reliability, relative to the best one: the weight of its opinion
SECOND_CONFIDENCE = 0.6  # to which that opinion is sharpened
FEW_LABELS = 10  # correct ones that two classifiers are compared with beforehand, so that few labels decide little
LEAST_WEIGHT = 0.03  # below which an opinion is not asked for
ENOUGH_NODES = 64  # for an embedding of the graph to mean something: then the graph decides a tie
TIE = 0.02  # difference between reliabilities that decides nothing, and reliability that is none
CHANCE = 0.05  # added to both when they are compared: where all are small, they tell little
ROWS_FOR_CONFIDENCE = 4_000  # of a graph, about, that the mean confidence is taken over
LEAST_RELIABILITY, LEAST_PROBABILITY = 1e-3, 1e-6
SMALLEST = 1e-12

Matrix = npt.NDArray[np.float32]
Codes = npt.NDArray[np.integer]


class Evidence(NamedTuple):
    """Features and a graph; either may be missing."""

    X: Rows | None  # rows of unit length
    adjacency: sparse.csr_array | None  # symmetric

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        known = self.X if self.adjacency is None else self.adjacency
        assert known is not None
        return int(known.shape[0])

    def views(self) -> tuple[str, ...]:
        """Return the views that there is evidence for."""
        if self.adjacency is None:
            return ("features",)
        return ("graph",) if self.X is None else VIEWS

    def reached(self, labelled: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which nodes are connected to a labelled one."""
        if self.adjacency is None:
            return np.zeros(self.n_nodes, bool)
        _, component = connected_components(self.adjacency, directed=False)
        return np.isin(component, component[labelled])

    def halves(self, random: np.random.Generator) -> tuple[Evidence, Evidence]:
        """Split edges and columns of X at random into two halves."""
        columns = None if self.X is None else random.permutation(self.X.shape[1])
        upper = None if self.adjacency is None else sparse.triu(self.adjacency, format="coo")
        chosen = None if upper is None else random.random(upper.nnz) < 0.5
        halves = []
        for side in (False, True):
            X, adjacency = None, None
            if self.X is not None and columns is not None:
                middle = (len(columns) + 1) // 2
                X = self.X[:, np.sort(columns[middle:] if side else columns[:middle])]
            if upper is not None and chosen is not None:
                kept = chosen == side
                entries = upper.data[kept], (upper.row[kept], upper.col[kept])
                half = sparse.csr_array(entries, shape=upper.shape)
                adjacency = sparse.csr_array(half + half.T)
            halves.append(Evidence(X, adjacency))
        return halves[0], halves[1]


class View(ABC):
    """A symmetric kernel between nodes, of which only products are formed.

    Attributes
    ----------
    gram : array
        The kernel between the labelled nodes.
    """

    gram: npt.NDArray[np.float64]

    @abstractmethod
    def scores(self, dual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return ``K @ dual`` for all nodes, where K has a column for each labelled node."""

    def regression(self, targets: npt.NDArray[np.float64]) -> Regression:
        """Fit ridge regression, with the usual noise unless another is better by more than a standard error.

        Better is what labels more of the labelled nodes correctly, each of them left out in turn; nodes whose class
        has no other label do not count. ``targets`` has a row per labelled node, with 1 in the column of its class.
        """
        values, vectors = self._spectrum
        codes = targets.argmax(axis=1)
        n, counts = len(targets), targets.sum(axis=0)
        prior = counts / n
        without = (counts - targets) / max(n - 1, 1)  # the class prior where one node is left out
        often = counts[codes] > 1
        right_hand = np.hstack([targets - prior, np.ones((n, 1))])
        rotated = vectors.T @ right_hand
        fits = []
        for noise in NOISES:  # the usual one first
            shrunk = vectors / (np.maximum(values, 0.0) + noise * self._scale)
            dual = shrunk @ rotated
            left_out = right_hand - dual / (shrunk * vectors).sum(axis=1)[:, None]
            # Without the node its class is rarer, which must not count against (or for) it.
            scores = left_out[:, :-1] + (prior - without) * left_out[:, -1:]
            right = (scores.argmax(axis=1) == codes)[often]
            accuracy = float(right.mean()) if often.any() else 0.0
            fits.append(Regression(noise, dual[:, :-1], scores, accuracy))
        best = max(fit.accuracy for fit in fits)
        error = np.sqrt(best * (1 - best) / max(1, int(often.sum())))
        return next(fit for fit in fits if fit.accuracy >= best - error)

    @abstractmethod
    def classify(self, codes: Codes, n_classes: int, fit: Regression) -> npt.NDArray[np.float32]:
        """Return class probabilities of all nodes."""

    @cached_property
    def _spectrum(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        values, vectors = np.linalg.eigh((self.gram + self.gram.T) / 2)
        return values, vectors

    @cached_property
    def _scale(self) -> float:
        return max(float(np.diag(self.gram).mean()), SMALLEST)


class FeatureView(View):
    """Products of rows, centred and scaled to unit length: X itself, or S X with a filter S.

    Rows are held for the labelled nodes, never for all.

    Parameters
    ----------
    X : array or csr_array
    filter_ : Filter or None
    labelled : array
        Row numbers of the labelled nodes.
    random : Generator
        For the projections that estimate the lengths of the other rows; a length scales the scores of its own node, and
        never changes their order.
    """

    def __init__(
        self, X: Rows, filter_: Filter | None, labelled: npt.NDArray[np.int64], random: np.random.Generator
    ) -> None:
        self.X, self.filter = X, filter_
        ones = np.full((X.shape[0], 1), 1.0 / X.shape[0], np.float32)
        self.mean = np.asarray(X.T @ (ones if filter_ is None else filter_(ones)), dtype=np.float64)[:, 0]
        rows = X[labelled] if filter_ is None else filter_.rows(X, labelled)
        rows = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64) - self.mean
        lengths = np.sqrt((rows**2).sum(axis=1))
        self.rows = rows / np.maximum(lengths, SMALLEST)[:, None]
        self.gram = self.rows @ self.rows.T
        self.lengths = self._lengths(random)
        self.lengths[labelled] = lengths
        self.lengths = np.maximum(self.lengths, 1e-3 * self.lengths.mean() + SMALLEST)

    def _lengths(self, random: np.random.Generator) -> npt.NDArray[np.float64]:
        """Estimate the lengths of the centred rows by random projections."""
        squares = np.zeros(self.X.shape[0])
        for block in blocks(PROJECTIONS, self.X.shape[0]):
            signs = random.integers(0, 2, (len(self.mean), block.stop - block.start)).astype(np.float32) * 2 - 1
            squares += (self._apply(signs) ** 2).sum(axis=1)
        return np.asarray(np.sqrt(squares / PROJECTIONS))

    def _apply(self, weights: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return the centred rows of all nodes times ``weights``."""
        values = np.asarray(self.X @ weights, dtype=np.float32)
        if self.filter is not None:
            values = self.filter(values)
        return np.asarray(values, dtype=np.float64) - self.mean @ weights

    def scores(self, dual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return self._apply(self.rows.T @ dual) / self.lengths[:, None]

    def classify(self, codes: Codes, n_classes: int, fit: Regression) -> npt.NDArray[np.float32]:
        """Classify by softmax regression."""
        from planetoid.training.softmax_regression import fit_softmax, with_first_class

        values, vectors = self._spectrum
        kept = values > 1e-6 * max(values[-1], SMALLEST)
        roots = np.sqrt(values[kept])
        sharpness = max(1.0, SHARPNESS * n_classes**2 / len(codes))  # among many classes, each label has to count more
        fitted = fit_softmax(vectors[:, kept] * roots, codes, n_classes, sharpness / fit.noise)
        scores = with_first_class(self.scores(vectors[:, kept] / roots @ fitted.coef.T) + fitted.intercept)
        return np.asarray(softmax(scores, axis=1), dtype=np.float32)


class GraphView(View):
    """The kernel of label spreading, ``sum_k (1 - a)^k A_hat^k``, centred: how often walks between nodes meet."""

    def __init__(self, adjacency: sparse.csr_array, labelled: npt.NDArray[np.int64]) -> None:
        self.adjacency, self.labelled = adjacency, labelled
        self.steps = normalized_adjacency(adjacency)
        n = adjacency.shape[0]
        self.mean = self._spread(np.full((n, 1), 1.0 / n, np.float32))[:, 0]
        self.gram = np.empty((len(labelled), len(labelled)))
        for block in blocks(len(labelled), n):
            indicator = np.zeros((n, block.stop - block.start), np.float32)
            indicator[labelled[block], np.arange(indicator.shape[1])] = 1.0
            self.gram[:, block] = self._spread(indicator)[labelled]
        of_labelled = self.mean[labelled]
        self.gram += self.mean.mean() - of_labelled[:, None] - of_labelled[None]

    def _spread(self, values: Matrix) -> npt.NDArray[np.float64]:
        total, power = values.astype(np.float32), values
        for _ in range(SPREAD_STEPS):
            power = np.float32(1 - SPREAD_RESTART) * (self.steps @ power)
            total = total + power
        return np.asarray(total, dtype=np.float64)

    def scores(self, dual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        placed = np.zeros((len(self.mean), dual.shape[1]), np.float32)
        placed[self.labelled] = dual
        spread = self._spread(placed)
        total = dual.sum(axis=0)
        return np.asarray(spread - spread.mean(axis=0) - np.outer(self.mean, total) + self.mean.mean() * total)

    def classify(self, codes: Codes, n_classes: int, fit: Regression) -> npt.NDArray[np.float32]:
        """Classify by the regression and by label propagation, which is better where labels are very few."""
        scores = self.scores(fit.dual)
        scores /= max(float(scores.std()), SMALLEST)
        least = 1.0 / n_classes
        regressed = sharpened(softmax(scores, axis=1), max(fit.accuracy, least + 0.5 * (1.0 - least)))
        propagated = sharpened(self._propagated(codes, n_classes), float(regressed.max(axis=1).mean()))
        return geometric_mean(regressed, propagated, self._share_of_propagation(codes, n_classes, fit.noise))

    def _share_of_propagation(self, codes: Codes, n_classes: int, noise: float) -> float:
        """Return the weight of label propagation: half, and less where it is worse at labels that both do not see."""
        hidden = second_labels(codes)
        if not hidden.any():
            return 0.5
        propagated = self._propagated(codes, n_classes, hidden)[self.labelled[hidden]]
        inner = self.gram[np.ix_(~hidden, ~hidden)] + noise * self._scale * np.eye(int((~hidden).sum()))
        targets = np.eye(n_classes)[codes[~hidden]]
        regressed = self.gram[np.ix_(hidden, ~hidden)] @ np.linalg.solve(inner, targets - targets.mean(axis=0))
        one, other = (int((found.argmax(axis=1) == codes[hidden]).sum()) for found in (propagated, regressed))
        return 0.5 * min(1.0, (one + FEW_LABELS) / (other + FEW_LABELS)) ** SECOND_POWER

    def _propagated(
        self, codes: Codes, n_classes: int, hidden: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return what label propagation says, without the labels that are hidden."""
        from planetoid.baselines.label_propagation import LabelPropagation

        y = np.full(len(self.mean), -1)
        y[self.labelled] = codes
        if hidden is not None:
            y[self.labelled[hidden]] = -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanetoidWarning)  # nodes out of reach
            return (
                LabelPropagation(calibrate=False)
                .fit(None, y, graph=self.adjacency)
                .label_distributions_.astype(np.float32)
            )


def new_view(name: str, evidence: Evidence, labelled: npt.NDArray[np.int64], random: np.random.Generator) -> View:
    """Return a view of the evidence."""
    if name == "features":
        assert evidence.X is not None
        return FeatureView(evidence.X, None, labelled, random)
    assert evidence.adjacency is not None
    if name == "graph":
        return GraphView(evidence.adjacency, labelled)
    assert evidence.X is not None
    filter_ = Filter(normalized_adjacency(evidence.adjacency), "ssgc", STEPS, OWN_SHARE)
    return FeatureView(evidence.X, filter_, labelled, random)


class Regression(NamedTuple):
    """Ridge regression on the labelled rows of a view."""

    noise: float
    dual: npt.NDArray[np.float64]  # weights of the labelled rows
    left_out: npt.NDArray[np.float64]  # scores of each labelled node, from the others
    accuracy: float  # of these, where the class has another label


class Verdict(NamedTuple):
    """What speaks for a view."""

    agreement: float  # of two halves of the evidence: 1 is perfect, 0 is chance
    leave_one_out: float  # accuracy on the labelled nodes, scaled likewise
    reliability: float  # both together


class Teacher(NamedTuple):
    """What the evidence says."""

    view: str  # the most reliable one
    probabilities: npt.NDArray[np.float32]  # by that view
    accuracy: float  # of that view, on labelled nodes that are left out
    second_opinions: npt.NDArray[np.float32]  # log-probabilities by the other views, weighted by their reliability
    verdicts: dict[str, Verdict]


def most_labelled(n_nodes: int, n_classes: int) -> int:
    """Return how many labelled nodes a view learns from at most, which depends on the size of the graph.

    >>> most_labelled(20_000, 3), most_labelled(4_000_000, 5)
    (1000, 50)
    """
    return max(FEWEST_PER_CLASS * n_classes, min(MOST_LABELLED, MOST_ENTRIES // max(1, n_nodes)))


def ask_views(
    evidence: Evidence,
    labelled: npt.NDArray[np.int64],
    codes: Codes,
    n_classes: int,
    *,
    names: Sequence[str] = VIEWS,
    seed: int = 0,
) -> Teacher:
    """Classify all nodes by the view that two halves of the evidence agree about most, and that the labels bear out.

    The other views give a second opinion, which counts as far as they are almost as reliable.
    """
    names = [name for name in evidence.views() if name in names]
    random = np.random.default_rng([seed, 1])
    views = {name: new_view(name, evidence, labelled, random) for name in names}
    targets = np.eye(n_classes)[codes]
    often = np.bincount(codes, minlength=n_classes)[codes] > 1  # in a class with another label
    fits = {name: view.regression(targets) for name, view in views.items()}
    verdicts = {}
    if len(names) > 1:
        unlabelled = np.ones(evidence.n_nodes, bool)
        unlabelled[labelled] = False
        halves = evidence.halves(random)
        reached = unlabelled & halves[0].reached(labelled) & halves[1].reached(labelled)
        for name in names:
            predicted = []
            for half in halves:
                view = new_view(name, half, labelled, random)
                predicted.append(view.scores(view.regression(targets).dual).argmax(axis=1))
            agreement = _agreement(predicted[0], predicted[1], (unlabelled, reached), n_classes)
            left_out = kappa(fits[name].left_out.argmax(axis=1)[often], codes[often], n_classes)
            reliability = agreement + left_out * int(often.sum()) / LABELS_THAT_COUNT
            verdicts[name] = Verdict(agreement, left_out, reliability)
    reliable = {name: max(verdicts[name].reliability, LEAST_RELIABILITY) for name in verdicts} or {names[0]: 1.0}
    best = _most_reliable(reliable, "graph" if evidence.n_nodes >= ENOUGH_NODES else "neighbourhood")
    probabilities = views[best].classify(codes, n_classes, fits[best])
    others = np.zeros_like(probabilities)
    for name in reliable:
        weight = min(1.0, (reliable[name] + CHANCE) / (reliable[best] + CHANCE)) ** SECOND_POWER
        if name != best and weight > LEAST_WEIGHT and reliable[name] > TIE:
            opinion = sharpened(views[name].classify(codes, n_classes, fits[name]), SECOND_CONFIDENCE)
            others += np.float32(weight) * np.log(np.maximum(opinion, np.float32(LEAST_PROBABILITY)))
    return Teacher(best, probabilities, fits[best].accuracy, others, verdicts)


def _agreement(one: Codes, other: Codes, groups: Sequence[npt.NDArray[np.bool_]], n_classes: int) -> float:
    """Return the mean agreement over groups of nodes that are not empty."""
    found = [kappa(one[group], other[group], n_classes) for group in groups if group.any()]
    return sum(found) / max(1, len(found))


def _most_reliable(reliable: dict[str, float], otherwise: str) -> str:
    """Return the best view, or the view ``otherwise`` if it is as good.

    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.38, "graph": 0.3}, "graph")
    'neighbourhood'
    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.05, "graph": 0.04}, "graph")
    'graph'
    """
    best = max(reliable, key=lambda name: reliable[name])
    return otherwise if reliable.get(otherwise, -1.0) > reliable[best] - TIE else best


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


def geometric_mean(one: Matrix, other: Matrix, share: float) -> Matrix:
    """Return probabilities between two opinions; ``share`` is the weight of the other.

    >>> geometric_mean(np.array([[0.5, 0.5]]), np.array([[0.1, 0.9]]), 0.5).round(2).tolist()
    [[0.25, 0.75]]
    """
    logs = ((1.0 - share) * np.log(np.maximum(one, SMALLEST)), share * np.log(np.maximum(other, SMALLEST)))
    return np.asarray(softmax(logs[0] + logs[1], axis=1), dtype=np.float32)


def kappa(one: Codes, other: Codes, n_classes: int) -> float:
    """Return how often two labellings agree, scaled so that 1 is always and 0 is as often as by chance (Cohen)."""
    if len(one) == 0:
        return 0.0
    shares = [np.bincount(codes, minlength=n_classes) / len(codes) for codes in (one, other)]
    chance = float(shares[0] @ shares[1])
    return float(((one == other).mean() - chance) / max(1.0 - chance, 1e-9))


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
        low, high = (power, high) if softmax(power * some, axis=1).max(axis=1).mean() < confidence else (low, power)
    return np.asarray(softmax(power * logs, axis=1), dtype=np.float32)
