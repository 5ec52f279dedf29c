"""``Student``: labels rows by their features alone, distilled from a fitted model.

The model needs the neighbourhood of a node; a new row has none. The student is the same network without contexts,
trained on what the model predicts for every fitted node (:func:`distil`). It labels new rows, and the contexts of the
fitted nodes, whose predictions are averaged. A new row that equals a fitted one gets that node's own prediction (the
mean, where there are several).
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
from planetoid.models.opinions import to_probabilities
from planetoid.models.saved_layers import layers_of, tensors_of
from planetoid.training.settings import Consistency
from planetoid.utils.progress import progress

if TYPE_CHECKING:
    from planetoid.engine.consistency import Layers
    from planetoid.export.operators import Operators, Value

__all__ = ["Student", "class_probabilities", "distil"]

PLAN = Consistency(
    steps=300, n_labelled=100, n_unlabelled=200, weight=10.0, warmup=0, temperature=0.5, confidence=0.0, alignment=0.0,
    teaching=10**9, learning_rate=0.01, dropout=0.5, feature_dropout=0.5,
)  # fmt: skip
WEIGHT_DECAY, MANY_CLASSES = 1e-3, 0.05  # the weight decay, and what it is at most, times classes^2
UNITS, MOST_UNITS = 64, 256  # of the hidden layer: two for each class, between these


def distil(
    X: Rows,
    probabilities: npt.NDArray[np.floating],
    labelled: npt.NDArray[np.int64],
    codes: npt.NDArray[np.integer],
    *,
    seed: int,
    n_threads: int = 1,
    verbose: int = 0,
) -> Layers:
    """Train a network on rows X to predict what a model predicts for them, and the labels that are known."""
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
    if len(examples.labelled) and len(unlabelled):
        plan = replace(PLAN, weight_decay=min(WEIGHT_DECAY, MANY_CLASSES / n_classes**2))
        loss = ConsistencyLoss(layers, feature_arrays(rows), walks, examples, plan, n_threads=n_threads)
        with progress("student", PLAN.steps, verbose) as advance:
            for step in range(PLAN.steps):
                loss.step(step)
                advance(1)
        layers = loss.whole_layers()
    return layers


def class_probabilities(layers: Layers, X: Rows) -> npt.NDArray[np.float32]:
    """Return the class probabilities that a network on features gives to rows."""
    hidden = _as_sparse(X) @ layers.W1
    hidden += layers.b1
    scores = np.maximum(hidden, 0, out=hidden) @ layers.W2
    scores += layers.b2
    return to_probabilities(scores).astype(np.float32, copy=False)


class Student(NamedTuple):
    """A network on features, and the fitted rows that it knows."""

    layers: Layers
    keys: npt.NDArray[np.float64]  # (known row): what tells rows apart, sorted
    nodes: npt.NDArray[np.int64]  # (known row): a fitted node that has it
    known: npt.NDArray[np.float32]  # (known row, class): the mean prediction of all fitted nodes that have it

    @classmethod
    def of(cls, layers: Layers, X: Rows, probabilities: npt.NDArray[np.floating]) -> Student:
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
            *_arrays(rows), NORMS[row_normalize], _column_keys(rows.shape[1]), self.keys, self.known, self.layers,
            hidden, found,
        )  # fmt: skip
        return found

    def write_scores(self, operators: Operators, rows: Value) -> Value:
        """Describe the scores of the network for an export; known rows are not part of it."""
        hidden = operators.activation(operators.linear(rows, self.layers.W1, self.layers.b1), "relu")
        return operators.linear(hidden, self.layers.W2, self.layers.b2)

    def tensors(self, *, shared: bool) -> Tensors:
        """Return everything as arrays, but for layers that are ``shared`` with the network of the contexts."""
        known = {f"student.{name}": getattr(self, name) for name in ("keys", "nodes", "known")}
        return known if shared else tensors_of(self.layers, "student") | known

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> Student:
        """Restore what :meth:`tensors` returned."""
        layers = layers_of(tensors, "student" if "student.W1" in tensors else "distilled")
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
