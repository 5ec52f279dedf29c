"""Parquet tables, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from planetoid.errors import DataError
from planetoid.io.opening import check_file
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import TypedTable, first_line, no_rows

__all__ = ["ParquetTable"]

BUFFER_BYTES = 2**16  # of each column: a table may have many


class ParquetTable(TypedTable):
    """A Parquet file; its rows are counted from 0."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        check_file(path)
        try:
            self._file = pq.ParquetFile(local_file(path), pre_buffer=False, buffer_size=BUFFER_BYTES)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"the file is not valid Parquet: {first_line(error)}", path=path) from None
        super().__init__(path, self._file.schema_arrow)
        if self._file.metadata.num_rows == 0:
            raise no_rows(self)

    def pieces(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        everything = set(names) == set(self.names)  # then the file need not look for each of them
        columns = None if everything else list(names)
        yield from self._file.iter_batches(batch_size=rows, columns=columns, use_threads=False)
