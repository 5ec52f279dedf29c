"""Cells that contain line breaks, as free text does: joined to one line each, without moving the lines below."""

from __future__ import annotations

import io
from typing import BinaryIO

from planetoid.io.limits import LINE_BYTES

__all__ = ["JoinedLines"]

MOST_LINES = 1000  # of one cell; beyond, a quote was probably never closed
PIECE = 2**20  # bytes that are looked at together; without a quote among them, they are passed on


class JoinedLines(io.RawIOBase):
    r"""The lines of a text file, with a blank for each line break inside of quotes.

    As many blank lines follow as were joined, which readers skip, so that every record keeps its line number.

    >>> text = io.BytesIO(b'a,"one\ntwo"\nb,three\n')
    >>> JoinedLines(text).read()
    b'a,"one two"\n\nb,three\n'
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._ready:
            self._ready = self._next_piece()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _next_piece(self) -> memoryview:
        piece = self._file.read(PIECE)
        if b'"' in piece:
            piece += self._file.readline(LINE_BYTES.value + 1)  # to the end of the line
            lines, records = io.BytesIO(piece), []
            while line := lines.readline():
                records.append(self._record(line, lines) if line.count(b'"') % 2 else line)
            piece = b"".join(records)
        return memoryview(piece)

    def _record(self, first: bytes, rest: BinaryIO) -> bytes:
        """Return a line together with those that its quotes reach to."""
        lines, is_open = [first], 1
        while is_open and lines[-1] and len(lines) < MOST_LINES:
            lines.append(rest.readline() or self._file.readline(LINE_BYTES.value + 1))
            is_open ^= lines[-1].count(b'"') % 2
        if is_open:
            return b"".join(lines)
        return b" ".join(line.rstrip(b"\r\n") for line in lines) + b"\n" * len(lines)
