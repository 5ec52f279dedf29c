"""What a file may take: limits that no ordinary file reaches, each with an environment variable that raises it.

A file of a few kilobytes can claim, or decompress to, more than any machine holds. Readers therefore stop with an error
at these limits, in bounded memory.

>>> LINE_BYTES.check(80)
>>> ID_BYTES.check(20_000, "features.csv", 3)
Traceback (most recent call last):
    ...
planetoid.errors.DataError: features.csv, line 3: an id or a label of 20,000 bytes is over the limit of 4,096; set the
environment variable PLANETOID_MAX_ID_BYTES to raise it
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "EXPANSION",
    "ID_BYTES",
    "LINE_BYTES",
    "TABLE_COLUMNS",
    "Limit",
    "check_expansion",
    "check_lengths",
]

SMALL = 2**24  # decompressed bytes that need no limit, however few they were before


@dataclass(frozen=True)
class Limit:
    """An upper limit.

    Attributes
    ----------
    variable : str
        Environment variable that replaces the default.
    default : int
    words : str
        What is limited, with ``{}`` for the amount that was found.
    hint : str
        What to do instead of raising it.
    """

    variable: str
    default: int
    words: str
    hint: str = ""

    @property
    def value(self) -> int:
        """The limit that applies now."""
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        try:
            value = int(text)
        except ValueError:
            value = 0
        if value < 1:
            raise ParameterError(f"the environment variable {self.variable} must be an integer >= 1, got {text!r}")
        return value

    def check(self, amount: int, path: str | Path | None = None, line: int | None = None) -> None:
        """Raise ``DataError`` if an amount is over the limit."""
        limit = self.value
        if amount > limit:
            raise DataError(
                f"{self.words.format(f'{amount:,}')} is over the limit of {limit:,}",
                hint=f"{self.hint}set the environment variable {self.variable} to raise it",
                path=path,
                line=line,
            )


LINE_BYTES = Limit("PLANETOID_MAX_LINE_BYTES", 2**24, "a line of {} bytes or more")
ID_BYTES = Limit("PLANETOID_MAX_ID_BYTES", 2**12, "an id or a label of {} bytes")
COLUMNS = Limit("PLANETOID_MAX_COLUMNS", 10_000_000, "a matrix of {} columns")
TABLE_COLUMNS = Limit(
    "PLANETOID_MAX_TABLE_COLUMNS",
    100_000,
    "a table of {} columns or more",
    "write the features as .npz, .svm or tokens, or ",
)
EXPANSION = Limit("PLANETOID_MAX_EXPANSION", 200, "a file that decompresses to {} times its size")


def check_lengths(values: pa.Array, path: Path | None) -> None:
    """Raise ``DataError`` if one of an array of ids, or of labels, is too long; numbers never are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        ID_BYTES.check(pc.max(pc.binary_length(values)).as_py() or 0, path)


def check_expansion(path: Path, size: int) -> None:
    """Raise ``DataError`` if a file holds far more bytes, ``size``, than it has on disk."""
    if size > SMALL:
        EXPANSION.check(size // max(1, path.stat().st_size), path)
