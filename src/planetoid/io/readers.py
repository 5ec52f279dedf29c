"""Features in pieces, from tables with a column for each and from sparse matrices."""

from __future__ import annotations

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.edgelist import column_number
from planetoid.io.files import check_file
from planetoid.io.header import ID_NAMES
from planetoid.io.pandas_index import index_columns, warn_of_index
from planetoid.io.table import Table, open_table

__all__ = [
    "FeatureReader",
    "MatrixReader",
    "Piece",
    "TableReader",
    "feature_columns",
    "find_id_column",
    "open_feature_table",
]

PIECE_ROWS = 2**16


@dataclass(frozen=True)
class Piece:
    """Some rows of features, and their ids as an Arrow array (None: the row number is the id)."""

    first_row: int
    X: Any
    ids: Any = None


class FeatureReader(ABC):
    """A file of features.

    Attributes
    ----------
    path : Path
    n_features : int
        Known before the first piece is read.
    names : tuple of str or None
        Of the features.
    ids_are_text : bool
        Whether the ids come from text, so that what looks like an integer is one.
    """

    path: Path
    n_features: int
    names: tuple[str, ...] | None = None
    ids_are_text: bool = False

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Read the rows in the order of the file: float32, dense or CSR, all finite."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return the line (or row) of a record, for messages."""


class TableReader(FeatureReader):
    """A table with a column of ids and a column for each feature."""

    def __init__(self, table: Table, id_column: str | int | None, names: Sequence[str | int] | None) -> None:
        self.table = table
        self.path = table.path
        self.ids_are_text = table.is_text
        try:
            self._id = find_id_column(table, id_column)
            wanted = None if names is None else [column_number(table.names, name) for name in names]
        except DataError as error:
            raise DataError(f"{table.path}: {error}") from None
        self._columns = feature_columns(table, self._id) if wanted is None else wanted
        if not self._columns:
            raise DataError(f"{table.path} has no column but {table.column(self._id)}, the id; features are missing")
        for column in self._columns:
            if not table.is_numeric(column):
                what = f"{table.path}: {table.column(column)} is not numbers"
                raise DataError(f"{what}; leave it out by naming the features wanted, names=[...]")
        self.n_features = len(self._columns)
        if table.has_names:
            self.names = tuple(table.names[column] for column in self._columns)

    def pieces(self) -> Iterator[Piece]:
        for batch in self.table.batches([self._id], self._columns):
            self.table.check_ids(batch, [self._id])
            yield Piece(batch.first_row, batch.numbers, batch.texts[0])

    def ids(self) -> Iterator[Any]:
        """Read the ids alone."""
        for batch in self.table.batches([self._id]):
            self.table.check_ids(batch, [self._id])
            yield batch.texts[0]

    def place(self, row: int) -> str:
        return self.table.place(row)


class MatrixReader(FeatureReader):
    """A scipy sparse matrix in an ``.npz`` file: a row for each node, without ids."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_file(path)
        try:
            with path.open("rb") as file:
                matrix = sparse.load_npz(file)  # never unpickles
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise DataError(f"{path} is not a sparse matrix as scipy.sparse.save_npz writes it, or damaged") from None
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"{path} has {matrix.ndim} dimension(s) of {matrix.dtype}; features are a matrix of numbers"
            )
        try:
            self._matrix = sparse.csr_array(matrix, dtype=np.float32)
            self._matrix.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"{path} is damaged: {error}") from None
        self._matrix.sum_duplicates()
        wrong = np.flatnonzero(~np.isfinite(self._matrix.data))
        if len(wrong):
            at = int(wrong[0])
            row = int(np.searchsorted(self._matrix.indptr, at, side="right") - 1)
            where = f"row {row}, column {self._matrix.indices[at]}"
            raise DataError(f"{path}, {where}: {self._matrix.data[at]} is not a finite number")
        self.n_features = int(matrix.shape[1])

    def pieces(self) -> Iterator[Piece]:
        for start in range(0, self._matrix.shape[0], PIECE_ROWS):
            yield Piece(start, self._matrix[start : start + PIECE_ROWS])

    def place(self, row: int) -> str:
        return f"row {row}"


def find_id_column(table: Table, asked: str | int | None) -> int:
    """Return the column of ids: the one asked for, one with a usual name, the index of a pandas table, else the first.

    Of several indices the last is the oldest: each time that pandas reads its
    own CSV and writes it again, one with row numbers comes before it.
    """
    if asked is not None:
        return column_number(table.names, asked)
    usual = [number for number, name in enumerate(table.names) if table.has_names and name.lower() in ID_NAMES]
    return usual[0] if usual else (index_columns(table.names) or [0])[-1]


def feature_columns(table: Table, node: int, ignore: Sequence[str] = ()) -> list[int]:
    """Return the columns that are features: all but ids, what is to be ignored, and the index of a pandas table."""
    others = [number for number, name in enumerate(table.names) if number != node and name not in ignore]
    index = [number for number in index_columns(table.names) if number in others]
    warn_of_index(table.path, table.names, index)
    return [number for number in others if number not in index]


def open_feature_table(
    path: Path,
    id_column: str | int | None,
    names: Sequence[str | int] | None,
    header: bool | None,
    separator: str | None,
) -> TableReader:
    """Open a table of features; columns asked for by name say that there is a header."""
    asked = [id_column, *(names if names is not None else ())]
    if header is None and any(isinstance(column, str) for column in asked):
        header = True
    return TableReader(open_table(path, header, separator), id_column, names)
