"""Views of nodes, and classifiers on them.

A *view* turns every node i into a row Z_i:

- ``"features"``: its own features, X_i;
- ``"neighbourhood"``: the features around it, (S X)_i;
- ``"graph"``: where it is in the graph, by the kernel of label spreading;
- ``"hops"``: its own features beside those one and two steps away (:mod:`planetoid.models.hops`),

with a filter S, a mean over powers of the normalised adjacency matrix (:class:`~planetoid.engine.filters.Filter`). Rows
are centred and scaled to unit length. Such powers also tell nodes of high degree from others, all the more the higher
the power: that part is removed (:func:`~planetoid.graph.adjacency.leading_vector`), or two halves of the edges would
agree about degrees, whatever the classes are.

A classifier on a view is linear in the rows of the labelled nodes, so it takes one small dense system and one
propagation of n x classes numbers, in a fraction of a second.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import Rows
from planetoid.engine.filters import Filter, GraphMatrix, add_powers, column_blocks
from planetoid.errors import PlanetoidWarning
from planetoid.graph.adjacency import leading_vector, normalized_adjacency
from planetoid.models.opinions import (
    FEW_LABELS,
    SECOND_POWER,
    Codes,
    geometric_mean,
    second_labels,
    sharpened,
    to_probabilities,
)

__all__ = ["ALL_VIEWS", "OF_OWN_ROWS", "OWN_SHARE", "STEPS", "VIEWS", "FeatureView", "GraphView", "Regression", "View"]

VIEWS = ("features", "neighbourhood", "graph")
ALL_VIEWS = (*VIEWS, "hops")
OF_OWN_ROWS = ("features", "hops")  # views by which the only context of a node is the node itself

STEPS, OWN_SHARE = 16, 0.05  # of the filter S
SPREAD_STEPS, SPREAD_RESTART = 64, 0.02  # of the kernel of the graph
SHARPNESS = 3.0  # of softmax regression: its C for the noise 1 is so many times classes^2 / labels, and at least 1
PROJECTIONS = 32  # that estimate the length of rows
NOISES = (1.0, 0.3, 3.0, 0.1, 10.0, 0.03)  # variances of a label, in units of a row's squared length, to choose from
SMALLEST = 1e-12
ROUNDING = 1e-9

Matrix = npt.NDArray[np.float32]


class Regression(NamedTuple):
    """Ridge regression on the labelled rows of a view."""

    noise: float
    dual: npt.NDArray[np.float64]  # weights of the labelled rows
    left_out: npt.NDArray[np.float64]  # scores of each labelled node, from the others
    accuracy: float  # of these, where the class has another label


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
            scores[np.abs(scores) < ROUNDING] = 0.0  # of rows that say nothing, the sign would be that of the label
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
    """Products of rows, centred and scaled to unit length: X itself, or S X with the filter S of a graph.

    X is centred before it is filtered, with the mean that leaves nothing along the leading vector of the graph, and
    once more after that. Rows are held for the labelled nodes, never for all.

    Parameters
    ----------
    X : array or csr_array
    adjacency : csr_array or None
        Symmetric.
    labelled : array
        Row numbers of the labelled nodes.
    random : Generator
        For the projections that estimate the lengths of the other rows; a length scales the scores of its own node, and
        never changes their order.
    n_threads : int or None
        Of compiled products; None: of scipy.
    """

    def __init__(
        self,
        X: Rows,
        adjacency: sparse.csr_array | None,
        labelled: npt.NDArray[np.int64],
        random: np.random.Generator,
        n_threads: int | None = None,
    ) -> None:
        self.X, self.filter = X, None
        ones = np.ones((X.shape[0], 1), np.float32)
        self.filtered_ones, weight = ones.astype(np.float64), ones / X.shape[0]
        if adjacency is not None:
            self.filter = Filter(normalized_adjacency(adjacency), "ssgc", STEPS, OWN_SHARE, n_threads)
            self.filtered_ones, weight = self.filter(ones).astype(np.float64), leading_vector(adjacency)[:, None]
            weight = (weight / weight.sum()).astype(np.float32)
        self.mean = np.asarray(X.T @ weight, dtype=np.float64)[:, 0]
        of_filtered = np.asarray(X.T @ (self.filtered_ones / X.shape[0]).astype(np.float32), dtype=np.float64)[:, 0]
        self.rest = of_filtered - self.filtered_ones.mean() * self.mean
        rows = X[labelled] if self.filter is None else self.filter.rows(X, labelled)
        # In place, for there may be very many columns.
        self.rows = np.array(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64, order="C")
        del rows
        self.rows -= self.filtered_ones[labelled] * self.mean
        self.rows -= self.rest
        lengths = np.sqrt([float((row**2).sum()) for row in self.rows])
        self.rows /= np.maximum(lengths, SMALLEST)[:, None]
        self.gram = self.rows @ self.rows.T
        self.lengths = self._lengths(random)
        self.lengths[labelled] = lengths
        self.lengths = np.maximum(self.lengths, 1e-3 * self.lengths.mean() + SMALLEST)

    def _lengths(self, random: np.random.Generator) -> npt.NDArray[np.float64]:
        """Estimate the lengths of the centred rows by random projections."""
        squares = np.zeros(self.X.shape[0])
        for block in column_blocks(PROJECTIONS, self.X.shape[0]):
            signs = random.integers(0, 2, (len(self.mean), block.stop - block.start)).astype(np.float32) * 2 - 1
            squares += (self._apply(signs) ** 2).sum(axis=1)
        return np.asarray(np.sqrt(squares / PROJECTIONS))

    def _apply(self, weights: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return the centred rows of all nodes times ``weights``."""
        values = np.asarray(self.X @ weights, dtype=np.float32)
        if self.filter is not None:
            values = self.filter(values)
        found = values.astype(np.float64)
        found -= self.filtered_ones * (self.mean @ weights)
        found -= self.rest @ weights
        return found

    def scores(self, dual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        found = self._apply(self.rows.T @ dual)
        found /= self.lengths[:, None]
        return found

    def classify(self, codes: Codes, n_classes: int, fit: Regression) -> npt.NDArray[np.float32]:
        """Classify by softmax regression."""
        from planetoid.training.softmax_regression import fit_softmax, with_first_class

        values, vectors = self._spectrum
        kept = values > 1e-6 * max(values[-1], SMALLEST)
        roots = np.sqrt(values[kept])
        sharpness = max(1.0, SHARPNESS * n_classes**2 / len(codes))  # among many classes, each label has to count more
        fitted = fit_softmax(vectors[:, kept] * roots, codes, n_classes, sharpness / fit.noise)
        scores = self.scores(vectors[:, kept] / roots @ fitted.coef.T)
        scores += fitted.intercept
        return to_probabilities(with_first_class(scores)).astype(np.float32)


class GraphView(View):
    """The kernel of label spreading, ``sum_k (1 - a)^k A_hat^k``, centred: how often walks between nodes meet."""

    def __init__(
        self, adjacency: sparse.csr_array, labelled: npt.NDArray[np.int64], n_threads: int | None = None
    ) -> None:
        self.adjacency, self.labelled, self.n_threads = adjacency, labelled, n_threads
        self.kernel = GraphMatrix(normalized_adjacency(adjacency), self._spread)
        n = adjacency.shape[0]
        self.mean = self.kernel.times(np.full((n, 1), 1.0 / n, np.float32))[:, 0].astype(np.float64)
        of_labelled = self.mean[labelled]
        self.gram = np.empty((len(labelled), len(labelled)))
        for block in column_blocks(len(labelled), n):
            self.gram[:, block] = self.kernel.between(labelled, np.eye(len(labelled), dtype=np.float32)[:, block])
        self.gram += self.mean.mean() - of_labelled[:, None] - of_labelled[None]

    def _spread(self, matrix: sparse.csr_array, values: Matrix) -> Matrix:
        total: Matrix = values.copy()
        add_powers(matrix, values, SPREAD_STEPS, total, scale=1 - SPREAD_RESTART, n_threads=self.n_threads)
        return total

    def scores(self, dual: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        spread = self.kernel.times_rows(self.labelled, dual.astype(np.float32)).astype(np.float64)
        total = dual.sum(axis=0)
        spread -= spread.mean(axis=0)
        spread -= np.outer(self.mean, total)
        spread += self.mean.mean() * total
        return spread

    def classify(self, codes: Codes, n_classes: int, fit: Regression) -> npt.NDArray[np.float32]:
        """Classify by the regression and by label propagation, which is better where labels are very few."""
        scores = self.scores(fit.dual)
        scores /= max(float(scores.std()), SMALLEST)
        least = 1.0 / n_classes
        regressed = sharpened(to_probabilities(scores), max(fit.accuracy, least + 0.5 * (1.0 - least)))
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
