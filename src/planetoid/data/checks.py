"""``check_fit``: the arguments of ``fit`` as a :class:`~planetoid.Dataset`, validated before any work starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset, Features
from planetoid.data.label_arrays import encode_labels, encode_validation, index_ids, n_entries, unknown_class
from planetoid.data.label_sets import encode_label_sets, is_multi_label, one_label_each, with_validation
from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.graph import Graph
from planetoid.ids import NodeIds
from planetoid.io.sparse_columns import SPARSE_BELOW
from planetoid.labels import Labels, minus_one_hint
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    from planetoid.data.types import FeaturesLike, GraphLike

__all__ = ["CheckedFeatures", "align_features", "check_features", "check_fit"]


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
    uses_validation: bool = True,
    who: str = "this method",
) -> Dataset:
    """Validate and align the arguments of ``fit``.

    ``uses_features`` and ``uses_graph`` are ``"required"``, ``"optional"`` or
    ``"never"``. Features and validation labels that are not used are ignored, with a warning.
    """
    if isinstance(X, Dataset):
        data = _check_dataset(X, y, graph, validation, uses_features, uses_graph, who)
    else:
        data = _check_arrays(X, y, graph, validation, uses_features, uses_graph, who)
    if data.validation is None or uses_validation:
        return data
    warn(
        PlanetoidWarning(
            f"{who} does not use validation labels: they are ignored",
            hint="to learn from them, add them to the labels",
        )
    )
    return replace(data, validation=None)


def _check_arrays(
    X: FeaturesLike | None,
    y: Labels | None,
    graph: GraphLike | None,
    validation: Labels | None,
    uses_features: str,
    uses_graph: str,
    who: str,
) -> Dataset:
    """Return features, graph and labels as a dataset."""
    if y is None:
        raise DataError(f"{who} requires y to be passed, but the target y is None")
    if graph is None and uses_graph == "required":
        raise DataError(f"{who} requires a graph: pass graph=... (anything that Graph.of understands)")
    if X is None and uses_features == "required":
        raise DataError(f"{who} requires features, but X is None")
    if X is not None and uses_features == "never":
        warn(PlanetoidWarning(f"{who} does not use features: X is ignored"))
        X = None
    features = None if X is None else check_features(X)
    checked = _align_graph(graph, features, y, who)
    aligned = None if features is None else _align_rows(features, checked.ids)
    given_ids = graph is not None or (features is not None and features.row_ids is not None)
    names = None if features is None else features.names
    if is_multi_label(y):
        unlabelled = np.full(checked.n_nodes, -1, dtype=np.int32)
        data = Dataset("fitted", checked, aligned, unlabelled, np.empty(0, dtype=object), feature_names=names)
        return _with_label_sets(data, y, validation, given_ids, who)
    codes, classes = encode_labels(y, checked.ids, given_ids=given_ids)
    _check_classes(classes, who)
    return Dataset(
        "fitted",
        checked,
        aligned,
        codes,
        classes,
        None if validation is None else encode_validation(validation, checked.ids, classes, given_ids=given_ids),
        names,
    )


def _with_label_sets(data: Dataset, y: Labels, validation: Labels | None, given_ids: bool, who: str) -> Dataset:
    """Return the data with several labels per node, and validation labels of the same kind."""
    labels = encode_label_sets(y, data.ids, given_ids=given_ids)
    _check_classes(labels.classes[np.unique(labels.Y.indices)], who)
    if validation is None:
        return replace(data, Y=labels.Y, y=one_label_each(labels.Y), classes=labels.classes)
    if not is_multi_label(validation):
        raise DataError("y has several labels per node, but validation has one", hint="pass both in the same form")
    held_out = encode_label_sets(validation, data.ids, "validation", given_ids=given_ids)
    Y = with_validation(labels, held_out, data.ids)
    codes = one_label_each(Y)
    y, validation_codes = (np.where(np.diff(one.Y.indptr) > 0, codes, -1) for one in (labels, held_out))
    return replace(data, Y=Y, y=y, classes=labels.classes, validation=validation_codes)


def _check_dataset(
    data: Dataset,
    y: Labels | None,
    graph: GraphLike | None,
    validation: Labels | None,
    uses_features: str,
    uses_graph: str,
    who: str,
) -> Dataset:
    """Return a dataset with what the method uses, and only the classes that occur in ``y``."""
    for name, given in (("y", y), ("graph", graph), ("validation", validation)):
        if given is not None:
            raise DataError(f"fit(data) takes {name} from the dataset; pass fit(data.X, y, graph=data.graph) instead")
    if data.X is None and uses_features == "required":
        raise DataError(f"{who} requires features, but {data.name} has none")
    if data.graph.n_edges == 0 and uses_graph == "required":
        raise DataError(f"{who} requires a graph, but {data.name} has no edges")
    uses_x = uses_features != "never" and data.X is not None
    used = replace(
        data,
        X=check_features(data.X).X if uses_x and data.X is not None else None,
        feature_names=data.feature_names if uses_x else None,
    )
    if data.Y is not None:  # all columns are kept, also those without a label
        _check_classes(data.classes[np.unique(data.Y[data.labelled].indices)], who)
        return used
    occurring = np.unique(data.y[data.y >= 0])
    classes = data.classes[occurring]
    _check_classes(classes, who)
    renumbered = np.full(data.n_classes + 1, -1, dtype=np.int32)
    renumbered[occurring] = np.arange(len(occurring), dtype=np.int32)
    held_out = None
    if data.validation is not None:
        unknown = (data.validation >= 0) & (renumbered[data.validation] < 0)
        if unknown.any():
            raise unknown_class(data.classes[data.validation[unknown][0]])
        held_out = renumbered[data.validation]
    return replace(used, y=renumbered[data.y], classes=classes, validation=held_out)


def _check_classes(classes: npt.NDArray[Any], who: str) -> None:
    if len(classes) == 0:
        raise DataError(f"{who} requires labels: every entry of y is unlabelled (-1, None, NaN or '')")
    if len(classes) == 1:
        raise DataError(
            f"{who} needs at least two classes, but y has one class only: every label is {classes.tolist()[0]!r}",
            hint=minus_one_hint(classes),
        )


def check_features(X: FeaturesLike) -> CheckedFeatures:
    """Return features as float32, with column names and row ids if ``X`` is a DataFrame."""
    with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, which is an error below
        features, names, row_ids = _as_float32(X)
    if features.ndim != 2:
        raise DataError(
            f"X must have two dimensions, a row per node, got {features.ndim} dimension(s). Reshape your data"
        )
    if features.shape[1] == 0:
        raise DataError(
            f"X has 0 feature(s) (shape={tuple(features.shape)}) while a minimum of 1 is required.",
            hint="pass None if there are no features",
        )
    finite = np.isfinite(features.data if sparse.issparse(features) else features)
    if not finite.all():
        raise _not_finite(X, features, *_first_false(features, finite))
    if isinstance(features, np.ndarray) and np.count_nonzero(features) <= SPARSE_BELOW * features.size:
        features = sparse.csr_array(features)  # as a file with the same numbers would be read
    return CheckedFeatures(features, names, row_ids)


def _as_float32(X: FeaturesLike) -> CheckedFeatures:
    """Return what :func:`check_features` returns, with values as they are."""
    names = row_ids = None
    values: Any = X
    if hasattr(values, "__arrow_c_stream__") and not hasattr(values, "index"):  # Polars, Arrow and others
        names, values = _arrow_numbers(values)
    elif hasattr(values, "columns") and hasattr(values, "index"):
        row_ids = index_ids(values)
        names = np.asarray([str(name) for name in values.columns], dtype=object)
        for name, kind in values.dtypes.items():
            if getattr(kind, "kind", "O") not in "fiub":
                raise DataError("the column is not numeric", column=str(name), hint="encode it or leave it out")
        values = values.to_numpy(dtype=np.float32)
    return CheckedFeatures(
        _sparse_float32(values) if sparse.issparse(values) else _dense_float32(values), names, row_ids
    )


def _not_finite(X: Any, features: Features, row: int, column: int) -> DataError:
    """Return the error about a value that is NaN or infinite in 32 bits."""
    if np.isinf(features[row, column]):
        given = X.iloc if hasattr(X, "iloc") else sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        value = float(given[row, column])
        if np.isfinite(value):
            return DataError(
                f"X has values beyond 3.4e38, the largest number in 32 bits (float32), the first one {value:g} in row "
                f"{row}, column {column}",
                hint="scale them down",
            )
    return DataError(
        f"X has a NaN or an infinity in row {row}, column {column}",
        hint="replace it, or make the whole row zero if the node has no features",
    )


def _arrow_numbers(X: Any) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.float32]]:
    """Return the column names and the numbers of a Polars or Arrow table."""
    from planetoid.io.memory import to_arrow
    from planetoid.io.typed_table import ArrowTable

    table = ArrowTable(to_arrow(X))
    batches = table.batches([], range(len(table.names)))
    return np.array(table.names, dtype=object), np.concatenate([batch.numbers for batch in batches])


def _sparse_float32(X: Any) -> sparse.csr_array:
    """Return a canonical CSR; the given matrix is not changed."""
    check_sparse_format(X)
    as_given = isinstance(X, sparse.csr_array) and X.dtype == np.float32
    features = X if as_given else sparse.csr_array(X, dtype=np.float32)
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
        return values.astype(np.float32, order="C", copy=False)  # sums depend on the order
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"features must be numbers: {error}") from None


def _align_graph(graph: GraphLike | None, features: CheckedFeatures | None, y: Labels, who: str) -> Graph:
    row_ids = None if features is None else features.row_ids
    n_rows = features.X.shape[0] if features is not None else None
    if n_rows is None:
        n_rows = n_entries(y)
    if graph is None:
        if row_ids is not None:
            return Graph.without_edges(NodeIds(row_ids))
        if n_rows is None:
            raise DataError(f"{who} cannot infer the number of nodes", hint="pass X, a graph, or y as an array")
        return Graph.without_edges(NodeIds(n_rows))
    built = Graph.of(graph)
    if row_ids is None and n_rows is not None and not isinstance(graph, Graph):
        _check_order(built.ids, n_rows)
    if row_ids is None and n_rows is not None and n_rows > built.n_nodes and not isinstance(graph, Graph):
        # Bare edges of row numbers do not mention isolated nodes; the other arrays do.
        rows = built.node_ids
        if rows.dtype.kind in "iu" and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < n_rows)):
            built = built.with_nodes(n_rows)
    return built


def _check_order(ids: NodeIds, n_rows: int) -> None:
    """Refuse rows without ids if nodes are numbered in another order than the graph has them, as networkx may do."""
    if ids.kind != "int" or len(ids) != n_rows:
        return
    numbers = ids.to_numpy()
    if numbers.min() == 0 and numbers.max() == n_rows - 1:
        raise DataError(
            f"it is ambiguous which row belongs to which node: the first node of the graph is {numbers[0]}, and row 0 "
            "may be meant for it or for node 0",
            hint="pass graph=Graph.of(graph) if the rows are in the order of graph.nodes; add the nodes to the graph "
            "in order, before its edges, if row k is node k",
        )


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
            warn(PlanetoidWarning(f"{unknown:,} rows of X belong to no node of the graph and are ignored"))
        known = np.flatnonzero(rows >= 0)
        if not isinstance(X, np.ndarray):
            entries = np.ones(len(known), np.float32), (known, rows[known])
            return sparse.csr_array(sparse.csr_array(entries, shape=(len(ids), X.shape[0])) @ X)
        aligned = np.zeros((len(ids), X.shape[1]), dtype=np.float32)
        aligned[known] = X[rows[known]]
        return aligned
    if X.shape[0] != len(ids):
        raise DataError(
            f"X has {X.shape[0]:,} rows but the graph has {len(ids):,} nodes; X needs one row per node, in graph order"
        )
    return X


def _first_false(features: Features, finite: npt.NDArray[np.bool_]) -> tuple[int, int]:
    if isinstance(features, np.ndarray):
        row, column = np.argwhere(~finite)[0]
        return int(row), int(column)
    entry = int(np.flatnonzero(~finite)[0])
    return int(np.searchsorted(features.indptr, entry, side="right") - 1), int(features.indices[entry])
