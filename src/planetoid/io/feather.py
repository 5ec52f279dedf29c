"""Arrow files: Feather, the IPC file format and the IPC stream format."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import feather

from planetoid.errors import DataError
from planetoid.io.opening import check_file
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import ARROW_ERRORS, ArrowTable, first_line

__all__ = ["FeatherTable"]

STREAM = b"\xff\xff\xff\xff"


class FeatherTable(ArrowTable):
    """An Arrow file, which is mapped into memory."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        start = check_file(path)
        try:
            if start.startswith(STREAM):
                data = pa.ipc.open_stream(pa.memory_map(str(local_file(path)))).read_all()
            else:
                data = feather.read_table(local_file(path), memory_map=True)
            data.validate(full=True)  # Arrow itself would read wherever the offsets point
        except ARROW_ERRORS as error:
            raise DataError(f"the file is not a valid Arrow file: {first_line(error)}", path=path) from None
        super().__init__(data, path)
