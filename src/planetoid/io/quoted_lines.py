"""Cells that contain line breaks, as free text does: joined to one line each, without moving the lines below."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from planetoid.io.opening import open_bytes

__all__ = ["JoinedLines", "has_lines_inside_of_cells"]

MOST_LINES = 1000  # of one cell; beyond, a quote was probably never closed


def has_lines_inside_of_cells(path: Path) -> bool:
    """Return whether a line has a quote that is closed on a later line."""
    with open_bytes(path) as file:
        return any(b'"' in line and line.count(b'"') % 2 for line in file)


class JoinedLines(io.RawIOBase):
    r"""The lines of a text file, with a blank for each line break inside of quotes.

    As many blank lines follow as were joined, which readers skip, so that every record keeps its line number.

    >>> text = io.BytesIO(b'a,"one\ntwo"\nb,three\n')
    >>> JoinedLines(text).read()
    b'a,"one two"\n\nb,three\n'
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._ready:
            self._ready = self._record()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _record(self) -> bytes:
        """Return the next line, together with those that its quotes reach to."""
        lines = [self._file.readline()]
        is_open = lines[0].count(b'"') % 2
        while is_open and lines[-1] and len(lines) < MOST_LINES:
            lines.append(self._file.readline())
            is_open ^= lines[-1].count(b'"') % 2
        if is_open or len(lines) == 1:
            return b"".join(lines)
        return b" ".join(line.rstrip(b"\r\n") for line in lines) + b"\n" * len(lines)
