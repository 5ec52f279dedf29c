"""Opening files: whether there is something to read, how it is compressed, and what a foreign file really is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from planetoid.errors import DataError
from planetoid.io.limits import check_expansion
from planetoid.io.spooling import is_pipe, local_file

__all__ = [
    "COMPRESSIONS",
    "Compression",
    "check_file",
    "check_not_encrypted",
    "has_signature",
    "open_bytes",
    "plain_suffix",
]

ENCRYPTED = 1  # flag of a file in a zip archive
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Compression:
    """A way to compress text files: recognised by content, whatever the name of the file."""

    name: str
    suffix: str
    magic: bytes | tuple[bytes, ...]
    open: Callable[[Path], BinaryIO]
    errors: tuple[type[Exception], ...]


def _open_gzip(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "rb"))


def _open_bzip2(path: Path) -> BinaryIO:
    return cast("BinaryIO", bz2.open(path, "rb"))


def _open_xz(path: Path) -> BinaryIO:
    return cast("BinaryIO", lzma.open(path, "rb"))


def _open_zstd(path: Path) -> BinaryIO:
    import pyarrow as pa

    return cast("BinaryIO", io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")))


def _open_zip(path: Path) -> BinaryIO:
    """Open the only file in an archive."""
    archive = zipfile.ZipFile(path)
    check_not_encrypted(archive, path)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise DataError("the file is a spreadsheet", hint="save the sheet as CSV")
    if any(name.endswith(".npy") for name in names):
        raise DataError("the file is a NumPy archive (.npz)", hint="give it the suffix .npz")
    if len(names) != 1:
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise DataError(f"the zip archive has {len(names)} files: {listed}", hint="extract the one to read")
    return cast("BinaryIO", archive.open(names[0]))


def check_not_encrypted(archive: zipfile.ZipFile, path: Path) -> None:
    """Raise ``DataError`` if a password is needed for a file in the archive."""
    if any(member.flag_bits & ENCRYPTED for member in archive.infolist()):
        raise DataError("the archive is encrypted", path=path, hint="extract it, or save it without a password")


COMPRESSIONS = (
    Compression("gzip", ".gz", b"\x1f\x8b", _open_gzip, (EOFError, zlib.error, gzip.BadGzipFile)),
    Compression(
        "bzip2", ".bz2", tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)), _open_bzip2, (EOFError, OSError)
    ),
    Compression("xz", ".xz", b"\xfd7zXZ", _open_xz, (EOFError, lzma.LZMAError)),
    Compression("zstd", ".zst", b"\x28\xb5\x2f\xfd", _open_zstd, (OSError,)),
    Compression("zip", ".zip", b"PK\x03\x04", _open_zip, (EOFError, zlib.error, zipfile.BadZipFile)),
)


class ForeignFile(NamedTuple):
    """A kind of file that is not read as text, by its first bytes."""

    magic: bytes
    kind: str
    hint: str

    @property
    def is_certain(self) -> bool:
        """Whether no text begins with these bytes."""
        return not self.magic.isalnum() or not self.magic.isascii()


CONVERT = "convert it to Parquet or CSV"
PICKLE = "a Python pickle, which is never loaded because it may run any code"
UNPICKLE = (
    "load it where you trust it and save what is in it: a networkx graph with "
    "networkx.to_pandas_edgelist(graph).to_csv('edges.csv', index=False)"
)
XML = "read it with networkx and save its edges: networkx.to_pandas_edgelist(graph).to_csv('edges.csv', index=False)"
FOREIGN = (
    ForeignFile(b"\xd0\xcf\x11\xe0", "an Excel sheet", "save it as CSV"),
    ForeignFile(b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    ForeignFile(b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    ForeignFile(b"ARROW1", "an Arrow (Feather) file", CONVERT),
    ForeignFile(b"\x93NUMPY", "a NumPy array (.npy)", CONVERT),
    ForeignFile(b"MATLAB 5.0 MAT-file", "a MATLAB file", CONVERT),
    ForeignFile(b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    ForeignFile(b"\x89HDF\r\n\x1a\n", "an HDF5 file", CONVERT),
    ForeignFile(b"ORC", "an ORC file", CONVERT),
    ForeignFile(b"Obj\x01", "an Avro file", CONVERT),
    ForeignFile(b"$FL2", "an SPSS file", CONVERT),
    ForeignFile(b"<stata_dta>", "a Stata file", CONVERT),
    ForeignFile(b"RDX", "an R data file", CONVERT),
    ForeignFile(b"%PDF", "a PDF document", "save the table in it as CSV"),
    ForeignFile(b"7z\xbc\xaf\x27\x1c", "a 7z archive", "extract it"),
    ForeignFile(b"Rar!", "a rar archive", "extract it"),
    ForeignFile(b"<?xml", "an XML file, perhaps GraphML or GEXF", XML),
    ForeignFile(b"<graphml", "a GraphML file", XML),
    *(ForeignFile(bytes([0x80, protocol]), PICKLE, UNPICKLE) for protocol in range(2, 6)),
)
FIRST_BYTES = 128  # more than any signature needs


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
        kind = stat.S_IFREG if is_pipe(path) else path.stat().st_mode  # a pipe is read once, into a file
        start = b""
        if stat.S_ISREG(kind):
            with local_file(path).open("rb") as file:
                start = file.read(FIRST_BYTES)
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


def has_signature(path: Path, signature: bytes, *, at_end: bool = True, offset: int = 0) -> bool:
    """Return whether a file begins with some bytes after ``offset`` and, if ``at_end``, ends with them too.

    Text may begin with the letters of a signature, but does not end with them too.
    """
    try:
        if not path.is_file() and not is_pipe(path):
            return False
        with local_file(path).open("rb") as file:
            file.seek(offset)
            if file.read(len(signature)) != signature:
                return False
            if not at_end:
                return True
            file.seek(-len(signature), 2)
            return file.read() == signature
    except OSError:  # check_file says why it cannot be read
        return False


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a text file as bytes, decompressed, after the byte order mark if there is one."""
    start = check_file(path)
    for foreign in FOREIGN:
        # Text may begin with the letters of a signature, but has no zero bytes.
        if start.startswith(foreign.magic) and (foreign.is_certain or b"\x00" in start):
            raise DataError(f"the file is {foreign.kind}", path=path, hint=foreign.hint)
    compression = next((known for known in COMPRESSIONS if start.startswith(known.magic)), None)
    if compression is None:
        with local_file(path).open("rb") as file:
            yield _after_mark(file)
        return
    try:
        local = local_file(path)
        with compression.open(local) as compressed, io.BufferedReader(_Decompressed(local, compressed)) as decompressed:
            yield _after_mark(cast("BinaryIO", decompressed))
    except DataError as error:
        raise error if error.path is not None else DataError(error.message, hint=error.hint, path=path) from None
    except compression.errors:
        raise DataError(
            f"the {compression.name} data is truncated or corrupt", path=path, hint="download or write it again"
        ) from None


class _Decompressed(io.RawIOBase):
    """Decompressed bytes, as far as they are in proportion to the file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._file.readinto(buffer))  # type: ignore[attr-defined]
        self._size += count
        check_expansion(self._path, self._size)
        return count


def _after_mark(file: BinaryIO) -> BinaryIO:
    """Skip the byte order mark, which is not part of the first id; not every stream can go back."""
    if cast("io.BufferedReader", file).peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK):
        file.read(len(BYTE_ORDER_MARK))
    return file
