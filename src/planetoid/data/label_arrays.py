"""Labels as arguments of ``fit``: arrays by row, Series and dictionaries by node id, and their class codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sized
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.labels import Labels, encode, encode_integers, is_series, question_minus_one
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import pandas as pd

Entry = TypeVar("Entry")

__all__ = [
    "aligned_by_index", "encode_labels", "encode_validation", "index_ids", "label_entries", "n_entries",
    "unknown_class",
]  # fmt: skip


def encode_labels(
    y: Labels, ids: NodeIds, name: str = "y", *, given_ids: bool = True
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return a code for each node (-1: unlabelled) and the classes that the codes point to.

    A dictionary and a Series whose index holds node ids are aligned with ``ids``; everything else is in row order.
    Without ``given_ids``, the ids are row numbers that nobody has given, and only a dictionary may refer to them.
    """
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu" and y.shape == (len(ids),):
        codes, classes = encode_integers(y)
        question_minus_one(y, classes)
        return codes, classes
    labels = _label_column(y, ids, name, given_ids)
    codes, classes = encode(labels)
    question_minus_one(labels, classes)
    return codes, classes


def encode_validation(
    validation: Labels, ids: NodeIds, classes: npt.NDArray[Any], *, given_ids: bool = True
) -> npt.NDArray[np.int32]:
    """Return a code for each node that has a validation label, -1 for all others."""
    codes, found = encode_labels(validation, ids, "validation", given_ids=given_ids)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    if len(found) == 0:
        raise DataError("validation has no labels; pass None if there are none")
    for label in found.tolist():
        if label not in code_of:
            raise unknown_class(label)
    renumbered = np.array([code_of[label] for label in found.tolist()] + [-1], dtype=np.int32)
    return renumbered[codes]


def unknown_class(label: object) -> DataError:
    """Return the error for a validation label whose class does not occur in ``y``."""
    return DataError(f"validation has the class {label!r}, which no node in y has")


def n_entries(y: Labels) -> int | None:
    """Return the number of nodes that ``y`` has an entry for, ``None`` if it refers to nodes by ids of their own."""
    if isinstance(y, Mapping):
        return None
    if hasattr(y, "shape") and len(y.shape) == 2 and not hasattr(y, "columns"):  # a sparse matrix has no length
        return int(y.shape[0])
    if not isinstance(y, Sized):
        return None
    index = index_ids(y) if is_series(y) or hasattr(y, "columns") else None  # type: ignore[arg-type]
    counts_rows = index is None or (index.dtype.kind in "iu" and np.isin(index, np.arange(len(y))).all())
    return len(y) if counts_rows else None


def index_ids(table: pd.DataFrame | pd.Series[Any]) -> npt.NDArray[Any] | None:
    """Return the index of a DataFrame or a Series, ``None`` if it only counts the rows."""
    index: Any = table.index
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if plain else np.asarray(index.to_numpy())


def label_entries(y: Labels, ids: NodeIds, name: str, given_ids: bool) -> list[Any]:
    """Return what ``y`` has for each node, in row order: a label, or a collection of labels."""
    if isinstance(y, Mapping):
        labels: list[Any] = [None] * len(ids)
        for row, label in zip(ids.known_rows(list(y)), y.values(), strict=True):
            labels[row] = label
        return labels
    if is_series(y):
        index = index_ids(y)
        if index is not None:
            return aligned_by_index(y.tolist(), index, ids, name, given_ids)
    if hasattr(y, "__array__") and not hasattr(y, "tolist"):
        y = np.asarray(y)
    labels = y.tolist() if hasattr(y, "tolist") else list(y)  # type: ignore[arg-type, operator]
    if len(labels) != len(ids):
        raise DataError(
            f"{name} has {len(labels):,} entries but there are {len(ids):,} nodes; "
            "pass one entry per node (-1, None, NaN or '': unlabelled), or a dict {node id: label}"
        )
    return labels


def _label_column(y: Labels, ids: NodeIds, name: str, given_ids: bool) -> list[Hashable | None]:
    labels = label_entries(y, ids, name, given_ids)
    for row, label in enumerate(labels):
        if isinstance(label, list):
            raise DataError(
                f"{name} must have one dimension, a label per node, got two",
                hint="for several labels per node, pass an indicator matrix with a column per class, or lists",
            )
        if not isinstance(label, Hashable):
            raise DataError(f"{name} must have hashable labels, such as strings or numbers, got {label!r} in row {row}")
    return labels


def aligned_by_index(
    labels: list[Entry], index: npt.NDArray[Any], ids: NodeIds, name: str, given_ids: bool
) -> list[Entry | None]:
    """Return the labels of a Series in row order; nodes that it does not mention are unlabelled."""
    by_row = f"pass {name}.to_numpy() if its order is that of the nodes"
    if not given_ids:
        raise DataError(f"{name} has an index, but there are no node ids to align it with", hint=by_row)
    try:
        rows = NodeIds(index).rows(ids.to_numpy())
    except DataError as error:
        raise DataError(f"the index of {name} is invalid: {error}", hint=by_row) from None
    unknown = len(index) - int((rows >= 0).sum())
    if unknown == len(index):
        raise DataError(f"no entry of {name} has the id of a node in its index", hint=by_row)
    if unknown:
        warn(
            PlanetoidWarning(
                f"{pluralize(unknown, 'entry', 'entries')} of {name} {'has' if unknown == 1 else 'have'} an index that "
                "is no node id and "
                f"{'is' if unknown == 1 else 'are'} ignored",
                hint=by_row,
            )
        )
    return [None if row < 0 else labels[row] for row in rows.tolist()]
