"""What the columns of a node table are, decided from their cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import ParameterError
from planetoid.preparation.cells import (
    DATE_FORMATS,
    FALSE,
    TRUE,
    dates_of,
    is_list,
    is_text,
    lists_of,
    numbers_of,
    strings_of,
)

__all__ = ["ColumnOptions", "Guess", "guess_kind"]

MOST = 0.95  # share of the filled cells that must be numbers or dates; the others become missing values
MOSTLY_DISTINCT = 0.9
FEW_DISTINCT = 10
WORDS_OF_TEXT = 4.0  # mean number of words from which a string is free text
SHARE_OF_TAGS = 0.5
SAMPLE = 10_000  # cells that are looked at where counting words in all of them would say no more


@dataclass(frozen=True)
class ColumnOptions:
    """What the caller knows about the columns of a node table.

    Attributes
    ----------
    text_columns, categorical : sequences of str
        Columns that are free text, and columns whose values are categories, whatever they look like.
    decimal : {".", ","} or None
        Decimal separator of numbers in text; by default that of the file.
    """

    text_columns: Sequence[str] = ()
    categorical: Sequence[str] = ()
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal must be '.' or ',', got {self.decimal!r}", parameter="decimal")
        both = [name for name in self.text_columns if name in self.categorical]
        if both:
            raise ParameterError(f"the column {both[0]!r} is both text and categorical", parameter="categorical")


class Guess(NamedTuple):
    """What a column is: its kind, and how its cells are written, or why it is left out (kind ``"none"``)."""

    kind: str
    written: str = ""


def guess_kind(name: str, column: pa.ChunkedArray, options: ColumnOptions, decimal: str = ".") -> Guess:
    """Decide what a column is; ``decimal`` is the decimal separator of the file."""
    if name in options.text_columns:
        return Guess("text")
    if name in options.categorical:
        return Guess("category")
    if column.null_count == len(column):
        return Guess("none", "it is empty")
    kind = _kind_of_type(column.type)
    if kind is not None:
        is_integer = pa.types.is_integer(column.type)
        return (_identifier(name, column) if is_integer else None) or Guess(kind, "." if kind == "number" else "")
    if is_list(column):
        return _guess_list(column)
    if is_text(column):
        return _guess_text(name, column, options, decimal)
    return Guess("none", f"its type is {column.type}")


@cache
def _kind_of_type(kind: pa.DataType) -> str | None:
    tests = {
        "boolean": (pa.types.is_boolean,),
        "date": (pa.types.is_date, pa.types.is_timestamp),
        "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_duration),
    }
    return next((name for name, known in tests.items() if any(test(kind) for test in known)), None)


def _identifier(name: str, column: pa.ChunkedArray) -> Guess | None:
    """Return that a column of integers is a second id, by its name and its distinct values."""
    named = re.search(r"(^|[_\W])(id|uuid|key)$|[a-z]Id$", name) is not None
    if named and pc.count_distinct(column).as_py() == len(column) > FEW_DISTINCT:
        return Guess("none", "it is an identifier: every value is different")
    return None


def _guess_list(column: pa.ChunkedArray) -> Guess:
    kind = column.type.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        lengths = lists_of(column).lengths
        filled = lengths[lengths > 0]
        if len(filled) and filled.min() == filled.max() > 1:
            return Guess("embedding", str(int(filled[0])))
    if any(test(kind) for test in (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string)):
        return Guess("tokens")
    return Guess("none", f"its type is {column.type}")


def _guess_text(name: str, column: pa.ChunkedArray, options: ColumnOptions, decimal: str) -> Guess:
    text = strings_of(column)
    filled = text.filter(pc.is_valid(text))
    if not len(filled):
        return Guess("none", "it is empty")
    decimal = options.decimal or decimal
    distinct = pc.unique(filled)
    lower = {cell.lower() for cell in distinct[:5].to_pylist()}
    if len(distinct) <= 4 and lower <= {*TRUE, *FALSE}:
        return Guess("boolean")
    if 1 - numbers_of(filled, decimal).n_invalid / len(filled) >= MOST and not _has_leading_zeros(filled):
        integers = pc.all(pc.match_substring_regex(filled, "^[0-9]+$")).as_py()
        return (_identifier(name, column) if integers else None) or Guess("number", decimal)
    written = _date_format(filled)
    if written is not None:
        return Guess("date", written)
    sample = filled[:SAMPLE]
    return _guess_lists_in_text(sample) or _guess_words(sample, len(distinct), len(filled))


def _guess_lists_in_text(sample: pa.ChunkedArray) -> Guess | None:
    bracketed = pc.match_substring_regex(sample, r"(?s)^\[.*\]$")
    if pc.mean(bracketed).as_py() >= MOST:
        lists = lists_of(sample)
        lengths = lists.lengths[lists.lengths > 0]
        same = len(lengths) > 0 and lengths.min() == lengths.max() > 1
        if same and numbers_of(pa.chunked_array([lists.values])).n_invalid == 0:
            return Guess("embedding", str(int(lengths[0])))
        return Guess("tokens")
    tags = pc.match_substring_regex(sample, r"^[^|;.!?]+([|;][^|;.!?]+)+$")
    return Guess("tokens") if pc.mean(tags).as_py() >= SHARE_OF_TAGS else None


def _guess_words(sample: pa.ChunkedArray, n_distinct: int, n_filled: int) -> Guess:
    words = float(np.mean(np.asarray(pc.list_value_length(pc.utf8_split_whitespace(sample)))))
    if n_distinct <= FEW_DISTINCT and n_filled > 2 * n_distinct:
        return Guess("category")
    if words >= WORDS_OF_TEXT:
        return Guess("text")
    if n_distinct >= MOSTLY_DISTINCT * n_filled and n_filled > FEW_DISTINCT:
        return Guess("none", "almost every value is different")
    return Guess("category")


def _has_leading_zeros(filled: pa.ChunkedArray) -> bool:
    """Return whether numbers are codes such as 01067, which a number would not keep apart from 1067."""
    return bool(pc.any(pc.match_substring_regex(filled, r"^0[0-9]+$")).as_py())


def _date_format(filled: pa.ChunkedArray) -> str | None:
    alike = pc.match_substring_regex(filled[:SAMPLE], r"^[0-9]{1,4}[./-]?[0-9]{1,2}[./-]?[0-9]{2,4}")
    if pc.mean(alike).as_py() < MOST:
        return None
    valid = {written: len(filled) - dates_of(filled, written).null_count for written in DATE_FORMATS}
    best = max(DATE_FORMATS, key=lambda written: valid[written])
    return best if valid[best] >= MOST * len(filled) else None
