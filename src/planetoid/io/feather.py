"""Arrow files: Feather, the IPC file format and the IPC stream format."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa
from pyarrow import feather

from planetoid.errors import DataError
from planetoid.io.arrow_messages import decompressed_bytes
from planetoid.io.limits import check_expansion
from planetoid.io.opening import check_file
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import ARROW_ERRORS, ArrowTable, first_line

__all__ = ["FeatherTable"]

STREAM, FILE = b"\xff\xff\xff\xff", b"ARROW1"
BEFORE_STREAM = 8  # bytes of an Arrow file; the messages that follow are a stream


class FeatherTable(ArrowTable):
    """An Arrow file, which is mapped into memory.

    A file is read as the stream that it contains, so that the messages whose size is checked are those that are read.
    """

    def __init__(self, path: Path, options: TableOptions) -> None:
        start, local = check_file(path), local_file(path)
        try:
            if start.startswith((STREAM, FILE)):
                skipped = BEFORE_STREAM if start.startswith(FILE) else 0
                check_expansion(local, decompressed_bytes(pa.ipc.MessageReader.open_stream(_mapped(local, skipped))))
                data = pa.ipc.open_stream(_mapped(local, skipped)).read_all()
            else:
                data = feather.read_table(local, memory_map=True)  # the first version of Feather
            data.validate(full=True)  # Arrow itself would read wherever the offsets point
        except (*ARROW_ERRORS, struct.error) as error:
            raise DataError(f"the file is not a valid Arrow file: {first_line(error)}", path=path) from None
        super().__init__(data, path)


def _mapped(path: Path, skipped: int) -> pa.MemoryMappedFile:
    """Return the file from ``skipped`` bytes on."""
    source = pa.memory_map(str(path))
    source.seek(skipped)
    return source
