"""Labels: what counts as unlabelled, how labels become codes, and how they are masked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Classes: TypeAlias = npt.NDArray[Any]
    Codes: TypeAlias = npt.NDArray[np.int32]

__all__ = [
    "UNLABELLED",
    "Labels",
    "as_classes",
    "encode",
    "encode_integers",
    "is_unlabelled",
    "mask_labels",
    "some_of_each_class",
]

UNLABELLED = -1

# One label per node (-1, None or NaN: unlabelled), or {node id: label}.
Labels: TypeAlias = "npt.ArrayLike | Sequence[Hashable | None] | Mapping[Hashable, Hashable]"


def is_unlabelled(label: object) -> bool:
    """Return whether an entry of ``y`` means unlabelled: -1, ``None``, NaN or pandas' ``NA``."""
    if label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and np.isnan(label)):
        return True
    return not isinstance(label, (str, bool)) and bool(label == UNLABELLED)


def encode(labels: Sequence[Hashable | None]) -> tuple[Codes, Classes]:
    """Return the code of each label (-1: unlabelled) and the classes, sorted where they can be compared.

    >>> codes, classes = encode(["b", None, "a", "b"])
    >>> codes.tolist(), classes.tolist()
    ([1, -1, 0, 1], ['a', 'b'])
    """
    known = [label for label in labels if not is_unlabelled(label)]
    try:
        distinct = sorted(set(known))  # type: ignore[type-var]
    except TypeError:
        distinct = list(dict.fromkeys(known))
    code = {label: k for k, label in enumerate(distinct)}
    codes = np.array([UNLABELLED if is_unlabelled(label) else code[label] for label in labels], dtype=np.int32)
    return codes, as_classes(distinct)


def encode_integers(labels: npt.NDArray[np.integer]) -> tuple[Codes, Classes]:
    """Return what :func:`encode` returns for an array of integers, without a Python object per node."""
    known = labels != UNLABELLED
    classes, found = np.unique(labels[known], return_inverse=True)
    codes = np.full(len(labels), UNLABELLED, dtype=np.int32)
    codes[known] = found
    return codes, classes.astype(np.int64)


def mask_labels(y: npt.ArrayLike, rows: npt.ArrayLike | slice) -> npt.NDArray[Any]:
    """Return a copy of ``y`` that is unlabelled everywhere except in ``rows``.

    Integer labels are masked by -1, all others by ``None``.

    >>> mask_labels([3, 1, 2], [0, 2])
    array([ 3, -1,  2])
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "iu":
        masked: npt.NDArray[Any] = np.full(labels.shape, UNLABELLED, dtype=np.promote_types(labels.dtype, np.int8))
    else:
        masked = np.full(labels.shape, None, dtype=object)
    masked[rows] = labels[rows]  # type: ignore[index]
    return masked


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


def some_of_each_class(y: npt.NDArray[np.integer], labelled: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Return at most so many labelled nodes, of each class in turn."""
    if len(labelled) <= most:
        return labelled
    codes = y[labelled]
    order = np.argsort(codes, kind="stable")
    rank = np.empty(len(codes), np.int64)  # within the class
    rank[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return np.asarray(labelled[np.sort(np.argsort(rank, kind="stable")[:most])])
