"""Cells that contain line breaks, as free text does: joined to one line each, without moving the lines below."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

__all__ = ["JoinedLines", "joined_blocks"]

MOST_LINES = 1000  # of one cell; beyond, a quote was probably never closed


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


def joined_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield blocks of whole lines as :class:`JoinedLines` would; a block without line breaks in cells as it is.

    >>> list(joined_blocks([b'a,one\n', b'b,"two\n', b'three"\nc,four\n']))
    [b'a,one\n', b'b,"two three"\n\nc,four\n']
    """
    pending = b""
    for block in blocks:
        lines, pending = pending + block, b""
        if b'"' in lines:
            ends, is_open = _line_ends(lines)
            if is_open.any():
                closed = np.flatnonzero(~is_open)
                cut = int(ends[closed[-1]]) + 1 if len(closed) else 0
                if len(ends) - 1 - (closed[-1] if len(closed) else -1) < MOST_LINES:
                    lines, pending = lines[:cut], lines[cut:]
                lines = JoinedLines(io.BytesIO(lines)).read()
        if lines:
            yield lines
    if pending:
        yield JoinedLines(io.BytesIO(pending)).read()


def _line_ends(lines: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the positions of all line breaks, and whether a quote is open there."""
    content = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    quotes = np.flatnonzero(content == ord('"'))
    return ends, np.searchsorted(quotes, ends) % 2 == 1
