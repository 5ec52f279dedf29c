"""Lines of text files: in blocks of bytes for speed, and one by one to say where something is wrong."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from planetoid.errors import DataError
from planetoid.io.limits import LINE_BYTES
from planetoid.io.opening import open_bytes
from planetoid.io.quoted_lines import JoinedLines, joined_blocks

__all__ = ["BLOCK_BYTES", "WHITESPACE", "Line", "decode_line", "first_records", "line_blocks", "numbered_lines"]

WHITESPACE = " \t\r\n\f\v"  # a line of these alone is skipped
BLOCK_BYTES = 2**22
SAMPLE_LINES = 200
SAMPLE_BYTES = 2**20


class Line(NamedTuple):
    """One line of a text file, counted from 1."""

    number: int
    text: str


def line_blocks(path: Path, skip: int, size: int = BLOCK_BYTES, *, joined: bool = False) -> Iterator[bytes]:
    """Yield a file after its first ``skip`` lines, in blocks of whole lines of about ``size`` bytes.

    ``joined``, here and below: cells may contain line breaks.
    """
    if not joined:
        return _line_blocks(path, skip, size)
    return _after(skip, joined_blocks(_line_blocks(path, 0, size)))


def _after(skip: int, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield blocks of lines without their first ``skip`` lines."""
    for block in blocks:
        rest = block
        while skip and rest:
            rest = rest[rest.index(b"\n") + 1 :]
            skip -= 1
        if rest:
            yield rest


def _line_blocks(path: Path, skip: int, size: int) -> Iterator[bytes]:
    with open_bytes(path) as file:
        for _ in zip(range(skip), _lines(path, file), strict=False):
            pass
        rest: list[bytes] = []
        while piece := file.read(size):
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, piece[:cut]])
                rest = []
            rest.append(piece[cut:])
            LINE_BYTES.check(sum(map(len, rest)), path)
        last = b"".join(rest)
        if last:
            yield last + b"\n"


def numbered_lines(path: Path, skip: int = 0, *, joined: bool = False) -> Iterator[Line]:
    """Yield the lines after the first ``skip``, decoded."""
    with _open_lines(path, joined) as file:
        for number, line in enumerate(_lines(path, file), start=1):
            if number > skip:
                yield Line(number, decode_line(path, number, line))


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, and raise ``DataError`` for one that does not end."""
    limit = LINE_BYTES.value
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if len(line) > limit:
            LINE_BYTES.check(len(line), path, number)
        yield line


def decode_line(path: Path, number: int, line: bytes) -> str:
    """Decode one line as UTF-8, or raise ``DataError``."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\x00" in line:
            raise DataError(
                "the file is binary, not text", path=path, line=number, hint="convert it to CSV or Parquet"
            ) from None
        raise DataError(
            f"byte {line[error.start]:#04x} at position {error.start + 1} is not UTF-8",
            path=path,
            line=number,
            hint="save the file as UTF-8 (it may be Latin-1)",
        ) from None


def first_records(path: Path, *, joined: bool = False) -> list[Line]:
    """Return the first lines that are neither blank nor comments at the top of the file."""
    lines = _without_comments(_first_lines(path, joined))
    if not lines:
        raise DataError("the file has only comments and blank lines", path=path)
    return lines


@contextmanager
def _open_lines(path: Path, joined: bool) -> Iterator[BinaryIO]:
    with open_bytes(path) as file:
        yield cast("BinaryIO", io.BufferedReader(JoinedLines(file), BLOCK_BYTES)) if joined else file


def _first_lines(path: Path, joined: bool) -> list[Line]:
    """Return the first lines that are not blank."""
    lines: list[Line] = []
    size = 0
    with _open_lines(path, joined) as file:
        for number, line in enumerate(_lines(path, file), start=1):
            size += len(line)
            text = decode_line(path, number, line).rstrip("\r\n")
            if "\r" in text:
                raise DataError(
                    "a line ends with a bare carriage return", path=path, line=number, hint="end lines with a newline"
                )
            if text.strip(WHITESPACE):
                lines.append(Line(number, text))
            if len(lines) >= SAMPLE_LINES or (size > SAMPLE_BYTES and len(lines) >= 3):
                break
    return lines


def _without_comments(lines: list[Line]) -> list[Line]:
    """Leave out the comments at the top, but not a first edge between hashtags."""
    start = next((k for k, (_, text) in enumerate(lines) if not text.startswith("#")), len(lines))
    hashtag = re.compile(r"(^|[\s,;|\"])#\w")
    if start == len(lines) or any(hashtag.search(text) for _, text in lines[start:]):
        start = next((k for k, (_, text) in enumerate(lines) if not re.match(r"#\W|#$", text)), len(lines))
    return lines[start:]
