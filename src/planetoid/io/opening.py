"""Opening files: whether there is something to read, how it is compressed, and what a foreign file really is."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from planetoid.errors import DataError
from planetoid.io.limits import check_expansion

__all__ = ["COMPRESSIONS", "Compression", "check_file", "has_signature", "open_bytes", "plain_suffix"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Compression:
    """A way to compress text files: recognised by content, whatever the name of the file."""

    name: str
    suffix: str
    magic: bytes
    open: Callable[[Path], BinaryIO]
    errors: tuple[type[Exception], ...]


def _open_gzip(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb"))


COMPRESSIONS = (Compression("gzip", ".gz", b"\x1f\x8b", _open_gzip, (EOFError, zlib.error, gzip.BadGzipFile)),)


class ForeignFile(NamedTuple):
    """A kind of file that is not read as text, by its first bytes."""

    magic: bytes
    kind: str
    hint: str


DECOMPRESS = "decompress it, or compress it with gzip"
CONVERT = "convert it to Parquet or CSV"
FOREIGN = (
    ForeignFile(b"PK\x03\x04", "a zip archive (.zip, .npz or an Excel sheet)", "extract it, or save it as CSV"),
    ForeignFile(b"\xd0\xcf\x11\xe0", "an Excel sheet", "save it as CSV"),
    ForeignFile(b"BZh91AY&", "compressed with bzip2", DECOMPRESS),
    ForeignFile(b"\xfd7zXZ", "compressed with xz", DECOMPRESS),
    ForeignFile(b"\x28\xb5\x2f\xfd", "compressed with zstd", DECOMPRESS),
    ForeignFile(b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    ForeignFile(b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    ForeignFile(b"ARROW1", "an Arrow (Feather) file", CONVERT),
    ForeignFile(b"FEA1", "an Arrow (Feather) file", CONVERT),
    ForeignFile(b"\x93NUMPY", "a NumPy array (.npy)", CONVERT),
    ForeignFile(b"\x89HDF\r\n\x1a\n", "an HDF5 file", CONVERT),
    ForeignFile(b"MATLAB 5.0 MAT-file", "a MATLAB file", CONVERT),
    ForeignFile(b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    ForeignFile(b"\x80\x04\x95", "a Python pickle, which is never loaded", CONVERT),
    ForeignFile(b"\x80\x05\x95", "a Python pickle, which is never loaded", CONVERT),
)
LONGEST_MAGIC = max(len(foreign.magic) for foreign in FOREIGN)


def plain_suffix(path: Path) -> str:
    """Return the suffix in lower case, without that of a compression.

    >>> plain_suffix(Path("Edges.CSV.gz"))
    '.csv'
    """
    suffix = path.suffix.lower()
    is_compression = any(suffix == compression.suffix for compression in COMPRESSIONS)
    return path.with_suffix("").suffix.lower() if is_compression else suffix


def check_file(path: Path) -> bytes:
    """Return the first bytes of a file, or raise ``DataError`` if there is nothing to read."""
    try:
        kind = path.stat().st_mode
        start = b""
        if stat.S_ISREG(kind):
            with path.open("rb") as file:
                start = file.read(LONGEST_MAGIC)
    except FileNotFoundError:
        raise DataError("no such file", path=path) from None
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror}", path=path) from None
    except ValueError as error:
        raise DataError(f"cannot read the file: {error}", path=path) from None  # the path has a null character
    if stat.S_ISDIR(kind):
        raise DataError("the path is a folder, not a file", path=path)
    if not stat.S_ISREG(kind):  # a pipe can be read only once, a device may have no end
        raise DataError("the path is not a regular file", path=path, hint="write the content to a file first")
    if not start:
        raise DataError("the file is empty", path=path)
    return start


def has_signature(path: Path, signature: bytes) -> bool:
    """Return whether a file both begins and ends with some bytes (text may begin so, but does not end so too)."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            if file.read(len(signature)) != signature:
                return False
            file.seek(-len(signature), 2)
            return file.read() == signature
    except OSError:  # check_file says why it cannot be read
        return False


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a text file as bytes, decompressed, after the byte order mark if there is one."""
    start = check_file(path)
    for foreign in FOREIGN:
        if start.startswith(foreign.magic):
            raise DataError(f"the file is {foreign.kind}", path=path, hint=foreign.hint)
    compression = next((known for known in COMPRESSIONS if start.startswith(known.magic)), None)
    if compression is None:
        with path.open("rb") as file:
            yield _after_mark(file)
        return
    try:
        with compression.open(path) as compressed, io.BufferedReader(_Decompressed(path, compressed)) as decompressed:
            yield _after_mark(cast("BinaryIO", decompressed))
    except compression.errors:
        raise DataError(
            f"the {compression.name} data is truncated or corrupt", path=path, hint="download or write it again"
        ) from None


class _Decompressed(io.RawIOBase):
    """Decompressed bytes, as far as they are in proportion to the file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)  # type: ignore[attr-defined]
        check_expansion(self._path, self._file.tell())
        return int(count)


def _after_mark(file: BinaryIO) -> BinaryIO:
    """Skip the byte order mark, which is not part of the first id."""
    if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
        file.seek(0)
    return file
