"""Cells of a column as numbers, strings, dates, booleans or lists, whether the file has types or only text.

A model is fitted on a Parquet file and gets new rows as CSV, or the other way round: both must give the same features,
so every conversion takes a typed column as well as text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "DATE_FORMATS",
    "FALSE",
    "TRUE",
    "Lists",
    "Numbers",
    "booleans_of",
    "dates_of",
    "is_list",
    "is_text",
    "lists_of",
    "numbers_of",
    "strings_of",
]

MISSING = ("", "NA", "N/A", "n/a", "na", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "-", "?")
TRUE, FALSE = ("true", "yes", "t", "y"), ("false", "no", "f", "n")
DATE_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d")
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
# Groups of three digits, by the decimal separator; 04.01.2021 is no number.
THOUSANDS = {".": r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$", ",": r"^[+-]?[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?$"}
SPACES_AND_UNITS = "[\\s\u00a0\u202f'$€£%]"  # inside of numbers: 1 000, 1'000, 20 %, € 5


class Numbers(NamedTuple):
    """Finite numbers, NaN where there is none, and the first cell that is not empty and yet no number."""

    values: npt.NDArray[np.float64]
    n_invalid: int = 0
    example: str | None = None


class Lists(NamedTuple):
    """Lists of all rows, one after the other; the list of row k is ``values[offsets[k]:offsets[k + 1]]``."""

    offsets: npt.NDArray[np.int64]
    values: pa.Array
    is_missing: npt.NDArray[np.bool_]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of values in each list."""
        return np.diff(self.offsets)


def is_text(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds strings."""
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def is_list(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds lists, as Parquet and JSON have them."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(column.type) for test in tests)


def strings_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells as trimmed text, null where they are empty or say that a value is missing.

    >>> strings_of(pa.chunked_array([[" a ", "NA", ""]])).to_pylist()
    ['a', None, None]
    >>> strings_of(pa.chunked_array([[1.0, None]])).to_pylist()
    ['1', None]
    """
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_finite(column), column, None)
        if pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py():  # integers that a gap turned into floats
            column = column.cast(pa.int64(), safe=False)
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return pc.if_else(pc.is_in(text, value_set=pa.array(MISSING, pa.large_string())), None, text)


def numbers_of(column: pa.ChunkedArray, decimal: str = ".") -> Numbers:
    """Return cells as numbers; text that is no number, and infinity, is missing.

    >>> numbers_of(pa.chunked_array([["1.234,5", "20 %", "many"]]), decimal=",")
    Numbers(values=array([1234.5,   20. ,    nan]), n_invalid=1, example='many')
    """
    if not is_text(column):
        if pa.types.is_duration(column.type):
            column = column.cast(pa.int64())
        values = np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        values[~np.isfinite(values)] = np.nan
        return Numbers(values)
    text = strings_of(column)
    plain = pc.replace_substring_regex(text, SPACES_AND_UNITS, "")
    grouped = pc.match_substring_regex(plain, THOUSANDS[decimal])
    plain = pc.if_else(grouped, pc.replace_substring(plain, "." if decimal == "," else ",", ""), plain)
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    valid = pc.match_substring_regex(plain, NUMBER)
    values = np.array(pc.if_else(valid, plain, None).cast(pa.float64()).to_numpy(), dtype=np.float64)
    values[~np.isfinite(values)] = np.nan  # 1e999
    invalid = text.filter(pc.and_(pc.is_valid(text), pc.invert(pc.fill_null(valid, True))))
    return Numbers(values, len(invalid), invalid[0].as_py() if len(invalid) else None)


def booleans_of(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return yes and true as 1, no and false as 0, everything else as NaN."""
    if not is_text(column):
        return numbers_of(column).values
    text = pc.utf8_lower(strings_of(column))
    yes, no = (np.asarray(pc.is_in(text, value_set=pa.array(words, pa.large_string()))) for words in (TRUE, FALSE))
    return np.where(yes, 1.0, np.where(no, 0.0, np.nan))


def dates_of(column: pa.ChunkedArray, written: str | None = None) -> pa.ChunkedArray:
    """Return cells as timestamps in seconds; ``written`` is how the dates of a text column are written."""
    if is_text(column):
        text = strings_of(column)
        if written is None:
            return pa.chunked_array([pa.nulls(len(text), pa.timestamp("s"))])
        day = pc.list_element(pc.split_pattern_regex(text, "[T ]", max_splits=1), 0)
        clock = pc.struct_field(pc.extract_regex(text, r"[T ](?P<clock>[0-9]{2}:[0-9]{2})"), "clock")
        whole = pc.binary_join_element_wise(day, pc.fill_null(clock, "00:00"), pa.scalar(" ", text.type))
        return pc.strptime(whole, format=f"{written} %H:%M", unit="s", error_is_null=True)
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return column.cast(pa.timestamp("s", tz=getattr(column.type, "tz", None)), safe=False).cast(pa.timestamp("s"))
    return pa.chunked_array([pa.nulls(len(column), pa.timestamp("s"))])


def lists_of(column: pa.ChunkedArray) -> Lists:
    """Return lists: of a list column, or of text such as ``[0.5, 1]``, ``['a', 'b']``, ``a|b`` and ``a; b``."""
    if is_list(column):
        lists = column.cast(pa.large_list(column.type.value_type)).combine_chunks()
        missing = np.asarray(lists.is_null())
        lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), dtype=np.int64)
        return Lists(np.concatenate([[0], np.cumsum(lengths)]), lists.flatten(), missing)
    text = strings_of(column).combine_chunks()
    missing = np.asarray(text.is_null())
    inner = pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.fill_null(text, ""), r"^[\[({]|[\])}]$", ""))
    bracketed = pc.match_substring_regex(pc.fill_null(text, ""), r"^[\[({]")
    blanks = pc.and_(bracketed, pc.invert(pc.match_substring_regex(inner, "[,;|'\"]")))  # as numpy prints arrays
    inner = pc.if_else(blanks, pc.replace_substring_regex(inner, r"\s+", ","), inner)
    parts = pc.split_pattern_regex(inner, r"\s*[,;|]\s*")
    values = pc.utf8_trim(parts.flatten(), " \t'\"")
    keep = pc.not_equal(values, "")
    row = np.repeat(np.arange(len(text)), np.asarray(pc.list_value_length(parts), dtype=np.int64))
    lengths = np.bincount(row[np.asarray(keep)], minlength=len(text))
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), values.filter(keep), missing)
