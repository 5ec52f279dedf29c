"""``check_fit``: the arguments of ``fit`` as a :class:`~planetoid.Dataset`, validated before any work starts."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.graph import Graph
from planetoid.ids import NodeIds
from planetoid.labels import Labels, encode, encode_integers
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    import pandas as pd

    from planetoid.data.types import FeaturesLike, GraphLike

__all__ = ["CheckedFeatures", "align_features", "check_features", "check_fit", "encode_labels"]


class CheckedFeatures(NamedTuple):
    """Features as float32 (CSR or dense), with column names and row ids if they had any."""

    X: Features
    names: npt.NDArray[np.object_] | None
    row_ids: npt.NDArray[Any] | None


def check_fit(
    X: FeaturesLike | Dataset | None,
    y: Labels | None,
    graph: GraphLike | None,
    validation: Labels | None = None,
    *,
    uses_features: str = "required",
    uses_graph: str = "required",
    who: str = "this method",
) -> Dataset:
    """Validate and align the arguments of ``fit``.

    ``uses_features`` and ``uses_graph`` are ``"required"``, ``"optional"`` or
    ``"never"``; features that are never used are ignored, with a warning.
    """
    if isinstance(X, Dataset):
        return _check_dataset(X, y, graph, validation, uses_features, uses_graph, who)
    if y is None:
        raise DataError(f"{who} requires y to be passed, but the target y is None")
    if graph is None and uses_graph == "required":
        raise DataError(f"{who} requires a graph: pass graph=... (anything that Graph.of understands)")
    if X is None and uses_features == "required":
        raise DataError(f"{who} requires features, but X is None")
    if X is not None and uses_features == "never":
        warnings.warn(f"{who} does not use features: X is ignored", PlanetoidWarning, stacklevel=4)
        X = None
    features = None if X is None else check_features(X)
    checked = _align_graph(graph, features, y, who)
    aligned = None if features is None else _align_rows(features, checked.ids)
    codes, classes = encode_labels(y, checked.ids)
    _check_classes(classes, who)
    return Dataset(
        "fitted",
        checked,
        aligned,
        codes,
        classes,
        None if validation is None else _encode_validation(validation, checked.ids, classes),
        None if features is None else features.names,
    )


def _check_dataset(
    data: Dataset,
    y: Labels | None,
    graph: GraphLike | None,
    validation: Labels | None,
    uses_features: str,
    uses_graph: str,
    who: str,
) -> Dataset:
    """Return a data set with what the method uses, and only the classes that occur in ``y``."""
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
    renumbered = np.full(data.n_classes + 1, -1, dtype=np.int32)
    renumbered[occurring] = np.arange(len(occurring), dtype=np.int32)
    held_out = None
    if data.validation is not None:
        unknown = (data.validation >= 0) & (renumbered[data.validation] < 0)
        if unknown.any():
            _raise_unknown_class(data.classes[data.validation[unknown][0]])
        held_out = renumbered[data.validation]
    uses_x = uses_features != "never" and data.X is not None
    return replace(
        data,
        X=check_features(data.X).X if uses_x else None,
        y=renumbered[data.y],
        classes=classes,
        validation=held_out,
        feature_names=data.feature_names if uses_x else None,
    )


def _check_classes(classes: npt.NDArray[Any], who: str) -> None:
    if len(classes) == 0:
        raise DataError(f"{who} requires labels: every entry of y is unlabelled (-1, None or NaN)")
    if len(classes) == 1:
        raise DataError(
            f"{who} needs at least two classes, but y has one class only: every label is {classes.tolist()[0]!r}"
        )


def check_features(X: FeaturesLike) -> CheckedFeatures:
    """Return features as float32, with column names and row ids if ``X`` is a DataFrame."""
    names = row_ids = None
    values: Any = X
    if hasattr(values, "to_pandas"):  # polars and Arrow tables
        values = values.to_pandas()
    if hasattr(values, "columns") and hasattr(values, "index"):
        row_ids = _row_ids(values)
        names = np.asarray([str(name) for name in values.columns], dtype=object)
        for name, kind in values.dtypes.items():
            if getattr(kind, "kind", "O") not in "fiub":
                raise DataError("the column is not numeric", column=str(name), hint="encode it or leave it out")
        values = values.to_numpy(dtype=np.float32)
    features = _sparse_float32(values) if sparse.issparse(values) else _dense_float32(values)
    if features.ndim != 2:
        raise DataError(
            f"X must have two dimensions, a row per node, got {features.ndim} dimension(s). Reshape your data"
        )
    finite = np.isfinite(features.data if sparse.issparse(features) else features)
    if not finite.all():
        row, column = _first_false(features, finite)
        raise DataError(
            f"X has a NaN or an infinity in row {row}, column {column}",
            hint="replace it, or make the whole row zero if the node has no features",
        )
    return CheckedFeatures(features, names, row_ids)


def _sparse_float32(X: Any) -> sparse.csr_array:
    """Return a canonical CSR; the given matrix is not changed."""
    check_sparse_format(X)
    features = sparse.csr_array(X, dtype=np.float32)
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    if not features.data.all():
        features = features.copy()
        features.eliminate_zeros()
    return features


def _dense_float32(X: npt.ArrayLike) -> npt.NDArray[np.float32]:
    try:
        values = np.asarray(X)
        if values.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        return values.astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"features must be numbers: {error}") from None


def encode_labels(y: Labels, ids: NodeIds, name: str = "y") -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return a code for each node (-1: unlabelled) and the classes that the codes point to."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu" and y.shape == (len(ids),):
        return encode_integers(y)
    return encode(_label_column(y, ids, name))


def _align_graph(graph: GraphLike | None, features: CheckedFeatures | None, y: Labels, who: str) -> Graph:
    row_ids = None if features is None else features.row_ids
    n_rows = features.X.shape[0] if features is not None else None
    if n_rows is None and not isinstance(y, Mapping) and isinstance(y, Sized):
        n_rows = len(y)
    if graph is None:
        if row_ids is not None:
            return Graph.without_edges(NodeIds(row_ids))
        if n_rows is None:
            raise DataError(f"{who} cannot infer the number of nodes", hint="pass X, a graph, or y as an array")
        return Graph.without_edges(NodeIds(n_rows))
    built = Graph.of(graph)
    if row_ids is None and n_rows is not None and n_rows > built.n_nodes and not isinstance(graph, Graph):
        # Bare edges of row numbers do not mention isolated nodes; the other arrays do.
        rows = built.node_ids
        if rows.dtype.kind in "iu" and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < n_rows)):
            built = built.with_nodes(n_rows)
    return built


def align_features(X: FeaturesLike, ids: NodeIds) -> Features:
    """Return validated features with one row for each of ``ids``, in their order."""
    return _align_rows(check_features(X), ids)


def _align_rows(features: CheckedFeatures, ids: NodeIds) -> Features:
    X = features.X
    if features.row_ids is not None:
        rows = NodeIds(features.row_ids).rows(ids.to_numpy())
        unknown = len(features.row_ids) - int((rows >= 0).sum())
        if unknown == len(features.row_ids):
            raise DataError("no row of X has the id of a node in the graph: is the index of X the node id?")
        if unknown:
            warnings.warn(
                f"{unknown:,} rows of X belong to no node of the graph and are ignored", PlanetoidWarning, stacklevel=6
            )
        aligned = np.zeros((len(ids), X.shape[1]), dtype=np.float32)
        aligned[rows >= 0] = X[rows[rows >= 0]]
        return aligned
    if X.shape[0] != len(ids):
        raise DataError(
            f"X has {X.shape[0]:,} rows but the graph has {len(ids):,} nodes; X needs one row per node, in graph order"
        )
    return X


def _label_column(y: Labels, ids: NodeIds, name: str) -> list[Hashable | None]:
    if isinstance(y, Mapping):
        labels: list[Hashable | None] = [None] * len(ids)
        for row, label in zip(ids.known_rows(list(y)), y.values(), strict=True):
            labels[row] = label
        return labels
    if hasattr(y, "__array__") and not hasattr(y, "tolist"):
        y = np.asarray(y)
    labels = y.tolist() if hasattr(y, "tolist") else list(y)  # type: ignore[arg-type]
    if len(labels) != len(ids):
        raise DataError(
            f"{name} has {len(labels):,} entries but there are {len(ids):,} nodes; "
            "pass one entry per node (-1, None or NaN: unlabelled), or a dict {node id: label}"
        )
    for row, label in enumerate(labels):
        if isinstance(label, list):
            raise DataError(f"{name} must have one dimension, a label per node, got two")
        if not isinstance(label, Hashable):
            raise DataError(f"{name} must have hashable labels, such as strings or numbers, got {label!r} in row {row}")
    return labels


def _encode_validation(validation: Labels, ids: NodeIds, classes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    codes, found = encode_labels(validation, ids, "validation")
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    if len(found) == 0:
        raise DataError("validation has no labels; pass None if there are none")
    for label in found.tolist():
        if label not in code_of:
            _raise_unknown_class(label)
    renumbered = np.array([code_of[label] for label in found.tolist()] + [-1], dtype=np.int32)
    return renumbered[codes]


def _raise_unknown_class(label: object) -> None:
    raise DataError(f"validation has the class {label!r}, which no node in y has")


def _row_ids(frame: pd.DataFrame) -> npt.NDArray[Any] | None:
    """Return the index of a DataFrame, ``None`` if it only counts the rows."""
    index: Any = frame.index
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if plain else np.asarray(index.to_numpy())


def _first_false(features: Features, finite: npt.NDArray[np.bool_]) -> tuple[int, int]:
    if isinstance(features, np.ndarray):
        row, column = np.argwhere(~finite)[0]
        return int(row), int(column)
    entry = int(np.flatnonzero(~finite)[0])
    return int(np.searchsorted(features.indptr, entry, side="right") - 1), int(features.indices[entry])
