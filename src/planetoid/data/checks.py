"""What a method is given: a graph, features and a few labels, checked and aligned.

``fit`` of every estimator hands its arguments to :func:`check_fit` before
any work starts, so that each mistake has one place and one message.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.graph import Graph
from planetoid.ids import NodeIds
from planetoid.labels import encode, encode_integers

__all__ = ["align_features", "check_features", "check_fit", "encode_labels"]


def check_fit(
    X: Any,
    y: Any,
    graph: Any,
    validation: Any = None,
    *,
    uses_features: str = "required",
    uses_graph: str = "required",
    who: str = "this method",
) -> Dataset:
    """Check and align the arguments of ``fit``.

    ``uses_features`` and ``uses_graph`` are ``"required"``, ``"optional"`` or
    ``"never"``; what is never used and given all the same is ignored, with a
    warning in the case of features.
    """
    if isinstance(X, Dataset):
        return _check_dataset(X, y, graph, validation, uses_features, uses_graph, who)
    if y is None:
        raise DataError(f"{who} requires y to be passed, but the target y is None: give the labels that are known")
    if graph is None and uses_graph == "required":
        raise DataError(f"{who} learns from a graph: pass graph=... (anything that Graph.of understands)")
    if X is None and uses_features == "required":
        raise DataError(f"{who} learns from features: X is None")
    if X is not None and uses_features == "never":
        warnings.warn(f"{who} does without features: X is ignored", PlanetoidWarning, stacklevel=4)
        X = None
    features, names, index = (None, None, None) if X is None else check_features(X)
    checked = _align_graph(graph, features, index, y, who)
    ids = checked.ids
    if features is not None:
        features = _align_rows(features, index, ids)
    codes, classes = encode_labels(y, ids)
    _check_classes(classes, who)
    held = None if validation is None else _encode_validation(validation, ids, classes)
    return Dataset("fitted", checked, features, codes, classes, held, names)


def _check_dataset(
    data: Dataset, y: Any, graph: Any, validation: Any, uses_features: str, uses_graph: str, who: str
) -> Dataset:
    """Return a data set with what the method uses, and the classes that its labels have."""
    for name, given in (("y", y), ("graph", graph), ("validation", validation)):
        if given is not None:
            raise DataError(f"fit(data) takes {name} from the data set; pass fit(data.X, y, graph=data.graph) instead")
    if data.X is None and uses_features == "required":
        raise DataError(f"{who} requires features, but {data.name} has none")
    if data.graph.n_edges == 0 and uses_graph == "required":
        raise DataError(f"{who} requires a graph, but {data.name} has no edges")
    occurring = np.unique(data.y[data.y >= 0])
    classes = data.classes[occurring]
    _check_classes(classes, who)
    renumber = np.full(data.n_classes + 1, -1, dtype=np.int32)
    renumber[occurring] = np.arange(len(occurring), dtype=np.int32)
    held = None
    if data.validation is not None:
        unknown = (data.validation >= 0) & (renumber[data.validation] < 0)
        if unknown.any():
            stray = data.classes[data.validation[unknown][0]]
            raise DataError(f"validation has the class {stray!r}, which no node in y has")
        held = renumber[data.validation]
    X, names = (None, None) if uses_features == "never" else (data.X, data.feature_names)
    if X is not None:
        X, _, _ = check_features(X)
    return Dataset(data.name, data.graph, X, renumber[data.y], classes, held, names)


def _check_classes(classes: npt.NDArray[Any], who: str) -> None:
    if len(classes) == 0:
        raise DataError(f"{who} needs labels: every entry of y is unlabelled (-1, None or NaN)")
    if len(classes) == 1:
        raise DataError(
            f"{who} needs at least two classes, but y has one class only: every label is {classes.tolist()[0]!r}"
        )


def check_features(X: Any) -> tuple[Features, npt.NDArray[Any] | None, Any]:
    """Return features as float32 (CSR or dense), column names and row ids where X has them."""
    names = index = None
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if hasattr(X, "columns") and hasattr(X, "index"):
        index = _row_ids(X)
        names = np.asarray([str(name) for name in X.columns], dtype=object)
        wrong = [str(name) for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "fiub"]
        if wrong:
            raise DataError(f"feature column {wrong[0]!r} is not numeric; encode it or leave it out")
        X = X.to_numpy(dtype=np.float32)
    if sparse.issparse(X):
        features: Features = sparse.csr_array(X, dtype=np.float32)
        if not features.has_canonical_format:
            features = features.copy()
            features.sum_duplicates()
        if not features.data.all():
            features = features.copy()
            features.eliminate_zeros()
        data = features.data
    else:
        try:
            given = np.asarray(X)
            if given.dtype.kind == "c":
                raise ValueError("Complex data not supported")
            features = data = given.astype(np.float32, copy=False)
        except (TypeError, ValueError) as error:
            raise DataError(f"features must be numbers: {error}") from None
    if features.ndim != 2:
        raise DataError(f"X has {features.ndim} dimension(s); it must have two, a row for each node. Reshape your data")
    finite = np.isfinite(data)
    if not finite.all():
        row, column = _place(features, finite)
        raise DataError(
            f"X has a NaN or an infinity in row {row}, column {column}; "
            "fill it, or make the row zero if it has no features"
        )
    return features, names, index


def encode_labels(y: Any, ids: NodeIds, name: str = "y") -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return a code for each node (-1: unlabelled) and the classes that the codes point to."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu" and y.shape == (len(ids),):
        return encode_integers(y)  # millions of nodes at once
    return encode(_label_column(y, ids, name))


def _align_graph(graph: Any, features: Features | None, index: Any, y: Any, who: str) -> Graph:
    n_rows = features.shape[0] if features is not None else None
    if n_rows is None and not isinstance(y, Mapping) and hasattr(y, "__len__"):
        n_rows = len(y)
    if graph is None:
        if index is not None:
            return Graph.without_edges(NodeIds(index))
        if n_rows is None:
            raise DataError(f"{who}: nothing tells how many nodes there are; give X, a graph, or y as an array")
        return Graph.without_edges(NodeIds(n_rows))
    given = Graph.of(graph)
    if index is None and n_rows is not None and n_rows > given.n_nodes and not isinstance(graph, Graph):
        # Bare edges of row numbers do not mention isolated nodes; the other arrays do.
        rows = given.node_ids
        if rows.dtype.kind in "iu" and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < n_rows)):
            given = given.with_nodes(n_rows)
    return given


def align_features(X: Any, ids: NodeIds) -> Features:
    """Return checked features with one row for each of ``ids``, in their order."""
    features, _, index = check_features(X)
    return _align_rows(features, index, ids)


def _align_rows(features: Features, index: Any, ids: NodeIds) -> Features:
    if index is not None:
        rows = NodeIds(index).rows(ids.to_numpy())
        unknown = len(index) - int((rows >= 0).sum())
        if unknown == len(index):
            raise DataError("no row of X has the id of a node in the graph: is the index of X the node id?")
        if unknown:
            warnings.warn(
                f"{unknown:,} rows of X belong to no node of the graph and are ignored", PlanetoidWarning, stacklevel=6
            )
        placed = np.zeros((len(ids), features.shape[1]), dtype=np.float32)
        placed[rows >= 0] = features[rows[rows >= 0]]
        return placed
    if features.shape[0] != len(ids):
        raise DataError(
            f"X has {features.shape[0]:,} rows but the graph has {len(ids):,} nodes; "
            "X needs one row a node, in graph order"
        )
    return features


def _label_column(y: Any, ids: NodeIds, name: str) -> list[Any]:
    if isinstance(y, Mapping):
        labels: list[Any] = [None] * len(ids)
        for row, label in zip(ids.known_rows(list(y)), y.values(), strict=True):
            labels[row] = label
        return labels
    if hasattr(y, "__array__") and not hasattr(y, "tolist"):
        y = np.asarray(y)
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(labels) != len(ids):
        raise DataError(
            f"{name} has {len(labels):,} entries but there are {len(ids):,} nodes; "
            "give one entry a node (-1, None or NaN: unlabelled), or a dict {node id: label}"
        )
    for row, label in enumerate(labels):
        if isinstance(label, list):
            raise DataError(f"{name} has two dimensions; give one label a node")
        if not isinstance(label, Hashable):
            raise DataError(
                f"{name} has the label {label!r} in row {row}, which is not hashable; a string is, or a number"
            )
    return labels


def _encode_validation(validation: Any, ids: NodeIds, classes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    codes, found = encode_labels(validation, ids, "validation")
    place = {label: k for k, label in enumerate(classes.tolist())}
    if len(found) == 0:
        raise DataError("validation has no label: pass None, or labels of the nodes that may be looked at")
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise DataError(f"validation has the class {unknown[0]!r}, which no node in y has")
    renumber = np.array([place[label] for label in found.tolist()] + [-1], dtype=np.int32)
    return renumber[codes]


def _row_ids(frame: Any) -> Any:
    plain = type(frame.index).__name__ == "RangeIndex" and frame.index.start == 0 and frame.index.step == 1
    return None if plain else frame.index.to_numpy()


def _place(features: Features, finite: npt.NDArray[np.bool_]) -> tuple[int, int]:
    if sparse.issparse(features):
        at = int(np.flatnonzero(~finite)[0])
        return int(np.searchsorted(features.indptr, at, side="right") - 1), int(features.indices[at])
    row, column = np.argwhere(~finite)[0]
    return int(row), int(column)
