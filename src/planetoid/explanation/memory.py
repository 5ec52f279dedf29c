"""What explanations of one model have in common, computed once for the data of its fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from planetoid.data.dataset import Dataset

__all__ = ["remember"]

Value = TypeVar("Value")

_REMEMBERED: WeakKeyDictionary[Dataset, dict[Hashable, object]] = WeakKeyDictionary()


def remember(data: Dataset, key: Hashable, compute: Callable[[], Value]) -> Value:
    """Return what ``compute`` returned when it was first called for this data and key; forgotten with the data.

    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(20)
    >>> remember(data, "sum", lambda: 1 + 1), remember(data, "sum", lambda: 1 / 0)
    (2, 2)
    """
    known = _REMEMBERED.setdefault(data, {})
    if key not in known:
        known[key] = compute()
    return cast("Value", known[key])
