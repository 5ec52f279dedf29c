"""Whether the first line of a table is its header."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planetoid.io.edgelist import END_NAMES
from planetoid.io.pandas_index import index_columns

__all__ = ["ID_NAMES", "LABEL_NAMES", "is_meant_as_number", "is_number", "looks_like_header"]

ID_NAMES = ("id", "node", "node_id", "nodeid")
LABEL_NAMES = ("label", "class", "y", "category", "labels", "target")

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
PAIRS = (*END_NAMES, ("id1", "id2"), ("node1", "node2"), ("node_1", "node_2"), ("fromnodeid", "tonodeid"))


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a finite decimal number."""
    return NUMBER.fullmatch(cell) is not None


def is_meant_as_number(cell: str) -> bool:
    """Tell whether a cell is, or was meant to be, a number: ``nan``, ``0,5`` and ``1 000`` are not finite numbers."""
    return re.fullmatch(r"(?i)[+-]?(\d[\d.,_ ']*|[.,]\d+|nan|inf|infinity)(e[+-]?\d+)?", cell.strip()) is not None


def looks_like_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool | None:
    """Tell whether the first line names columns; ``None`` if nothing speaks for or against it.

    What speaks for it: usual names; a word above a column of numbers; words
    above a column whose cells all have digits in them. What speaks against it:
    a number in the first line, or a cell that comes again further down (ids do,
    names of columns do not). Words above words, as in ``alice,bob``, say
    nothing.

    >>> looks_like_header(["source", "target"], [["a", "b"]])
    True
    >>> looks_like_header(["citing", "cited"], [["p1", "p2"], ["p2", "p3"]])
    True
    >>> looks_like_header(["alice", "bob"], [["bob", "carol"]])
    False
    >>> looks_like_header(["alice", "bob"], [["carol", "dave"]]) is None
    True
    """
    below = {cell for row in body for cell in row if not is_number(cell)}
    columns = [[row[k] for row in body if k < len(row)] for k in range(len(first))]
    above_numbers = [
        not is_meant_as_number(cell) and _is_of_numbers(column) for cell, column in zip(first, columns, strict=True)
    ]
    if _has_usual_names(first, below) or _is_counting(first, body):
        return True
    if not is_number(first[0]) and len(first) > 1 and all(above_numbers[1:]):
        return True
    if any(is_number(cell) or cell in below for cell in first):
        return False
    if any(above_numbers):
        return True
    if any(re.search(r"\d", cell) for cell in first):
        return None
    with_digits = [column for column in columns if len(column) > 1 and all(re.search(r"\d", cell) for cell in column)]
    return True if with_digits else None


def _is_of_numbers(column: Sequence[str]) -> bool:
    """Tell whether a column has numbers and, at the most, gaps and NaN among them."""
    return any(map(is_number, column)) and all(not cell or is_meant_as_number(cell) for cell in column)


def _has_usual_names(first: Sequence[str], below: set[str]) -> bool:
    lower = [cell.lower() for cell in first if cell not in below]
    if len(first) > 1 and first[0] not in below and (lower[0] in ID_NAMES or (first[0] and index_columns(first[:1]))):
        return True
    if len(first) == 2 and first[0] == "" and lower[-1] in LABEL_NAMES:  # a pandas Series
        return True
    if any(cell in ID_NAMES for cell in lower) and any(cell in LABEL_NAMES for cell in lower):
        return True
    return any(one in lower and other in lower for one, other in PAIRS)


def _is_counting(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Columns named 0, 1, 2, ... after a corner that is empty or a word, or any names after an empty one."""
    if is_number(first[0]) or len(first) < 3:
        return False
    named = list(first[1:])
    if first[0] == "" and not any(is_number(cell) or not cell for cell in named):
        return True
    if first[0] and len(named) < 4:  # too short to tell from data
        return False
    counted = any(named == [str(k + start) for k in range(len(named))] for start in (0, 1))
    return counted and not any(list(row[1:]) == named for row in body)
