"""The data of a fit, saved with the model as long as that is cheap, so that a loaded model can explain itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import DataError
from planetoid.graph import Graph
from planetoid.graph.build import Adjacency, BuildSummary
from planetoid.io.model_files import Tensors
from planetoid.labels import mask_labels
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    from planetoid.ids import NodeIds

__all__ = ["MOST_BYTES", "data_tensors", "is_small", "restored_data"]

MOST_BYTES = 2**25  # of data that is saved with a model: 32 MB
PREFIX = "data."


def data_tensors(data: Dataset) -> Tensors:
    """Return labels, edges and features as arrays; node ids and names of features are saved with the model anyway."""
    graph = data.graph
    tensors: Tensors = {"y": data.y, "indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        tensors["weights"] = graph.weights
    if data.Y is not None:
        labels = mask_labels(data.Y, data.labelled)  # validation labels are not learned from
        tensors |= {"Y.indptr": labels.indptr, "Y.indices": labels.indices}
    tensors["directed"] = np.array([graph.directed], dtype=np.uint8)
    if isinstance(data.X, np.ndarray):
        tensors["X"] = data.X
    elif data.X is not None:
        tensors |= {f"X.{name}": getattr(data.X, name) for name in ("data", "indices", "indptr")}
        tensors["X.columns"] = np.array([data.X.shape[1]], dtype=np.int64)
    return {PREFIX + name: np.ascontiguousarray(value) for name, value in tensors.items()}


def is_small(data: Dataset) -> bool:
    """Return whether data may be saved with a model."""
    X = data.X
    of_features: list[npt.NDArray[Any]] = []
    if X is not None:
        of_features = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    of_sets = [] if data.Y is None else [data.Y.indptr, data.Y.indices]
    parts = [data.y, *of_sets, data.graph.indptr, data.graph.indices, data.graph.weights, *of_features]
    return bool(sum(part.nbytes for part in parts if part is not None) <= MOST_BYTES)


def restored_data(tensors: Tensors, ids: NodeIds, classes: npt.NDArray[Any]) -> Dataset | None:
    """Take the arrays of :func:`data_tensors` out of ``tensors``; ``None`` if the model was saved without data."""
    own = {name: tensors.pop(name) for name in [name for name in tensors if name.startswith(PREFIX)]}
    parts = {name.removeprefix(PREFIX): value for name, value in own.items()}
    if not parts:
        return None
    n = len(ids)
    if len(parts["y"]) != n:
        raise DataError("the model is damaged: its data does not fit its nodes")
    weights = parts.get("weights")
    ones = np.ones(len(parts["indices"]), np.float32) if weights is None else weights
    matrix = sparse.csr_array((ones, parts["indices"], parts["indptr"]), shape=(n, n))
    check_sparse_format(matrix)
    directed = bool(parts["directed"][0])
    n_loops = int(np.count_nonzero(matrix.diagonal()))
    n_edges = len(parts["indices"]) if directed else (len(parts["indices"]) + n_loops) // 2
    summary = BuildSummary(n_edges, n_edges, directed)
    graph = Graph(Adjacency(parts["indptr"], parts["indices"], weights, n_loops, summary), ids)
    return Dataset("fitted", graph, _features(parts, n), parts["y"], classes, Y=_label_sets(parts, n, len(classes)))


def _label_sets(parts: Tensors, n_nodes: int, n_classes: int) -> sparse.csr_array | None:
    if "Y.indptr" not in parts:
        return None
    entries = np.ones(len(parts["Y.indices"]), dtype=bool), parts["Y.indices"], parts["Y.indptr"]
    Y = sparse.csr_array(entries, shape=(n_nodes, n_classes))
    check_sparse_format(Y)
    return Y


def _features(parts: Tensors, n_nodes: int) -> Features | None:
    if "X" in parts:
        return np.asarray(parts["X"], dtype=np.float32)
    if "X.data" not in parts:
        return None
    arrays = tuple(parts[f"X.{name}"] for name in ("data", "indices", "indptr"))
    X = sparse.csr_array(arrays, shape=(n_nodes, int(parts["X.columns"][0])))
    check_sparse_format(X)
    return X
