"""The dialect of a text table: its separator, header and comments, detected from the first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn

from planetoid.errors import DataError, Fix, ParameterError
from planetoid.io.header import looks_like_header
from planetoid.io.limits import TABLE_COLUMNS
from planetoid.io.lines import Line, first_records
from planetoid.io.opening import plain_suffix

__all__ = ["ANY_WHITESPACE", "Dialect", "detect_dialect", "split_line"]

ANY_WHITESPACE = " "  # as a separator: any run of spaces and tabs
SEPARATORS = (",", "\t", ";", "|", ANY_WHITESPACE)
MOST_COLUMNS_FIRST = (",", ";", "|")
DECLARED = re.compile(r'"?sep=([ -~\t])"?\s*', re.IGNORECASE)  # a first line that names the separator, as Excel has it


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    separator : str
        One character; a space stands for any run of spaces and tabs.
    names : tuple of str or None
        The header, if there is one.
    width : int
        Number of columns.
    skip : int
        Lines before the first record.
    sample : list of list of str
        Cells of the first records.
    header_is_certain : bool
        False if the first line was taken for a record without evidence for or against a header.
    """

    separator: str
    names: tuple[str, ...] | None
    width: int
    skip: int
    sample: list[list[str]]
    header_is_certain: bool


def detect_dialect(
    path: Path, header: bool | None = None, separator: str | None = None, *, joined: bool = False
) -> Dialect:
    """Detect the dialect of a text table, given what the caller knows about its header and separator.

    ``joined``: cells may contain line breaks.
    """
    _check_separator(separator)
    lines, declared = _without_declaration(path, first_records(path, joined=joined))
    texts = [line.text for line in lines]
    if separator is None and declared is not None and _splits(texts, declared):
        separator = declared
    chosen = _detect_separator(path, texts) if separator is None else separator
    if separator is not None and not _splits(texts, separator):
        _refuse_separator(path, texts, separator)
    TABLE_COLUMNS.check(max(_n_cells(text, chosen) for text in texts), path)
    rows = [split_line(text, chosen) for text in texts]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    has_header = looks_like_header(rows[0], rows[1:]) if header is None else header
    first_line = lines[0].number
    if not has_header:
        return Dialect(chosen, None, width, first_line - 1, rows, header_is_certain=has_header is not None)
    if len(rows[0]) != width:
        raise DataError(
            f"the header has {_cells(len(rows[0]))}, but the lines below have {width}",
            path=path,
            line=first_line,
            hint="every line needs the same number of cells; delete the line if it is a title",
        )
    return Dialect(chosen, tuple(rows[0]), width, first_line, rows[1:], header_is_certain=True)


def split_line(text: str, separator: str, *, strict: bool = False) -> list[str]:
    """Split one line into cells without surrounding whitespace; ``strict`` raises ``csv.Error`` at wrong quotes."""
    if separator == ANY_WHITESPACE:
        text = re.sub(r"[ \t]+", " ", text).strip(" ")
    cells = text.split(separator)
    if '"' in text and max(map(len, cells)) < csv.field_size_limit():
        with nullcontext() if strict else suppress(csv.Error):
            cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=strict))
    return [cell.strip() for cell in cells]


def _without_declaration(path: Path, lines: list[Line]) -> tuple[list[Line], str | None]:
    """Leave out a first line such as ``sep=;``; also return the separator that it names, if there is one."""
    found = DECLARED.fullmatch(lines[0].text)
    if found is None or found[1] == '"':
        return lines, None
    if len(lines) == 1:
        raise DataError(f"the file has no records, only the line {lines[0].text.strip()!r}", path=path)
    return lines[1:], found[1]


def _n_cells(text: str, separator: str) -> int:
    """Return the number of cells of a line, at least as far as they are within the limit, without splitting it."""
    limit = TABLE_COLUMNS.value
    if '"' in text and text.count(separator) < limit:
        return len(split_line(text, separator))
    if separator == ANY_WHITESPACE:
        return max(1, sum(1 for _ in islice(re.finditer(r"[^ \t]+", text), limit + 1)))
    return text.count(separator) + 1


def _check_separator(separator: str | None) -> None:
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ParameterError(
            f"separator must be one character such as ',' or '\\t' (' ' for any whitespace), got {separator!r}",
            parameter="separator",
        )


def _splits(texts: Sequence[str], separator: str) -> bool:
    return any(_n_cells(text, separator) > 1 for text in texts)


def _refuse_separator(path: Path, texts: Sequence[str], separator: str) -> NoReturn:
    try:
        better = [Fix("separator", _detect_separator(path, texts), "which the file seems to use")]
    except DataError:
        better = []
    raise DataError(f"the file has only one column if the separator is {separator!r}", path=path, fix=better)


def _detect_separator(path: Path, texts: Sequence[str]) -> str:
    """Return the separator that gives all lines the same number of cells, two or more."""
    agreement = {}
    columns = {}
    for candidate in SEPARATORS:
        counts = Counter(_n_cells(text, candidate) for text in texts)
        columns[candidate], votes = counts.most_common(1)[0]
        agreement[candidate] = votes / len(texts) if columns[candidate] > 1 else 0.0
    by_columns = sorted(MOST_COLUMNS_FIRST, key=lambda c: -columns[c])
    order = ["\t", *by_columns]
    if plain_suffix(path) == ".csv":  # a tab inside a cell is likelier than a .csv of tabs
        order = [*by_columns, "\t"]
    best = max(order, key=lambda c: agreement[c])
    if agreement[best] <= 0.5:
        best = max([*order, ANY_WHITESPACE], key=lambda c: agreement[c])
    if agreement[best] == 0:
        raise DataError(
            f"the file has only one column; its first line is {texts[0][:60]!r}",
            path=path,
            hint="separate cells with a comma, a tab, a semicolon, a bar or spaces",
            fix=Fix("separator", purpose="for any other separator"),
        )
    return best


def _cells(count: int) -> str:
    return "one cell" if count == 1 else f"{count} cells"
