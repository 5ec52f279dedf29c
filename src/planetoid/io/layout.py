"""How a text table is laid out: separator, header, comments; found from its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from planetoid.errors import DataError, ParameterError
from planetoid.io.files import open_binary, plain_suffix
from planetoid.io.header import looks_like_header

__all__ = ["BLANKS", "WHITESPACE", "Layout", "decode_line", "first_records", "sniff_layout", "split_line"]

WHITESPACE = " "  # as a separator: any run of blanks and tabs
BLANKS = " \t\r\n\f\v"  # a line of these alone is skipped
SPELLED = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar", WHITESPACE: "blanks"}
SAMPLE_LINES = 200
SAMPLE_BYTES = 2**20
MOST_COLUMNS_FIRST = (",", ";", "|")


@dataclass(frozen=True)
class Layout:
    """What the first lines tell about a text table.

    Attributes
    ----------
    separator : str
        One character; a blank stands for any run of blanks and tabs.
    names : tuple of str or None
        The header, if there is one.
    width : int
        Number of columns.
    skip : int
        Lines before the first record.
    sample : list of list of str
        Cells of the first records.
    header_known : bool
        Whether the lines, or the caller, left no doubt about the header.
    """

    separator: str
    names: tuple[str, ...] | None
    width: int
    skip: int
    sample: list[list[str]]
    header_known: bool


def sniff_layout(path: Path, header: bool | None, separator: str | None) -> Layout:
    """Find the layout of a text table; ``header`` and ``separator`` are what the caller knows."""
    _check_separator(separator)
    lines = first_records(path)
    texts = [text for _, text in lines]
    chosen = _known_separator(path, texts, separator) if separator else _choose_separator(path, texts)
    rows = [split_line(text, chosen) for text in texts]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    found = looks_like_header(rows[0], rows[1:]) if header is None else header
    first_line = lines[0][0]
    if not found:
        return Layout(chosen, None, width, first_line - 1, rows, header_known=found is not None)
    if len(rows[0]) != width:
        raise DataError(
            f"{path}, line {first_line}: the header has {_cells(len(rows[0]))}, but the lines below have {width}; "
            "every line needs the same number"
        )
    return Layout(chosen, tuple(rows[0]), width, first_line, rows[1:], header_known=True)


def first_records(path: Path) -> list[tuple[int, str]]:
    """Return number and text of the first lines that are neither blank nor comments at the top."""
    lines = _without_comments(_first_lines(path))
    if not lines:
        raise DataError(f"{path} has no lines but comments and blank ones")
    return lines


def split_line(text: str, separator: str, *, strict: bool = False) -> list[str]:
    """Split one line into cells, stripped of blanks around them; ``strict`` raises ``csv.Error`` at wrong quotes."""
    if separator == WHITESPACE:
        text = re.sub(r"[ \t]+", " ", text).strip(" ")
    cells = text.split(separator)
    if '"' in text and max(map(len, cells)) < csv.field_size_limit():
        with nullcontext() if strict else suppress(csv.Error):
            cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=strict))
    return [cell.strip() for cell in cells]


def decode_line(path: Path, number: int, line: bytes) -> str:
    """Decode one line as UTF-8, or raise a ``DataError`` that names it."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}: byte {line[error.start]:#04x} at place {error.start + 1} is not UTF-8; "
            "save the file as UTF-8 (it may be Latin-1 now)"
        ) from None


def _first_lines(path: Path) -> list[tuple[int, str]]:
    """Return number and text of the first lines that are not blank."""
    lines: list[tuple[int, str]] = []
    size = 0
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            size += len(line)
            text = decode_line(path, number, line).rstrip("\r\n")
            if "\r" in text:
                raise DataError(f"{path}, line {number}: a line ends in a bare carriage return; end lines in a newline")
            if text.strip(BLANKS):
                lines.append((number, text))
            if len(lines) >= SAMPLE_LINES or (size > SAMPLE_BYTES and len(lines) >= 3):
                break
    return lines


def _without_comments(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Leave out the comments at the top, but not a first edge between hashtags."""
    start = next((k for k, (_, text) in enumerate(lines) if not text.startswith("#")), len(lines))
    hashtag = re.compile(r"(^|[\s,;|\"])#\w")
    if start == len(lines) or any(hashtag.search(text) for _, text in lines[start:]):
        start = next((k for k, (_, text) in enumerate(lines) if not re.match(r"#\W|#$", text)), len(lines))
    return lines[start:]


def _check_separator(separator: str | None) -> None:
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise ParameterError(f"separator={separator!r}; it is one character such as ',' or '\\t' (' ': any blanks)")


def _known_separator(path: Path, texts: Sequence[str], separator: str) -> str:
    if not any(len(split_line(text, separator)) > 1 for text in texts):
        try:
            better = f"; it looks separated by {SPELLED[_choose_separator(path, texts)]}"
        except DataError:
            better = ""
        raise DataError(f"{path} has one column when it is split at {separator!r}{better}")
    return separator


def _choose_separator(path: Path, texts: Sequence[str]) -> str:
    """Take the separator that gives all lines the same number of cells, two or more."""
    agreement = {}
    columns = {}
    for candidate in SPELLED:
        counts = Counter(len(split_line(text, candidate)) for text in texts)
        columns[candidate], votes = counts.most_common(1)[0]
        agreement[candidate] = votes / len(texts) if columns[candidate] > 1 else 0.0
    by_columns = sorted(MOST_COLUMNS_FIRST, key=lambda c: -columns[c])
    order = ["\t", *by_columns]
    if plain_suffix(path) == ".csv":  # a tab inside a cell is likelier than a .csv of tabs
        order = [*by_columns, "\t"]
    best = max(order, key=lambda c: agreement[c])
    if agreement[best] <= 0.5:
        best = max([*order, WHITESPACE], key=lambda c: agreement[c])
    if agreement[best] == 0:
        raise DataError(
            f"{path} has one column, for instance {texts[0][:60]!r}; "
            "separate cells by a comma, a tab, a semicolon, a bar or blanks, or name the separator"
        )
    return best


def _cells(count: int) -> str:
    return "one cell" if count == 1 else f"{count} cells"
