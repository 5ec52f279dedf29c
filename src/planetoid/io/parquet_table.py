"""Parquet tables, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from planetoid.errors import DataError
from planetoid.io.limits import TABLE_COLUMNS, check_expansion, check_lengths
from planetoid.io.opening import check_file
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import ARROW_ERRORS, TypedTable, first_line, no_rows

__all__ = ["ParquetTable"]

BUFFER_BYTES = 2**16  # of each column: a table may have many
BYTES_PER_CELL = 4
STRINGS = ("string", "large_string", "string_view")


class ParquetTable(TypedTable):
    """A Parquet file; its rows are counted from 0."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        check_file(path)
        self._local = local_file(path)
        try:
            self._file = self._open()
            schema = self._file.schema_arrow
            names = schema.names
        except ARROW_ERRORS as error:
            raise DataError(f"the file is not valid Parquet: {first_line(error)}", path=path) from None
        TABLE_COLUMNS.check(len(names), path)
        super().__init__(path, schema)
        if self._file.metadata.num_rows == 0:
            raise no_rows(self)

    def pieces(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        self._check_size(len(names))
        self._check_dictionaries([name for name in names if _is_text(self._schema.field(name).type)])
        everything = set(names) == set(self.names)  # then the file need not look for each of them
        columns = None if everything else list(names)
        seen = 0
        for piece in self._file.iter_batches(batch_size=rows, columns=columns, use_threads=False):
            seen += len(piece)
            yield piece
        if seen != self._file.metadata.num_rows:
            raise pa.ArrowInvalid(f"{seen:,} of {self._file.metadata.num_rows:,} rows")

    def _open(self, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
        return pq.ParquetFile(
            self._local, pre_buffer=False, buffer_size=BUFFER_BYTES, read_dictionary=list(dictionaries)
        )

    def _check_size(self, n_columns: int) -> None:
        """Raise ``DataError`` if the file claims far more than it holds: runs of one value take hardly a byte."""
        metadata = self._file.metadata
        stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        check_expansion(self._local, max(stored, BYTES_PER_CELL * metadata.num_rows * n_columns))

    def _check_dictionaries(self, names: Sequence[str]) -> None:
        """Check the length of ids where each is stored once, before a batch repeats it in every row."""
        if not names:
            return
        file = self._open(names)
        for group in range(file.num_row_groups):
            pieces = file.iter_batches(batch_size=1, row_groups=[group], columns=list(names), use_threads=False)
            for column in (column for piece in islice(pieces, 1) for column in piece.columns):
                if pa.types.is_dictionary(column.type):
                    check_lengths(column.dictionary, self.path)


def _is_text(kind: pa.DataType) -> bool:
    return str(kind.value_type if pa.types.is_dictionary(kind) else kind) in STRINGS
