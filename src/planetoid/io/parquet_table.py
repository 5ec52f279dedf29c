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
from planetoid.io.table import Batch, Table

__all__ = ["ParquetTable"]

BATCH_ROWS = 2**16
BATCH_CELLS = 2**22
BYTES_PER_CELL = 4
STRINGS = ("string", "large_string", "string_view")
# ArrowException: what a damaged file is to Arrow. The others: names and types that Python cannot represent.
ERRORS = (pa.ArrowException, OSError, UnicodeError, OverflowError, MemoryError)


class ParquetTable(Table):
    """A Parquet file; its rows are counted from 0."""

    has_names = True

    def __init__(self, path: Path, header: bool | None = None, separator: str | None = None) -> None:
        self.path = path
        check_file(path)
        try:
            self._file = self._open()
            self._schema = self._file.schema_arrow
            self.names = tuple(self._schema.names)
        except ERRORS as error:
            raise DataError(f"the file is not valid Parquet: {_first_line(error)}", path=path) from None
        TABLE_COLUMNS.check(len(self.names), path)
        if self._file.metadata.num_rows == 0:
            raise DataError(f"the table has columns ({', '.join(self.names)}) but no rows", path=path)

    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*texts, *numbers]))
        names = [self.names[k] for k in wanted]
        for name in names:
            if self.names.count(name) > 1:
                raise DataError(f"duplicate column name {name!r}", path=self.path, hint="rename one of them")
        for column in numbers:
            if not self.is_numeric(column):
                raise DataError(
                    f"the column is not numeric but {self._type(column)}",
                    path=self.path,
                    column=self.column_name(column),
                )
        rows = max(1, min(BATCH_ROWS, BATCH_CELLS // max(1, len(wanted))))
        first_row = 0
        self._check_size(len(wanted))
        try:
            self._check_dictionaries([self.names[k] for k in texts if str(self._type(k)) in STRINGS])
            for piece in self._file.iter_batches(batch_size=rows, columns=names, use_threads=False):
                columns = [_plain_text(piece.column(self.names[k])) for k in texts]
                values = [piece.column(self.names[k]).cast(pa.float32(), safe=False) for k in numbers]
                yield Batch(first_row, columns, self.finite_matrix(first_row, columns, numbers, values))
                first_row += len(piece)
        except ERRORS as error:
            raise DataError(
                f"the file is corrupt: {_first_line(error)}", path=self.path, hint="download or write it again"
            ) from None
        if first_row != self._file.metadata.num_rows:
            raise DataError(
                f"the file is corrupt: {first_row:,} of {self._file.metadata.num_rows:,} rows",
                path=self.path,
                hint="download or write it again",
            )

    def is_numeric(self, column: int) -> bool:
        kind = self._type(column)
        tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
        return any(test(kind) for test in tests)

    def cell(self, row: int, column: int) -> str:
        name = self.names[column]
        seen = 0
        for piece in self._file.iter_batches(columns=[name]):
            if row < seen + len(piece):
                value = piece.column(0)[row - seen].as_py()
                return "" if value is None else str(value)
            seen += len(piece)
        raise IndexError(row)

    def _open(self, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
        return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=2**20, read_dictionary=list(dictionaries))

    def _check_size(self, n_columns: int) -> None:
        """Raise ``DataError`` if the file claims far more than it holds: runs of one value take hardly a byte."""
        metadata = self._file.metadata
        stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        check_expansion(self.path, max(stored, BYTES_PER_CELL * metadata.num_rows * n_columns))

    def _check_dictionaries(self, names: Sequence[str]) -> None:
        """Check the length of ids where each is stored once, before a batch repeats it in every row."""
        file = self._open(names)
        for group in range(file.num_row_groups if names else 0):
            pieces = file.iter_batches(batch_size=1, row_groups=[group], columns=list(names), use_threads=False)
            for column in (column for piece in islice(pieces, 1) for column in piece.columns):
                if pa.types.is_dictionary(column.type):
                    check_lengths(column.dictionary, self.path)

    def _type(self, column: int) -> pa.DataType:
        kind = self._schema.field(column).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind


def _plain_text(column: pa.Array) -> pa.Array:
    column.validate(full=True)  # Arrow has not looked at the bytes of strings, nor at the indices of a dictionary
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if str(column.type) == "string_view" else column


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
