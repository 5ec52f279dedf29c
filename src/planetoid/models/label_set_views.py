"""Several labels per node: what features, neighbourhoods, the graph and the labels around a node say about its labels.

Each view turns a node into a row of numbers, on which a logistic regression per class is fitted:

- ``"features"``: its own features;
- ``"neighbourhood"``: the features around it;
- ``"graph"``: its skip-gram embedding;
- ``"labels"``: the labels of its neighbours, and of theirs, without its own.

The log-odds of the views are added up with weights, the same for all classes, that make labels most likely which the
regressions have not learned from. What says nothing about the labels gets the weight 0, and the sum is calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit

from planetoid.data.scaling import Rows
from planetoid.engine.filters import Filter
from planetoid.graph.adjacency import mean_weight, normalized_adjacency, strengths
from planetoid.models.views import OWN_SHARE, STEPS
from planetoid.training.logistic_regression import FOLDS, LogisticRegressions, cross_fitted_logits, fit_logistic

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = [
    "INVERSE_PENALTY", "PRIOR_NEIGHBOURS", "SET_VIEWS", "Regressed", "Weighted", "block_length", "label_counts",
    "label_shares", "near_and_walk", "neighbourhood_filter", "propagated", "random_projection", "scaled_block",
    "smoothed_shares", "spread_features",
]  # fmt: skip

SET_VIEWS = ("features", "neighbourhood", "graph", "labels")
INVERSE_PENALTY = {"features": 10.0, "neighbourhood": 10.0, "graph": 10.0, "labels": 3.0}
MOST_COLUMNS = 512  # of features that are propagated; more are projected at random, which keeps their products
PRIOR_NEIGHBOURS = (
    1.0,
    1e-3,
)  # labelled ones of the class prior, beside those that a node has: near and two steps away
SMALLEST = 1e-12

Matrix = npt.NDArray[np.float64]
Row = npt.NDArray[np.int64]


class Weighted(NamedTuple):
    """Regressions of all views, and the weights of their log-odds."""

    regressions: dict[str, LogisticRegressions]
    weights: dict[str, float]
    shift: float

    def logits(self, by_view: Mapping[str, Matrix]) -> Matrix:
        """Return the log-odds of every class, from those by each view."""
        return np.asarray(sum(self.weights[name] * by_view[name] for name in self.weights) + self.shift)

    def probabilities(self, blocks: Mapping[str, Rows]) -> Matrix:
        """Return the probability of every class, from the rows of all views."""
        return np.asarray(expit(self.logits({name: self.regressions[name].logits(blocks[name]) for name in blocks})))

    def write_scores(self, operators: Operators, features: Value) -> Value:
        """Describe the log-odds of every class by features alone, for an export."""
        fitted, weight = self.regressions["features"], self.weights["features"]
        return operators.linear(features, weight * fitted.coef, weight * fitted.intercept + self.shift)


class Regressed(NamedTuple):
    """Regressions by view, and what they say about labelled rows that they have not learned from."""

    regressions: dict[str, LogisticRegressions]
    left_out: dict[str, Matrix]

    @classmethod
    def on(cls, blocks: dict[str, Rows], Y: sparse.csr_array) -> Regressed:
        """Fit the regressions on the labelled rows of each view."""
        folds = np.random.default_rng(0).permutation(Y.shape[0]) % FOLDS
        regressions, left_out = {}, {}
        for name, rows in blocks.items():
            C = INVERSE_PENALTY[name]
            regressions[name] = fit_logistic(rows, Y, C)
            left_out[name] = cross_fitted_logits(rows, Y, C, folds, regressions[name])
        return cls(regressions, left_out)

    def weighted(self, Y: sparse.csr_array, names: Sequence[str]) -> Weighted:
        """Weigh some of the views.

        >>> rng = np.random.default_rng(0)
        >>> Y = sparse.csr_array(rng.random((200, 3)) < 0.4)
        >>> blocks = {"features": rng.normal(size=(200, 3)), "graph": Y.toarray() + rng.normal(0, 0.2, (200, 3))}
        >>> found = Regressed.on(blocks, Y).weighted(Y, ["features", "graph"])
        >>> found.weights["features"] < 0.1 < found.weights["graph"]
        True
        """
        found = _weights([self.left_out[name] for name in names], Y.toarray().astype(np.float64))
        weights = dict(zip(names, found[:-1].tolist(), strict=True))
        return Weighted({name: self.regressions[name] for name in names}, weights, float(found[-1]))


def _weights(logits: list[Matrix], targets: Matrix) -> Matrix:
    """Return a weight for each table of logits, none negative, and a shift, by maximum likelihood."""
    from scipy.optimize import minimize

    usual = np.append(np.full(len(logits), 1 / len(logits)), 0.0)  # drawn there by as much as one node can say

    def loss(numbers: Matrix) -> tuple[float, Matrix]:
        scores = sum(weight * one for weight, one in zip(numbers, logits, strict=False)) + numbers[-1]
        rest = expit(scores) - targets
        gradient = np.array([*((rest * one).sum() for one in logits), rest.sum()])
        value = (np.logaddexp(0.0, scores) - targets * scores).sum() + 0.5 * ((numbers - usual) ** 2).sum()
        return float(value), gradient + numbers - usual

    bounds = [(0.0, None)] * len(logits) + [(None, None)]
    return np.asarray(minimize(loss, usual, jac=True, method="L-BFGS-B", bounds=bounds).x)


def label_shares(adjacency: sparse.csr_array, Y: sparse.csr_array) -> Matrix:
    """Return how many neighbours of a node have each label, and neighbours of neighbours, as shares of the labelled.

    A node's own labels do not count, so that labelled and unlabelled nodes see the same: labels of others. ``Y`` has
    empty rows for unlabelled nodes.

    >>> path = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32)
    >>> shares = label_shares(path, sparse.csr_array([[True, False], [False, False], [False, True]]))
    >>> (shares[0, 2:] < shares[2, 2:]).tolist()  # the first node sees the last two steps away, and the other way round
    [True, False]
    """
    counts, prior = label_counts(*near_and_walk(adjacency), Y)
    shares = [smoothed_shares(count, beside, prior) for count, beside in zip(counts, PRIOR_NEIGHBOURS, strict=True)]
    return np.hstack([scaled_block(one) for one in shares])


def label_counts(
    near: sparse.csr_array, walk: sparse.csr_array, Y: sparse.csr_array
) -> tuple[tuple[Matrix, Matrix], Matrix]:
    """Return how many nodes one step and two steps away have each label, and the share of the labelled that have it.

    The last column of a table is how many are labelled.
    """
    known = (np.diff(Y.indptr) > 0).astype(np.float64)[:, None]
    labels = np.hstack([Y.toarray(), known]).astype(np.float64)
    to_itself = np.asarray(walk.multiply(walk).sum(axis=1)).reshape(-1, 1)
    counts = (near @ labels / mean_weight(near), np.maximum(walk @ (walk @ labels) - to_itself * labels, 0.0))
    return counts, labels[:, :-1].sum(axis=0) / max(known.sum(), 1.0)


def smoothed_shares(count: Matrix, beside: float, prior: Matrix) -> Matrix:
    """Return counts as shares of the labelled, with some nodes of the class prior beside them."""
    return np.asarray((count[:, :-1] + beside * prior) / (count[:, -1:] + beside))


def near_and_walk(adjacency: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the edges without loops, and the symmetric matrix of a step of a walk along them."""
    near = sparse.csr_array(adjacency, dtype=np.float64)
    near.setdiag(0.0)
    near.eliminate_zeros()
    degrees = sparse.diags_array(1.0 / np.sqrt(np.maximum(strengths(near), SMALLEST)))
    return near, sparse.csr_array(degrees @ near @ degrees)


