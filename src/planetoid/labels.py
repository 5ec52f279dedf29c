"""Labels: what counts as unlabelled, how labels become codes, and how they are masked."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast, overload

import numpy as np
import numpy.typing as npt

from planetoid.errors import PlanetoidWarning, warn
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from scipy import sparse

    Classes: TypeAlias = npt.NDArray[Any]
    Codes: TypeAlias = npt.NDArray[np.int32]

__all__ = [
    "UNLABELLED",
    "Labels",
    "are_balanced",
    "as_classes",
    "as_objects",
    "encode",
    "encode_integers",
    "is_label_collection",
    "is_series",
    "is_unlabelled",
    "mask_labels",
    "minus_one_hint",
    "question_minus_one",
    "some_of_each_class",
]

UNLABELLED = -1
RENAME_MINUS_ONE = "if -1 is a class, write it otherwise, for example as 'negative'"
MOST_SHOWN = 7  # labels in a warning
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)

# One label per node (-1, None, NaN or "": unlabelled), a Series by node id, or {node id: label}. Several of them:
# an indicator matrix, a DataFrame with a column per class, or lists of labels in the place of labels.
Labels: TypeAlias = (
    "npt.ArrayLike | sparse.sparray | sparse.spmatrix | pd.Series[Any] | pd.DataFrame | "
    "Sequence[Hashable | Sequence[Hashable] | None] | Mapping[Hashable, Hashable | Sequence[Hashable]]"
)


def is_unlabelled(label: object) -> bool:
    """Return whether an entry of ``y`` means unlabelled: -1, ``None``, NaN, pandas' ``NA`` or an empty string."""
    if label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and np.isnan(label)):
        return True
    return label == "" if isinstance(label, str) else not isinstance(label, bool) and bool(label == UNLABELLED)


def encode(labels: Sequence[Hashable | None]) -> tuple[Codes, Classes]:
    """Return the code of each label (-1: unlabelled) and the classes, sorted where they can be compared.

    >>> codes, classes = encode(["b", None, "a", "b"])
    >>> codes.tolist(), classes.tolist()
    ([1, -1, 0, 1], ['a', 'b'])
    """
    known = [label for label in labels if not is_unlabelled(label)]
    try:
        distinct = sorted(set(known), key=_sort_key)  # type: ignore[arg-type]
    except TypeError:
        distinct = list(dict.fromkeys(known))
    code = {label: k for k, label in enumerate(distinct)}
    codes = np.array([UNLABELLED if is_unlabelled(label) else code[label] for label in labels], dtype=np.int32)
    return codes, as_classes(distinct)


def _sort_key(label: Hashable) -> Hashable | tuple[int, float, str]:
    """Sort strings that are numbers as numbers, before words: ``"9"`` before ``"10"`` before ``"none"``."""
    if not isinstance(label, str):
        return label
    return (0, float(label), label) if NUMBER.fullmatch(label) else (1, 0.0, label)


def encode_integers(labels: npt.NDArray[np.integer]) -> tuple[Codes, Classes]:
    """Return what :func:`encode` returns for an array of integers, without a Python object per node."""
    known = labels != UNLABELLED
    classes, found = np.unique(labels[known], return_inverse=True)
    codes = np.full(len(labels), UNLABELLED, dtype=np.int32)
    codes[known] = found
    return codes, classes.astype(np.int64)


