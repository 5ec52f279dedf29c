"""Many columns of numbers, most of them zero, as a sparse matrix without a dense one in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

__all__ = ["SPARSE_BELOW", "NotFinite", "is_mostly_zero", "sparse_columns"]

SPARSE_BELOW = 0.1  # share of nonzero entries up to which a table is kept as a sparse matrix
LOOKED_AT = 64  # columns that tell whether a table is mostly zero


class NotFinite(Exception):  # noqa: N818 - tells the caller where, who raises the error that the user sees
    """A missing value, NaN or infinity in a row and a column."""

    def __init__(self, row: int, column: int) -> None:
        super().__init__(row, column)
        self.row, self.column = row, column


class _Entries(NamedTuple):
    rows: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]


def is_mostly_zero(columns: Sequence[pa.Array | pa.ChunkedArray]) -> bool:
    """Return whether a sample of the columns is mostly zero; a missing value is not zero."""
    some = columns[:: max(1, len(columns) // LOOKED_AT)]
    cells = sum(len(column) for column in some)
    return bool(sum(np.count_nonzero(_numpy(column)) for column in some) <= SPARSE_BELOW * cells)


def sparse_columns(columns: Sequence[pa.Array | pa.ChunkedArray], *, missing: bool = False) -> sparse.csr_array:
    """Return columns of integers, floats or booleans as a float32 matrix.

    Raises :class:`NotFinite` for the first value that is missing or not finite, unless ``missing`` says that such a
    value is zero.
    """
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite, which is not finite
        found = [_entries(column, number, missing) for number, column in enumerate(columns)]
    indptr = np.concatenate([[0], np.cumsum([len(entries.rows) for entries in found])])
    rows = np.concatenate([entries.rows for entries in found]).astype(np.int32)
    values = np.concatenate([entries.values for entries in found])
    return sparse.csr_array(sparse.csc_array((values, rows, indptr), shape=(len(columns[0]), len(columns))))


def _entries(column: pa.Array | pa.ChunkedArray, number: int, missing: bool) -> _Entries:
    values = _numpy(column)
    rows = values.nonzero()[0]
    found = values[rows].astype(np.float32, copy=False)
    finite = np.isfinite(found)
    if finite.all():
        return _Entries(rows, found)
    if not missing:
        raise NotFinite(int(rows[~finite][0]), number)
    return _Entries(rows[finite], found[finite])


def _numpy(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.number | np.bool_]:
    """Return a column without a copy where it can be; a missing value becomes NaN."""
    if pa.types.is_decimal(column.type) or (column.null_count and not pa.types.is_floating(column.type)):
        column = column.cast(pa.float32(), safe=False)
    if isinstance(column, pa.ChunkedArray):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))
