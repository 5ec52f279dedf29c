"""``Student``: labels rows by their features alone, distilled from a fitted model.

The model needs the neighbourhood of a node; a new row has none. The student is the same network without contexts,
trained on what the model predicts for every fitted node (:func:`distil`), pooled with a ridge regression of the same
predictions on the features, which errs elsewhere: it counts where there are many features for the rows. It labels new
rows, and the contexts of the fitted nodes, whose predictions are averaged. A new row that equals a fitted one gets that
node's own prediction (the mean, where there are several).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import Rows
from planetoid.io.model_files import Tensors
from planetoid.models.inputs import keeping_few
from planetoid.models.opinions import to_probabilities
from planetoid.training.settings import Consistency
from planetoid.utils.progress import progress

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

Matrix = npt.NDArray[np.float32]

__all__ = ["DistilledLayers", "Student", "class_probabilities", "distil"]

PLAN = Consistency(
    steps=300, n_labelled=100, n_unlabelled=200, weight=10.0, warmup=0, temperature=0.5, confidence=0.0, alignment=0.0,
    teaching=10**9, learning_rate=0.01, dropout=0.5, feature_dropout=0.5,
)  # fmt: skip
# With many rows for few features there is more to learn and less to overfit: more and smaller steps, less dropout.
MANY_ROWS = replace(PLAN, steps=1000, n_labelled=50, n_unlabelled=100, feature_dropout=0.3)
MANY = 10_000  # rows; with fewer, training is between the two plans
ENOUGH_FEATURES = 2.0  # with at least rows / this, features are not few
SMALLEST = np.float32(1e-30)
WEIGHT_DECAY, MANY_CLASSES = 1e-3, 0.05  # the weight decay, and what it is at most, times classes^2
UNITS, MOST_UNITS = 64, 256  # of the hidden layer: two for each class, between these
RIDGE_SHARE = 0.5  # of the ridge regression in the geometric mean with the network, at most: if features are enough
RIDGE_PENALTY, RIDGE_STEPS = 2.0, 20  # of its squared weights, where rows have length 1; of conjugate gradients
LEAST_PROBABILITY = 1e-4  # whose logarithm the regression still learns


class DistilledLayers(NamedTuple):
    """A network of two layers, and weights that lead from the features to the classes directly.

    The scores of a row x are ``relu(x W1 + b1) W2 + b2 + x direct``.
    """

    W1: Matrix  # (feature, unit)
    b1: Matrix
    W2: Matrix  # (unit, class)
    b2: Matrix
    direct: Matrix  # (feature, class)

    def tensors(self, name: str) -> Tensors:
        """Return the parameters by their names after that of the network."""
        return {f"{name}.{part}": value for part, value in self._asdict().items()}

    @classmethod
    def of_tensors(cls, tensors: Tensors, name: str) -> DistilledLayers:
        """Restore what :meth:`tensors` returned."""
        W1, b1, W2, b2 = (tensors[f"{name}.{part}"] for part in ("W1", "b1", "W2", "b2"))
        direct = tensors.get(f"{name}.direct")  # models of before have none
        return cls(W1, b1, W2, b2, np.zeros((len(W1), len(b2)), np.float32) if direct is None else direct)


def distil(
    X: Rows,
    probabilities: npt.NDArray[np.floating],
    labelled: npt.NDArray[np.int64],
    codes: npt.NDArray[np.integer],
    *,
    seed: int,
    effort: float = 1.0,
    n_threads: int = 1,
    verbose: int = 0,
) -> DistilledLayers:
    """Learn from rows X to predict what a model predicts for them, and the labels that are known.

    ``effort`` is the share of the usual training steps.
    """
    from planetoid.engine.arrays import GraphArrays
    from planetoid.engine.consistency import Examples
    from planetoid.engine.neighbourhoods import Walks
    from planetoid.training.consistency_loss import ConsistencyLoss, feature_arrays, new_layers

    rows = sparse.csr_array(X)
    n, n_classes = probabilities.shape
    nothing = np.zeros(0, np.int32)
    graph = GraphArrays(np.zeros(n + 1, np.int32), nothing, np.zeros(0, np.float32), nothing)
    walks = Walks(np.uint64(seed % 2**64), graph, np.ones(n, np.float32), 1, 0, -np.inf)
    described = np.diff(rows.indptr) > 0
    unlabelled = np.flatnonzero(described).astype(np.int32)
    with_label = described[labelled]
    examples = Examples(
        labelled[with_label].astype(np.int32),
        codes[with_label].astype(np.int32),
        unlabelled,
        np.ascontiguousarray(probabilities, np.float32),
        np.full(n_classes, 1 / n_classes, np.float32),
        np.ones(n_classes, np.float32),
    )
    layers = new_layers(rows.shape[1], max(UNITS, min(MOST_UNITS, 2 * n_classes)), n_classes, seed)
    wide = min(1.0, ENOUGH_FEATURES * rows.shape[1] / max(1, len(unlabelled)))
    if len(examples.labelled) and len(unlabelled):
        plan = _plan((1 - wide) * min(1.0, len(unlabelled) / MANY), n_classes)
        plan = replace(keeping_few(plan, rows.shape[1]), steps=round(effort * plan.steps))
        loss = ConsistencyLoss(layers, feature_arrays(rows), walks, examples, plan, n_threads=n_threads)
        with progress("student", plan.steps, verbose) as advance:
            for step in range(plan.steps):
                loss.step(step)
                advance(1)
        layers = loss.whole_layers()
    regressed, intercept = _ridge(rows, probabilities)
    share = np.float32(RIDGE_SHARE * wide)
    return DistilledLayers(
        layers.W1, layers.b1, (1 - share) * layers.W2, (1 - share) * layers.b2 + share * intercept, share * regressed
    )


def _plan(many: float, n_classes: int) -> Consistency:
    """Return how to train with many rows for few features (1), with few rows or enough features (0), or in between.

    >>> [(plan.steps, plan.n_unlabelled, plan.feature_dropout) for plan in (_plan(0.0, 3), _plan(0.5, 3))]
    [(300, 200, 0.5), (650, 150, 0.4)]
    """

    def between(name: str) -> float:
        return float((1 - many) * getattr(PLAN, name) + many * getattr(MANY_ROWS, name))

    return replace(
        PLAN,
        steps=round(between("steps")),
        n_labelled=round(between("n_labelled")),
        n_unlabelled=round(between("n_unlabelled")),
        feature_dropout=between("feature_dropout"),
        weight_decay=min(WEIGHT_DECAY, MANY_CLASSES / n_classes**2),
    )


def _ridge(rows: sparse.csr_array, probabilities: npt.NDArray[np.floating]) -> tuple[Matrix, Matrix]:
    """Return weights and intercept of a ridge regression of log-probabilities on rows, by conjugate gradients.

    The intercept is the mean over rows that have features; columns are not centred, so that they stay sparse.
    """
    described = np.diff(rows.indptr) > 0
    if not described.any():
        n_features, n_classes = rows.shape[1], probabilities.shape[1]
        return np.zeros((n_features, n_classes), np.float32), np.zeros(n_classes, np.float32)
    logs = np.log(np.maximum(probabilities[described], LEAST_PROBABILITY)).astype(np.float32)
    logs -= logs.mean(axis=1, keepdims=True)
    intercept = logs.mean(axis=0)
    rows = rows[described]
    transposed = sparse.csr_array(rows.T)
    residual = np.asarray(transposed @ (logs - intercept))
    weights, direction = np.zeros_like(residual), residual
    squares = (residual**2).sum(axis=0)
    for _ in range(RIDGE_STEPS):
        product = transposed @ (rows @ direction) + np.float32(RIDGE_PENALTY) * direction
        step = squares / np.maximum((direction * product).sum(axis=0), SMALLEST)
        weights = weights + step * direction
        residual = residual - step * product
        before, squares = squares, (residual**2).sum(axis=0)
        direction = residual + squares / np.maximum(before, SMALLEST) * direction
    return weights, intercept


def class_probabilities(layers: DistilledLayers, X: Rows) -> Matrix:
    """Return the class probabilities that are distilled for rows."""
    rows = _as_sparse(X)
    hidden = rows @ layers.W1
    hidden += layers.b1
    scores = np.maximum(hidden, 0, out=hidden) @ layers.W2
    scores += layers.b2
    scores += rows @ layers.direct
    return to_probabilities(scores).astype(np.float32, copy=False)


class Student(NamedTuple):
    """A network on features, and the fitted rows that it knows."""

    layers: DistilledLayers
    keys: npt.NDArray[np.float64]  # (known row): what tells rows apart, sorted
    nodes: npt.NDArray[np.int64]  # (known row): a fitted node that has it
    known: npt.NDArray[np.float32]  # (known row, class): the mean prediction of all fitted nodes that have it

    @classmethod
    def of(cls, layers: DistilledLayers, X: Rows, probabilities: npt.NDArray[np.floating]) -> Student:
        """Return a student that knows what the model predicts for rows X."""
        rows = sparse.csr_array(X)
        described = np.flatnonzero(np.diff(rows.indptr))
        keys, first, which, count = np.unique(
            _keys(rows[described]), return_index=True, return_inverse=True, return_counts=True
        )
        known = np.zeros((len(keys), probabilities.shape[1]))
        np.add.at(known, which, probabilities[described])
        return cls(layers, keys, described[first].astype(np.int64), (known / count[:, None]).astype(np.float32))

    def predict(self, X: Rows, row_normalize: str | None = None) -> npt.NDArray[np.float32]:
        """Return class probabilities of rows, which are scaled before if they are not yet."""
        from planetoid.engine.feature_network import NORMS, label_rows

        rows, (n_units, n_classes) = _as_sparse(X), self.layers.W2.shape
        found, hidden = np.empty((rows.shape[0], n_classes), np.float32), np.empty(n_units, np.float32)
        label_rows(
            *_arrays(rows), NORMS[row_normalize], _column_keys(rows.shape[1]), self.keys, self.known, *self.layers,
            hidden, found,
        )  # fmt: skip
        return found

    def write_scores(self, operators: Operators, rows: Value, bias: npt.NDArray[np.float32]) -> Value:
        """Describe the scores of the network, with the bias of each class, for an export without known rows."""
        hidden = operators.activation(operators.linear(rows, self.layers.W1, self.layers.b1), "relu")
        of_network = operators.linear(hidden, self.layers.W2, self.layers.b2 + bias)
        return operators.sum(of_network, operators.linear(rows, self.layers.direct))

    def tensors(self, *, shared: bool) -> Tensors:
        """Return everything as arrays, but for layers that are ``shared`` with the network of the contexts."""
        known = {f"student.{name}": getattr(self, name) for name in ("keys", "nodes", "known")}
        return known if shared else self.layers.tensors("student") | known

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> Student:
        """Restore what :meth:`tensors` returned."""
        layers = DistilledLayers.of_tensors(tensors, "student" if "student.W1" in tensors else "distilled")
        return cls(layers, *(tensors[f"student.{name}"] for name in ("keys", "nodes", "known")))

    def known_rows(self, X: Rows) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which rows equal a fitted one, and the numbers of these among the known rows."""
        rows = _as_sparse(X)
        if len(self.keys) == 0:
            return np.zeros(rows.shape[0], bool), np.empty(0, np.int64)
        keys = _keys(rows)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        same = (self.keys[at] == keys) & (np.diff(rows.indptr) > 0)
        return same, at[same]


def _as_sparse(X: Rows) -> sparse.csr_array:
    return X if isinstance(X, sparse.csr_array) else sparse.csr_array(X)


def _keys(rows: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Return a number for each row: the same for equal rows, and for others with a probability of about 1e-15."""
    from planetoid.engine.feature_network import row_keys

    keys = np.empty(rows.shape[0])
    row_keys(*_arrays(rows), _column_keys(rows.shape[1]), keys)
    return keys


def _arrays(
    rows: sparse.csr_array,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the arrays of rows in the types of the compiled code, which distinguishes arrays that are read-only."""
    rows.sort_indices()
    indices, data = rows.indices, rows.data
    if indices.dtype != np.int32 or not indices.flags.writeable:
        indices = indices.astype(np.int32)
    if data.dtype != np.float32 or not data.flags.writeable:
        data = data.astype(np.float32)
    return rows.indptr.astype(np.int64), indices, data


@lru_cache(maxsize=8)
def _column_keys(n_columns: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(0).random(n_columns) + 0.5
