"""Features in blocks of rows: what every format provides, and how a table provides it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, Fix
from planetoid.io.column_roles import column_number, feature_columns, find_id_column
from planetoid.io.table import Batch, Records, Table, TableOptions
from planetoid.io.typed_table import SparseBatch, TypedTable

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa
    from scipy import sparse

    Matrix: TypeAlias = npt.NDArray[np.float32] | sparse.csr_array

WIDE = 256  # columns from which a table that is mostly zero is read as a sparse matrix

__all__ = ["FeatureBlock", "FeatureOptions", "FeatureReader", "TableFeatures"]


@dataclass(frozen=True)
class FeatureOptions:
    """What the caller knows about a file of features; see :func:`planetoid.io.read_features`."""

    id_column: str | int | None = None
    names: Sequence[str | int] | None = None
    ignore: Sequence[str | int] | None = None
    n_features: int | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    query: str | None = None
    format: str | None = None

    def of_table(self, implied_header: bool | None) -> TableOptions:
        """Return how the table is written; ``implied_header`` is what the choice of columns says about its header."""
        header = implied_header if self.header is None else self.header
        return TableOptions(header, self.separator, self.decimal, self.query)


@dataclass(frozen=True)
class FeatureBlock:
    """Some rows of features, float32 and finite, and their ids (``None``: the row number is the id)."""

    first_row: int
    X: Matrix
    ids: pa.Array | None = None


class FeatureReader(Records, ABC):
    """A file of features.

    A format is a subclass that is built from ``(path, options)``, or a :class:`~planetoid.io.table.Table`.

    Attributes
    ----------
    n_features : int
        Known before the first block is read.
    names : tuple of str or None
        Names of the features.
    ids_are_text : bool
        Whether the ids come from text, so that what looks like an integer is one.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    ids_are_text: bool = False

    @abstractmethod
    def blocks(self) -> Iterator[FeatureBlock]:
        """Read the rows in the order of the file."""

    def sparse_blocks(self) -> Iterator[FeatureBlock] | None:
        """Read dense rows that are mostly zero as sparse blocks; ``None`` if that does not apply."""
        return None


class TableFeatures(FeatureReader):
    """A table with a column of ids and one column per feature."""

    def __init__(self, table: Table, options: FeatureOptions) -> None:
        self.table = table
        self.path = table.path
        self.ids_are_text = table.is_text
        self._id = find_id_column(table, options.id_column)
        if options.names is None:
            self._columns = feature_columns(table, self._id, options.ignore or ())
        else:
            self._columns = [column_number(table.names, name, "names", table.path) for name in options.names]
        if not self._columns:
            raise DataError(f"the table has no features, only ids in column {table.names[self._id]!r}", path=self.path)
        self._check_numeric()
        self.n_features = len(self._columns)
        if table.has_names:
            self.names = tuple(table.names[column] for column in self._columns)

    def blocks(self) -> Iterator[FeatureBlock]:
        for batch in self.table.batches([self._id], self._columns):
            self.table.check_ids(batch, [self._id])
            yield FeatureBlock(batch.first_row, batch.numbers, batch.texts[0])

    def sparse_blocks(self) -> Iterator[FeatureBlock] | None:
        if self.n_features < WIDE or not isinstance(self.table, TypedTable):
            return None
        batches = self.table.sparse_batches(self._id, self._columns)
        return None if batches is None else self._checked(batches)

    def _checked(self, batches: Iterator[SparseBatch]) -> Iterator[FeatureBlock]:
        for batch in batches:
            self.table.check_ids(Batch(batch.first_row, [batch.ids], np.empty((0, 0), np.float32)), [self._id])
            yield FeatureBlock(batch.first_row, batch.X, batch.ids)

    def line(self, row: int) -> int | None:
        return self.table.line(row)

    def position(self, row: int) -> str:
        return self.table.position(row)

    def origin(self, row: int) -> tuple[Records, int]:
        return self.table.origin(row)

    def _check_numeric(self) -> None:
        for column in self._columns:
            if not self.table.is_numeric(column):
                name = self.table.column_name(column)
                raise DataError(
                    "the column is not numeric",
                    path=self.path,
                    column=name,
                    fix=Fix("ignore", [name], "to leave it out"),
                )
