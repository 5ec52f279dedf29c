"""Whether the first line of a text table is its header, and how its numbers are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planetoid.io.column_roles import END_NAMES, ID_NAMES, LABEL_NAMES
from planetoid.io.pandas_index import index_columns

__all__ = ["guess_decimal", "is_number", "looks_like_header", "looks_numeric"]

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
MEANT_AS_NUMBER = re.compile(r"[+-]?(\d[\d.,_ ']*|[.,]\d+|nan|inf|infinity)(e[+-]?\d+)?", re.IGNORECASE)
WITH_COMMA = re.compile(r"[+-]?\d[\d. ]*,\d+")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
WITH_POINT = re.compile(r"[+-]?\d*\.\d+")
PAIRS = (*END_NAMES, ("id1", "id2"), ("node1", "node2"), ("node_1", "node_2"), ("fromnodeid", "tonodeid"))


def is_number(cell: str) -> bool:
    """Return whether a cell holds a finite decimal number."""
    return NUMBER.fullmatch(cell) is not None


def looks_numeric(cell: str) -> bool:
    """Return whether a cell is, or was meant to be, a number: also ``nan``, ``0,5`` and ``1 000``."""
    return MEANT_AS_NUMBER.fullmatch(cell.strip()) is not None


def guess_decimal(separator: str, sample: Sequence[Sequence[str]]) -> str:
    r"""Return the decimal separator of a text table: a comma if numbers have one that cannot separate thousands.

    Where a comma may do either, as in ``1,234``, it is the decimal separator if semicolons separate the cells, as
    spreadsheets write them where a comma is usual in numbers.

    >>> guess_decimal(";", [["a", "0,5"]]), guess_decimal(",", [["a", "1,234"]]), guess_decimal("\t", [["a", "0.5"]])
    (',', '.', '.')
    """
    cells = [cell for row in sample for cell in row]
    with_comma = [cell for cell in cells if WITH_COMMA.fullmatch(cell)]
    if not with_comma or any(WITH_POINT.fullmatch(cell) for cell in cells):
        return "."
    return "," if separator == ";" or not all(map(THOUSANDS.fullmatch, with_comma)) else "."


def looks_like_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool | None:
    """Return whether the first line names the columns; ``None`` if there is no evidence.

    Evidence for a header: usual names; a word above a column of numbers; words above a column whose cells all
    contain digits. Evidence against it: a number in the first line, or a cell that occurs again further down (ids do,
    names of columns do not). Words above words, as in ``alice,bob``, are no evidence.

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
        not looks_numeric(cell) and _is_numeric(column) for cell, column in zip(first, columns, strict=True)
    ]
    if _has_usual_names(first, below) or _has_counted_names(first, body):
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


def _is_numeric(column: Sequence[str]) -> bool:
    """Return whether a column has numbers and nothing else but empty cells and NaN."""
    return any(map(is_number, column)) and all(not cell or looks_numeric(cell) for cell in column)


def _has_usual_names(first: Sequence[str], below: set[str]) -> bool:
    lower = [cell.lower() for cell in first if cell not in below]
    if len(first) > 1 and first[0] not in below and (lower[0] in ID_NAMES or (first[0] and index_columns(first[:1]))):
        return True
    if len(first) == 2 and first[0] == "" and lower[-1:] == [first[1].lower()] and lower[-1] in LABEL_NAMES:  # a Series
        return True
    if any(cell in ID_NAMES for cell in lower) and any(cell in LABEL_NAMES for cell in lower):
        return True
    return any(one in lower and other in lower for one, other in PAIRS)


def _has_counted_names(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether columns are named 0, 1, 2, ... after an empty cell or a word, or anything after an empty cell."""
    if is_number(first[0]) or len(first) < 3:
        return False
    named = list(first[1:])
    if first[0] == "" and not any(is_number(cell) or not cell for cell in named):
        return True
    if first[0] and len(named) < 4:  # too short to distinguish from data
        return False
    counted = any(named == [str(k + start) for k in range(len(named))] for start in (0, 1))
    return counted and not any(list(row[1:]) == named for row in body)