def scaled_block(rows: Matrix) -> Matrix:
    """Return rows centred, and scaled to the mean squared length 1."""
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred / _length(centred))


def block_length(rows: Matrix) -> float:
    """Return what :func:`scaled_block` divides centred rows by."""
    return _length(rows - rows.mean(axis=0))


def _length(centred: Matrix) -> float:
    return float(np.sqrt(max(float((centred**2).sum(axis=1).mean()), SMALLEST)))


def propagated(X: Rows, adjacency: sparse.csr_array, seed: int) -> npt.NDArray[np.float64]:
    """Return the features around each node, of at most ``MOST_COLUMNS`` columns."""
    return scaled_block(spread_features(X, adjacency, seed))


def spread_features(X: Rows, adjacency: sparse.csr_array, seed: int) -> npt.NDArray[np.float64]:
    """Return the features around each node before they are centred and scaled."""
    signs = random_projection(X.shape[1], seed)
    if signs is not None:
        rows = np.asarray(X @ signs)
    else:
        rows = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
    return np.asarray(neighbourhood_filter(adjacency)(rows), dtype=np.float64)


def random_projection(n_columns: int, seed: int) -> npt.NDArray[np.float32] | None:
    """Return the matrix that many columns are projected by, ``None`` if there are few."""
    if n_columns <= MOST_COLUMNS:
        return None
    signs = np.random.default_rng([seed, 2]).integers(0, 2, (n_columns, MOST_COLUMNS)) * 2 - 1
    return np.asarray((signs / np.sqrt(MOST_COLUMNS)).astype(np.float32))


def neighbourhood_filter(adjacency: sparse.csr_array) -> Filter:
    """Return by what features are propagated."""
    return Filter(normalized_adjacency(adjacency), "ssgc", STEPS, OWN_SHARE)
