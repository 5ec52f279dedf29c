"""What counts as unlabelled, and how labels are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["UNLABELLED", "as_classes", "is_unlabelled", "mask_labels"]

UNLABELLED = -1


def is_unlabelled(label: Any) -> bool:
    """Tell whether an entry of ``y`` says nothing: -1, ``None``, NaN or pandas' ``NA``."""
    if label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and np.isnan(label)):
        return True
    return not isinstance(label, (str, bool)) and bool(label == UNLABELLED)


def mask_labels(y: npt.ArrayLike, rows: Any) -> npt.NDArray[Any]:
    """Return a copy of ``y`` that is unlabelled everywhere but in ``rows``.

    Integer labels are hidden by -1, all others by ``None``.

    >>> mask_labels([3, 1, 2], [0, 2])
    array([ 3, -1,  2])
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "iu":
        hidden = np.full(labels.shape, UNLABELLED, dtype=np.promote_types(labels.dtype, np.int8))
    else:
        hidden = np.full(labels.shape, None, dtype=object)
    hidden[rows] = labels[rows]
    return hidden


def as_classes(distinct: Sequence[Any]) -> npt.NDArray[Any]:
    """Return classes as an array: of integers or booleans where all of them are, else of objects."""
    if all(type(label) is int for label in distinct) or all(type(label) is bool for label in distinct):
        return np.array(distinct)
    if all(isinstance(label, float) and label.is_integer() for label in distinct):
        return np.array(distinct, dtype=np.int64)  # integers that a NaN turned into floats
    classes = np.empty(len(distinct), dtype=object)
    classes[:] = distinct
    return classes
