"""A list of edges as row numbers, and which columns of a table hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.io.pandas_index import index_columns, warn_of_index

__all__ = ["END_NAMES", "EdgeList", "choose_columns", "column_number", "is_weight"]

END_NAMES = (("source", "target"), ("src", "dst"), ("from", "to"), ("head", "tail"), ("u", "v"))
SHOWN_NAMES = 20  # of columns, in a message


@dataclass
class EdgeList:
    """Row numbers of both ends of every edge, and weights or none.

    ``build_adjacency`` takes the arrays out of it, so that they can be freed
    while the CSR is being made.
    """

    source: npt.NDArray[Any] | None
    target: npt.NDArray[Any] | None
    weight: npt.NDArray[Any] | None = None


def choose_columns(
    names: Sequence[str],
    source: str | int | None,
    target: str | int | None,
    weight: str | int | None,
    where: object = "the table of edges",
) -> tuple[int, int, int | None]:
    """Decide which columns of a table hold the ends and, perhaps, the weight of an edge.

    Columns are asked for by name or number. Those not asked for are found by
    the usual names, else they are the first free ones; the weight is a column
    called ``weight``, else the only one to the right of the ends. The index of
    a pandas table, with its row numbers, is left out if two other columns can
    be the ends, with a warning about ``where`` if it would have been taken.

    >>> choose_columns(["id", "src", "dst", "weight"], None, None, None)
    (1, 2, 3)
    >>> choose_columns(["a", "b", "c"], None, None, None)
    (0, 1, 2)
    """
    asked = [None if column is None else column_number(names, column) for column in (source, target, weight)]
    everything = range(len(names))
    index = [number for number in index_columns(names) if number not in asked]
    others = [number for number in everything if number not in index]
    possible_ends = [number for number in others if number not in asked and not is_weight(names[number])]
    plain = _choose(names, asked, everything)
    if len(possible_ends) < asked[:2].count(None):  # the index holds ends
        return plain
    chosen = _choose(names, asked, others)
    warn_of_index(where, names, [number for number in index if number in plain])
    return chosen


def _choose(names: Sequence[str], asked: Sequence[int | None], columns: Sequence[int]) -> tuple[int, int, int | None]:
    """Choose among some columns what was not asked for."""
    first, second, third = asked
    usual_first, usual_second = _usual_ends(names)
    if first is None and usual_first not in (second, third):
        first = usual_first
    if second is None and usual_second not in (first, third):
        second = usual_second
    free = [number for number in columns if number not in (first, second, third)]
    free.sort(key=lambda number: is_weight(names[number]))  # an end only if there is no other
    if len(free) < (first is None) + (second is None):
        raise DataError(f"edges need two columns, found {len(names)}: {', '.join(names)}")
    first = free.pop(0) if first is None else first
    second = free.pop(0) if second is None else second
    if third is None:
        named = [number for number in free if is_weight(names[number])]
        only = free[0] if len(free) == 1 and free[0] > max(first, second) else None  # a row number stands to the left
        third = named[0] if named else only
    return first, second, third


def is_weight(name: str) -> bool:
    """Tell whether a column is the weight by its name."""
    return name.lower() == "weight"


def column_number(names: Sequence[str], asked: str | int) -> int:
    """Return the number of a column that was asked for by name or number."""
    if isinstance(asked, str):
        if list(names).count(asked) > 1:
            raise DataError(f"several columns are called {asked!r}; ask for one by its number, counted from 0")
        if asked in names:
            return list(names).index(asked)
        shown = ", ".join(names[:SHOWN_NAMES]) + (f", ... ({len(names):,} in all)" if len(names) > SHOWN_NAMES else "")
        raise DataError(f"there is no column {asked!r}; the columns are {shown}")
    if 0 <= asked < len(names):
        return asked
    raise DataError(f"there is no column {asked}; there are {len(names)}, counted from 0")


def _usual_ends(names: Sequence[str]) -> tuple[int | None, int | None]:
    lower = [name.lower() for name in names]
    for first, second in END_NAMES:
        if first in lower and second in lower:
            return lower.index(first), lower.index(second)
    return None, None