def question_minus_one(
    labels: npt.NDArray[Any] | Sequence[object], classes: Classes, *, path: Path | None = None
) -> None:
    """Warn if -1, which means unlabelled, may be meant as a class.

    That is so if another class is negative, or if the only classes are 0 and 1 and less than half of the nodes have -1:
    in semi-supervised learning most nodes are unlabelled, and in files, dictionaries and indexed Series they are
    usually left out.
    """
    if classes.dtype.kind not in "iu" or not len(classes):
        return
    has_negative = classes.min() < UNLABELLED
    if not has_negative and classes.tolist() != [0, 1]:
        return
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuf":
        count = int((labels == UNLABELLED).sum())
    else:
        count = sum(isinstance(label, (int, float)) and label == UNLABELLED for label in labels)
    if count > 0 and (has_negative or count < len(labels) / 2):
        warn(
            PlanetoidWarning(
                f"the labels are {_listed(sorted([UNLABELLED, *classes.tolist()]))}: "
                f"{pluralize(count, 'node')} with -1 {'is' if count == 1 else 'are'} unlabelled",
                hint=RENAME_MINUS_ONE,
                path=path,
            )
        )


def minus_one_hint(classes: Classes) -> str | None:
    """Return what to say if there is only one class, and the other one may have been -1.

    >>> minus_one_hint(np.array([1]))
    "-1 means unlabelled; if -1 is a class, write it otherwise, for example as 'negative'"
    >>> minus_one_hint(np.array([4])) is None
    True
    """
    may_be_a_class = classes.dtype.kind in "iu" and (classes.tolist() == [1] or classes.min() < UNLABELLED)
    return f"-1 means unlabelled; {RENAME_MINUS_ONE}" if may_be_a_class else None


def _listed(labels: Sequence[int]) -> str:
    if len(labels) > MOST_SHOWN:
        return f"{', '.join(map(str, labels[: MOST_SHOWN - 2]))}, ... and {labels[-1]}"
    return f"{', '.join(map(str, labels[:-1]))} and {labels[-1]}"


@overload
def mask_labels(y: pd.Series[Any], rows: npt.ArrayLike | slice) -> pd.Series[Any]: ...


@overload
def mask_labels(y: pd.DataFrame, rows: npt.ArrayLike | slice) -> pd.DataFrame: ...


@overload
def mask_labels(
    y: npt.ArrayLike | Sequence[Hashable | Sequence[Hashable] | None], rows: npt.ArrayLike | slice
) -> npt.NDArray[Any]: ...


def mask_labels(
    y: npt.ArrayLike
    | Sequence[Hashable | Sequence[Hashable] | None]
    | sparse.sparray
    | sparse.spmatrix
    | pd.Series[Any]
    | pd.DataFrame,
    rows: npt.ArrayLike | slice,
) -> npt.NDArray[Any] | pd.Series[Any] | pd.DataFrame | sparse.csr_array:
    """Return a copy of ``y`` that is unlabelled everywhere except in ``rows``.

    The result has the type of ``y``: integers are masked by -1, floats by NaN, strings by ``""`` and objects by
    ``None``. Only types that have no such value change: unsigned integers become signed ones, booleans objects. A
    pandas Series keeps its index; ``rows`` are row numbers, not its labels. Several labels per node: the rows of an
    indicator matrix are masked as a whole (by zeros if it is sparse, booleans become integers), lists of labels by
    ``None``.

    >>> mask_labels([3, 1, 2], [0, 2])
    array([ 3, -1,  2])
    >>> mask_labels(["b", "a", "b"], [0, 2])
    array(['b', '', 'b'], dtype='<U1')
    >>> mask_labels([["b", "c"], ["a"]], [0])
    array([list(['b', 'c']), None], dtype=object)
    """
    if is_series(y):
        return _mask_series(y, rows)
    if hasattr(y, "columns"):
        return _mask_frame(cast("pd.DataFrame", y), rows)
    if hasattr(y, "tocsr"):
        return _mask_sparse(y, rows)
    labels = as_objects(y) if isinstance(y, (list, tuple)) and any(map(is_label_collection, y)) else np.asarray(y)
    if labels.dtype == bool and labels.ndim == 2:
        labels = labels.astype(np.int8)
    kind = labels.dtype.kind
    if kind in "iu":
        masked: npt.NDArray[Any] = np.full(labels.shape, UNLABELLED, dtype=np.promote_types(labels.dtype, np.int8))
    elif kind == "f":
        masked = np.full(labels.shape, np.nan, dtype=labels.dtype)
    elif kind == "U":
        masked = np.zeros(labels.shape, dtype=labels.dtype)
    else:
        masked = np.full(labels.shape, None, dtype=object)
    masked[rows] = labels[rows]  # type: ignore[index]
    if kind in "iu":
        kept = masked[rows]  # type: ignore[index]
        question_minus_one(kept, np.unique(kept[kept != UNLABELLED]))
    return masked


