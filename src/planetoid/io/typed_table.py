"""Tables whose columns have types: Parquet, Arrow, JSON lines, databases, and tables in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.sparse_columns import NotFinite, is_mostly_zero, sparse_columns
from planetoid.io.table import Batch, Table

__all__ = ["ARROW_ERRORS", "ArrowTable", "TypedTable", "first_line"]

# What a damaged file is to Arrow, and names and types that Python cannot represent.
ARROW_ERRORS = (pa.ArrowException, OSError, UnicodeError, OverflowError, MemoryError)
BATCH_ROWS = 2**16
BATCH_CELLS = 2**22
LEAST_ROWS = 2048  # a piece costs a little for each of its columns, however few its rows


class SparseBatch(NamedTuple):
    """Some records of a table: a column of ids and a sparse matrix of numbers."""

    first_row: int
    ids: pa.Array
    X: sparse.csr_array


class TypedTable(Table):
    """A table of typed columns, whose rows are counted from 0; a subclass yields its record batches."""

    has_names = True

    def __init__(self, path: Path | None, schema: pa.Schema) -> None:
        super().__init__(path)
        self._schema = schema
        self.names = tuple(schema.names)

    @abstractmethod
    def pieces(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Read some columns in pieces of at most so many rows."""

    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        for column in numbers:
            if not self.is_numeric(column):
                raise DataError(
                    f"the column is not numeric but {self._type(column)}",
                    path=self.path,
                    column=self.column_name(column),
                )
        first_row = 0
        for columns in self._raw_pieces([*texts, *numbers]):
            cells = [_plain(columns[self.names[k]]) for k in texts]
            values = [columns[self.names[k]].cast(pa.float32(), safe=False) for k in numbers]
            yield Batch(first_row, cells, self.finite_matrix(first_row, cells, numbers, values))
            first_row += len(next(iter(columns.values())))

    def _raw_pieces(self, columns: Sequence[int]) -> Iterator[dict[str, pa.Array]]:
        """Read columns in pieces that fit in memory, by name."""
        names = [self.names[k] for k in dict.fromkeys(columns)]
        self._check_distinct(names)
        try:
            for piece in self.pieces(names, max(LEAST_ROWS, min(BATCH_ROWS, BATCH_CELLS // max(1, len(names))))):
                for column in piece.columns:
                    if not _is_numeric_type(
                        column.type
                    ):  # Arrow has not looked at the bytes of strings, nor at indices
                        column.validate(full=True)
                yield dict(zip(piece.schema.names, piece.columns, strict=True))
        except ARROW_ERRORS as error:
            raise DataError(
                f"the file is corrupt: {first_line(error)}", path=self.path, hint="download or write it again"
            ) from None

    def sparse_batches(self, text: int, numbers: Sequence[int]) -> Iterator[SparseBatch] | None:
        """Read a column as it is and others as a sparse matrix; ``None`` if the numbers are not mostly zero."""
        pieces = self._raw_pieces([text, *numbers])
        first = next(pieces)
        if not is_mostly_zero([first[self.names[k]] for k in numbers]):
            return None
        return self._sparse(text, numbers, chain([first], pieces))

    def _sparse(
        self, text: int, numbers: Sequence[int], pieces: Iterable[Mapping[str, pa.Array]]
    ) -> Iterator[SparseBatch]:
        first_row = 0
        for columns in pieces:
            cells = _plain(columns[self.names[text]])
            try:
                X = sparse_columns([columns[self.names[k]] for k in numbers])
            except NotFinite as error:
                raise self.not_finite(
                    first_row + error.row, numbers[error.column], [cells[error.row].as_py()]
                ) from None
            yield SparseBatch(first_row, cells, X)
            first_row += len(cells)

    def is_numeric(self, column: int) -> bool:
        return _is_numeric_type(self._type(column))

    def cell(self, row: int, column: int) -> str:
        seen = 0
        for piece in self.pieces([self.names[column]], BATCH_ROWS):
            if row < seen + len(piece):
                value = piece.column(0)[row - seen].as_py()
                return "" if value is None else str(value)
            seen += len(piece)
        raise IndexError(row)

    def _type(self, column: int) -> pa.DataType:
        kind = self._schema.field(column).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    @cached_property
    def _repeated(self) -> set[str]:
        return {name for name, count in Counter(self.names).items() if count > 1}

    def _check_distinct(self, names: Sequence[str]) -> None:
        repeated = [name for name in names if name in self._repeated]
        if repeated:
            raise DataError(f"duplicate column name {repeated[0]!r}", path=self.path, hint="rename one of them")


class ArrowTable(TypedTable):
    """A table in memory."""

    def __init__(self, data: pa.Table, path: Path | None = None) -> None:
        super().__init__(path, data.schema)
        self.data = data
        if data.num_rows == 0 or data.num_columns == 0:
            raise no_rows(self)

    def pieces(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.data.select(list(names)).to_batches(max_chunksize=rows)


@cache
def _is_numeric_type(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def no_rows(table: TypedTable) -> DataError:
    """Return the error that a table has columns but no rows, or no columns."""
    if not table.names:
        return DataError("the table has no columns", path=table.path)
    shown = ", ".join(table.names[:20]) + (", ..." if len(table.names) > 20 else "")
    return DataError(f"the table has columns ({shown}) but no rows", path=table.path)


def first_line(error: Exception) -> str:
    """Return the first line of an error of Arrow, without its full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _plain(column: pa.Array) -> pa.Array:
    """Return categories and strings in their usual representation."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if str(column.type) == "string_view" else column
