"""Lines of text files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from planetoid.io.files import open_binary
from planetoid.io.layout import decode_line

__all__ = ["Line", "numbered_lines"]


class Line(NamedTuple):
    """One line of a text file, counted from 1."""

    number: int
    text: str


def numbered_lines(path: Path, skip: int = 0) -> Iterator[Line]:
    """Yield the lines after the first ``skip``, decoded."""
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            if number > skip:
                yield Line(number, decode_line(path, number, line))