def is_series(y: object) -> TypeGuard[pd.Series[Any]]:
    """Return whether ``y`` is a pandas Series, without importing pandas."""
    return hasattr(y, "iloc") and hasattr(y, "index") and not hasattr(y, "columns")


def _mask_series(y: pd.Series[Any], rows: npt.ArrayLike | slice) -> pd.Series[Any]:
    if isinstance(y.dtype, np.dtype):
        labels = mask_labels(y.to_numpy(), rows)
        masked: pd.Series[Any] = type(y)(labels, index=y.index, name=y.name, dtype=labels.dtype)
        return masked
    keep = np.zeros(len(y), dtype=bool)
    keep[rows] = True  # type: ignore[index]
    hidden: pd.Series[Any] = y.where(keep)  # pandas' own types have a missing value
    return hidden


def _mask_frame(y: pd.DataFrame, rows: npt.ArrayLike | slice) -> pd.DataFrame:
    masked: pd.DataFrame = y.astype(float)
    hidden = np.ones(len(y), dtype=bool)
    hidden[rows] = False  # type: ignore[index]
    masked.iloc[hidden] = np.nan
    return masked


def _mask_sparse(y: sparse.sparray | sparse.spmatrix, rows: npt.ArrayLike | slice) -> sparse.csr_array:
    from scipy import sparse

    keep = np.zeros(y.shape[0], dtype=bool)
    keep[rows] = True  # type: ignore[index]
    entries = sparse.coo_array(y)
    kept = keep[entries.row]
    return sparse.csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=y.shape)


def is_label_collection(label: object) -> bool:
    """Return whether an entry of ``y`` holds several labels: a list, a set or an array, which are no labels."""
    return isinstance(label, (list, set, np.ndarray))


def as_objects(values: Sequence[object]) -> npt.NDArray[np.object_]:
    """Return an array of objects, of lists as they are."""
    array = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        array[row] = value
    return array


def as_classes(distinct: Sequence[object]) -> Classes:
    """Return classes as an array: of integers or booleans where all of them are, else of objects."""
    if not distinct:
        return np.empty(0, dtype=object)
    if all(type(label) is int for label in distinct) or all(type(label) is bool for label in distinct):
        return np.array(distinct)
    if all(isinstance(label, float) and label.is_integer() for label in distinct):
        return np.array(distinct, dtype=np.int64)  # integers that a NaN turned into floats
    classes = np.empty(len(distinct), dtype=object)
    classes[:] = distinct
    return classes


def are_balanced(codes: npt.NDArray[np.integer]) -> bool:
    """Return whether classes have the same number of labels, but for one in ten (some of them may not be usable).

    If they have, labels were chosen by class, and say nothing about how frequent classes are.

    >>> are_balanced(np.array([0, 0, 1, 1, 2])), are_balanced(np.array([0, 0, 0, 0, 1]))
    (True, False)
    """
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    return bool(counts.min() >= 0.9 * counts.max() - 1)


def some_of_each_class(y: npt.NDArray[np.integer], labelled: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Return at most so many labelled nodes, of each class in turn."""
    if len(labelled) <= most:
        return labelled
    codes = y[labelled]
    order = np.argsort(codes, kind="stable")
    rank = np.empty(len(codes), np.int64)  # within the class
    rank[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return np.asarray(labelled[np.sort(np.argsort(rank, kind="stable")[:most])])
