"""Several labels per node as an argument of ``fit``: indicator matrices, lists of labels, and their encoding.

The labels of all nodes are one boolean matrix with a row per node and a column per class. A row without a label is an
unlabelled node: that a node is known to have none of the classes cannot be said, unless by a class of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.label_arrays import aligned_by_index, index_ids, label_entries, unknown_class
from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.labels import Labels, encode, is_label_collection, is_series, is_unlabelled
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LabelSets", "encode_both_sets", "encode_label_sets", "encode_sets", "is_multi_label", "one_label_each",
    "with_validation",
]  # fmt: skip

Codes: TypeAlias = "npt.NDArray[np.int32]"
COLLECTIONS = (list, set, tuple, frozenset, np.ndarray)  # of labels, where some node has a list or a set of them


class LabelSets(NamedTuple):
    """The labels of every node."""

    Y: sparse.csr_array  # (node, class), boolean
    classes: npt.NDArray[Any]


def is_multi_label(y: object) -> bool:
    """Return whether ``y`` is an indicator matrix, or has a list, set or array of labels for some node.

    A tuple is a label like any other, unless another node has a list.

    >>> is_multi_label([["a", "b"], None]), is_multi_label(np.eye(3)), is_multi_label([("a", 1), None])
    (True, True, False)
    """
    if sparse.issparse(y) or (hasattr(y, "columns") and hasattr(y, "index")):
        return True
    if isinstance(y, Mapping):
        return any(is_label_collection(label) for label in y.values())
    if is_series(y):
        return y.dtype == object and any(is_label_collection(label) for label in y)
    if hasattr(y, "__array__"):
        values = np.asarray(y)
        if values.ndim == 2:
            return values.shape[1] != 1 and values.dtype.kind in "biuf"
        return values.dtype == object and any(is_label_collection(label) for label in values)
    return isinstance(y, Iterable) and not isinstance(y, str) and any(is_label_collection(label) for label in y)


def encode_label_sets(y: Labels, ids: NodeIds, name: str = "y", *, given_ids: bool = True) -> LabelSets:
    """Return the labels of each node and the classes of the columns.

    The columns of an indicator matrix stay as they are, also those without a label; their classes are their numbers,
    or the column names of a DataFrame. Classes of lists are sorted.

    >>> found = encode_label_sets({"a": ["x", "y"], "c": ["y"]}, NodeIds(["a", "b", "c"]))
    >>> found.Y.toarray().astype(int).tolist(), found.classes.tolist()
    ([[1, 1], [0, 0], [0, 1]], ['x', 'y'])
    """
    given: Any = y
    if sparse.issparse(given):
        check_sparse_format(given)
        entries = given.tocsr().tocoo()
        return _of_matrix(_checked(sparse.csr_array(entries), ids, name), None)
    if hasattr(given, "columns") and hasattr(given, "index"):
        return _of_frame(given, ids, name, given_ids)
    if hasattr(given, "__array__") and not is_series(given) and np.asarray(given).ndim == 2:
        return _of_matrix(_checked(_dense_indicator(np.asarray(given), name), ids, name), None)
    entries = label_entries(y, ids, name, given_ids)
    if _is_nested_indicator(entries):
        return _of_matrix(_checked(_dense_indicator(np.array(entries), name), ids, name), None)
    return encode_sets(_label_lists(entries, name))


def encode_sets(labels: Sequence[Sequence[Hashable]]) -> LabelSets:
    """Return the matrix of labels that are listed by node, and the classes, sorted where they can be compared."""
    codes, classes = encode([label for one in labels for label in one])
    rows = np.repeat(np.arange(len(labels)), [len(one) for one in labels])
    entries = np.ones(len(rows), dtype=bool), (rows, codes)
    return LabelSets(sparse.csr_array(entries, shape=(len(labels), len(classes)), dtype=bool), classes)


def encode_both_sets(
    labels: npt.NDArray[np.object_] | None, validation: npt.NDArray[np.object_] | None, ids: NodeIds
) -> tuple[sparse.csr_array, Codes, Codes | None, npt.NDArray[Any]]:
    """Return the matrix of labels and validation labels, a label of each as codes, and the classes of both.

    Each has a list of labels per node, or ``None``.
    """
    n = len(ids)
    columns = [[one or [] for one in ([] if column is None else column.tolist())] for column in (labels, validation)]
    if len({type(label) for column in columns for one in column for label in one}) > 1:  # integers in one file only
        columns = [[[str(label) for label in one] for one in column] for column in columns]
    Y, classes = encode_sets([*columns[0], *columns[1]])
    empty = sparse.csr_array((n, len(classes)), dtype=bool)
    y, held_out = (Y[:n], Y[n:]) if labels is not None else (empty, Y)
    if validation is None:
        y = y if labels is not None else empty
        return y, one_label_each(y), None, classes
    merged = with_validation(LabelSets(y, classes), LabelSets(held_out, classes), ids)
    codes = one_label_each(merged)
    of_labels, of_validation = (np.where(np.diff(one.indptr) > 0, codes, -1) for one in (y, held_out))
    return merged, of_labels, of_validation, classes


def with_validation(labels: LabelSets, validation: LabelSets, ids: NodeIds) -> sparse.csr_array:
    """Return one matrix of labels and validation labels; a node that has both must have the same ones."""
    code_of = {label: code for code, label in enumerate(labels.classes.tolist())}
    held_out = validation.Y.tocoo()
    if held_out.nnz == 0:
        raise DataError("validation has no labels; pass None if there are none")
    found = validation.classes.tolist()
    for column in np.unique(held_out.col).tolist():
        if found[column] not in code_of:
            raise unknown_class(found[column])
    columns = np.array([code_of.get(label, -1) for label in found])[held_out.col]
    entries = np.ones(held_out.nnz, dtype=bool), (held_out.row, columns)
    renumbered = sparse.csr_array(entries, shape=labels.Y.shape, dtype=bool)
    both = (np.diff(labels.Y.indptr) > 0) & (np.diff(renumbered.indptr) > 0)
    different = np.flatnonzero(both)[np.diff((labels.Y[both] != renumbered[both]).tocsr().indptr) > 0]
    if len(different):
        raise DataError(
            "the validation labels differ from the labels",
            node=ids[int(different[0])],
            hint="remove one of them: labels of a node are either for training or for validation",
        )
    return sparse.csr_array(labels.Y + renumbered, dtype=bool)


def one_label_each(Y: sparse.csr_array) -> npt.NDArray[np.int32]:
    """Return the code of each node's rarest label, by which nodes are counted and splits balanced; -1 without any.

    >>> one_label_each(sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]], dtype=bool))).tolist()
    [0, 1, -1]
    """
    n_classes = Y.shape[1]
    order = np.argsort(np.bincount(Y.indices, minlength=n_classes), kind="stable")
    rank = np.empty(n_classes, np.int64)
    rank[order] = np.arange(n_classes)
    codes = np.full(Y.shape[0], -1, dtype=np.int32)
    labelled = np.flatnonzero(np.diff(Y.indptr) > 0)
    if len(labelled):
        codes[labelled] = order[np.minimum.reduceat(rank[Y.indices], Y.indptr[labelled])]
    return codes


def _of_frame(table: pd.DataFrame, ids: NodeIds, name: str, given_ids: bool) -> LabelSets:
    indicator = _dense_indicator(table.to_numpy(), name)
    index = index_ids(table)
    if index is not None:
        sources = aligned_by_index(list(range(len(table))), index, ids, name, given_ids)
        nothing = sparse.csr_array((1, indicator.shape[1]))  # the row of nodes that the table does not mention
        indicator = sparse.vstack([indicator, nothing], format="csr")[[-1 if row is None else row for row in sources]]
    return _of_matrix(_checked(indicator, ids, name), table.columns.tolist())


def _of_matrix(indicator: sparse.csr_array, names: Sequence[Hashable] | None) -> LabelSets:
    classes = np.arange(indicator.shape[1]) if names is None else np.array(names, dtype=object)
    return LabelSets(indicator, classes)


def _dense_indicator(values: npt.NDArray[Any], name: str) -> sparse.csr_array:
    """Return a dense matrix as a sparse one, with empty rows for those of NaN or -1."""
    if values.dtype.kind not in "biuf":
        raise DataError(f"{name} has two dimensions, so it must be an indicator matrix of 0 and 1")
    numbers = values.astype(np.float64)
    unlabelled = np.isnan(numbers).all(axis=1) | (numbers == -1).all(axis=1)
    numbers[unlabelled] = 0.0
    return sparse.csr_array(numbers)


def _checked(indicator: sparse.csr_array, ids: NodeIds, name: str) -> sparse.csr_array:
    """Return an indicator matrix as booleans; raise ``DataError`` for a wrong shape and for other values."""
    if indicator.shape[0] != len(ids):
        raise DataError(
            f"{name} has {indicator.shape[0]:,} rows but there are {len(ids):,} nodes; pass one row per node, of zeros "
            "where it is unlabelled"
        )
    wrong = np.flatnonzero((indicator.data != 0) & (indicator.data != 1))
    if len(wrong):
        entry = int(wrong[0])
        row = int(np.searchsorted(indicator.indptr, entry, side="right") - 1)
        raise DataError(
            f"{name} has two dimensions, so it must be an indicator matrix of 0 and 1, got {indicator.data[entry]} in "
            f"row {row}, column {int(indicator.indices[entry])}",
            hint="an unlabelled node has a row of zeros, of NaN or of -1",
        )
    found = sparse.csr_array(indicator, dtype=bool)
    found.eliminate_zeros()
    found.sum_duplicates()
    return found


def _is_nested_indicator(entries: list[Any]) -> bool:
    """Return whether lists are rows of an indicator matrix: of 0 and 1, all as long, some of which repeat a number."""
    if (
        not all(isinstance(entry, (list, np.ndarray)) for entry in entries)
        or len({len(entry) for entry in entries}) != 1
    ):
        return False
    return all(set(entry) <= {0, 1} for entry in entries) and any(len(set(entry)) < len(entry) for entry in entries)


def _label_lists(entries: list[Any], name: str) -> list[list[Hashable]]:
    """Return the labels of each node without repetitions, none for an unlabelled node."""
    lists: list[list[Hashable]] = []
    for row, entry in enumerate(entries):
        if not isinstance(entry, COLLECTIONS):
            if not is_unlabelled(entry):
                raise DataError(
                    f"{name} has a list of labels for some nodes, but {entry!r} in row {row}",
                    hint="pass a list for every labelled node, also for a single label",
                )
            lists.append([])
            continue
        labels = entry.tolist() if isinstance(entry, np.ndarray) else list(entry)
        for label in labels:
            if not isinstance(label, Hashable) or is_unlabelled(label):
                raise DataError(
                    f"{name} must have lists of hashable labels, such as strings or numbers, got {label!r} in row {row}"
                )
        lists.append(list(dict.fromkeys(labels)))
    return lists
