"""Opening files: what is there, what it is, and what is wrong with it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from planetoid.errors import DataError

__all__ = ["check_file", "is_parquet", "open_binary", "plain_suffix"]

# How files begin that look like text by their name but are not.
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel sheet; unpack it or save it as CSV",
    b"BZh91AY&": "compressed with bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it, or compress it with gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def plain_suffix(path: Path) -> str:
    """Return the suffix in lower case, looking through ``.gz``."""
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix == ".gz" else suffix


def is_parquet(path: Path) -> bool:
    """Tell whether a file is, or calls itself, Parquet."""
    start = check_file(path)
    if plain_suffix(path) in (".parquet", ".pq"):
        return True
    if not start.startswith(b"PAR1"):
        return False
    with path.open("rb") as file:  # text may begin so, but it does not end so too
        file.seek(-4, 2)
        return file.read() == b"PAR1"


def check_file(path: Path) -> bytes:
    """Return the first bytes of a file, or raise a ``DataError`` if there is nothing to read."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give a file")
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    if not start:
        raise DataError(f"{path} is empty")
    return start


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open text as bytes, unpacked if it is gzip (by its content, whatever its name)."""
    start = check_file(path)
    for magic, what in FOREIGN.items():
        if start.startswith(magic):
            raise DataError(f"{path} is {what}")
    opened: Any = gzip.open if start.startswith(b"\x1f\x8b") else open
    try:
        with opened(path, "rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":  # a byte order mark, which no id begins with
                file.seek(0)
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path} is cut short or damaged: its gzip data break off; fetch or write it again") from None
