"""``FeatureTable``: features of nodes in memory, and how rows of a file become rows of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.io.encode import IdEncoder, int64_or_string, integers_if_canonical
from planetoid.io.matching import OnUnknown, check_unique, handle_unknown, rows_of
from planetoid.io.sparse_columns import SPARSE_BELOW
from planetoid.io.table import Records

if TYPE_CHECKING:
    from planetoid.io.feature_reader import FeatureReader, Matrix

__all__ = ["FeatureBlocks", "FeatureTable"]

AnyMatrix = TypeVar("AnyMatrix", bound="Matrix")

ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class FeatureTable:
    """Features of nodes.

    Attributes
    ----------
    X : float32 ``csr_array`` or array
        One row per id.
    ids : NodeIds
    names : array of str or None
        Names of the columns, if the file has them.
    path : Path or None
        The file it was read from.
    has_ids : bool
        False if the file has no ids, so that ``ids`` are row numbers.
    is_dense : bool
        Whether its format is dense, even if it was read as a sparse matrix because it is wide and mostly zero.
    """

    X: Matrix
    ids: NodeIds
    names: npt.NDArray[np.object_] | None = None
    path: Path | None = None
    has_ids: bool = True
    is_dense: bool = False

    def aligned(self, ids: NodeIds, on_unknown: OnUnknown = "warn") -> FeatureTable:
        """Return the features of the given nodes, in their order.

        A node without a row gets zeros, with a warning that counts them. Features without ids must have one row per
        node.

        Parameters
        ----------
        ids : NodeIds
        on_unknown : {"warn", "ignore", "error"}
            What to do about rows that belong to none of the nodes. It is always an error if no row does.
        """
        if self.has_ids and ids == self.ids:
            return self
        values = self.ids.to_arrow() if self.has_ids else None
        return FeatureBlocks(Records(self.path), [self.X], values, self.names).aligned(ids, on_unknown)

    def with_names_sorted(self) -> FeatureTable:
        """Return the table with its columns in the order of their names, so that their order in a file is irrelevant.

        A dense ``X`` is reordered in place, because it may fill half of the memory: use the result, not this table.
        """
        if self.names is None:
            return self
        order = np.argsort(self.names.astype(str), kind="stable")
        names = self.names[order]
        repeated = np.flatnonzero(names[1:] == names[:-1])
        if len(repeated):
            raise DataError(f"duplicate column name {names[repeated[0]]!r}", path=self.path, hint="rename one of them")
        if (order == np.arange(len(order))).all():
            return self
        X = self.X
        if isinstance(X, np.ndarray):
            for first in range(0, len(X), ROWS_AT_ONCE):
                X[first : first + ROWS_AT_ONCE] = X[first : first + ROWS_AT_ONCE][:, order]
        else:
            X = X[:, order]
            X.sort_indices()
        return replace(self, X=X, names=names)

    def compact(self) -> FeatureTable:
        """Return a dense table with a sparse ``X`` if at most a tenth of it is nonzero."""
        if not isinstance(self.X, np.ndarray):
            too_dense = self.is_dense and self.X.nnz > SPARSE_BELOW * self.X.shape[0] * self.X.shape[1]
            return self.as_dense() if too_dense else self
        if np.count_nonzero(self.X) > SPARSE_BELOW * self.X.size:
            return self
        return replace(self, X=sparse.csr_array(self.X))

    def as_dense(self) -> FeatureTable:
        """Return a table of a dense format with a dense ``X``, whichever way it was read."""
        return replace(self, X=self.X.toarray()) if self.is_dense and not isinstance(self.X, np.ndarray) else self


class FeatureBlocks:
    """Rows of features that are read but not joined yet.

    Ask for :attr:`ids`, decide which nodes there are, then call :meth:`aligned` or :meth:`table` once: both free each
    block as they copy it, so that a table is never in memory with a second copy.

    Parameters
    ----------
    records : Records
        Where the rows come from, for errors.
    blocks : list of matrices
    values : Arrow array or None
        One id per row; ``None``: the row number is the id.
    names : sequence of str or None
        Names of the columns.
    ids_are_text : bool
        Whether ids that are all written as integers are integers.
    is_dense : bool
        Whether sparse blocks come from a dense format.
    """

    def __init__(
        self,
        records: Records,
        blocks: list[Matrix],
        values: pa.Array | pa.ChunkedArray | None,
        names: Sequence[str] | npt.NDArray[np.object_] | None = None,
        *,
        ids_are_text: bool = False,
        is_dense: bool = False,
    ) -> None:
        self._records = records
        self._blocks = blocks
        self._values = values
        self._n_features = blocks[0].shape[1]
        self._names = None if names is None else np.array(names, dtype=object)
        self._ids_are_text = ids_are_text
        self._is_dense = is_dense

    @classmethod
    def read(cls, reader: FeatureReader) -> FeatureBlocks:
        """Read a file to its end."""
        blocks: list[Matrix] = []
        parts: list[pa.Array] = []
        sparse_blocks = reader.sparse_blocks()
        for block in reader.blocks() if sparse_blocks is None else sparse_blocks:
            blocks.append(block.X)
            if block.ids is not None:
                parts.append(block.ids)
        values = pa.chunked_array(parts) if parts else None
        is_dense = sparse_blocks is not None
        return cls(reader, blocks, values, reader.names, ids_are_text=reader.ids_are_text, is_dense=is_dense)

    @property
    def path(self) -> Path | None:
        """The file that the rows come from."""
        return self._records.path

    @property
    def has_ids(self) -> bool:
        """Whether the rows have ids; otherwise :attr:`ids` are row numbers."""
        return self._values is not None

    @cached_property
    def ids(self) -> NodeIds:
        """The ids in the order of the rows; integers if they are all written so in text."""
        if self._values is None:
            return NodeIds(sum(block.shape[0] for block in self._blocks))
        check_unique(self._records, IdEncoder().encode(self._values), self._values)
        return NodeIds.distinct(
            integers_if_canonical(self._values) if self._ids_are_text else int64_or_string(self._values)
        )

    def table(self) -> FeatureTable:
        """Return the features in the order of the rows."""
        ids = self.ids
        X = _placed(self._blocks, np.arange(len(ids)), (len(ids), self._n_features))
        return FeatureTable(X, ids, self._names, self.path, self.has_ids, self._is_dense)

    def aligned(self, ids: NodeIds, on_unknown: OnUnknown = "warn") -> FeatureTable:
        """Return the features of the given nodes; see :meth:`FeatureTable.aligned`."""
        if self._values is None:
            n_rows = sum(block.shape[0] for block in self._blocks)
            if len(ids) != n_rows:
                raise DataError(
                    f"the file has {n_rows:,} rows, but the graph has {len(ids):,} nodes",
                    path=self.path,
                    hint="a file without ids needs one row per node, in the order of the graph",
                )
            rows = np.arange(n_rows)
        else:
            rows = rows_of(ids, self._values, self._records)
            handle_unknown(self.path, rows, self._values, ids, "rows", on_unknown)
            check_unique(self._records, rows, self._values)
            missing = len(ids) - int(np.count_nonzero(rows >= 0))
            if missing:
                warn(
                    PlanetoidWarning(
                        f"{missing:,} of {len(ids):,} nodes have no row; their features are zero", path=self.path
                    )
                )
        X = _placed(self._blocks, rows, (len(ids), self._n_features))
        return FeatureTable(X, ids, self._names, self.path, is_dense=self._is_dense)


def _placed(blocks: list[Matrix], rows: npt.NDArray[np.int64], shape: tuple[int, int]) -> Matrix:
    """Copy the rows of all blocks to their rows in the result (-1: dropped), freeing each block on the way."""
    if not isinstance(blocks[0], np.ndarray):
        return _placed_sparse(blocks, rows, shape)
    dense = np.zeros(shape, dtype=np.float32)
    for block, targets in _consumed(blocks, rows):
        dense[targets[targets >= 0]] = block[targets >= 0]
    return dense


def _placed_sparse(
    blocks: list[sparse.csr_array], rows: npt.NDArray[np.int64], shape: tuple[int, int]
) -> sparse.csr_array:
    counts = np.zeros(shape[0] + 1, dtype=np.int64)
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    counts[rows[rows >= 0] + 1] = lengths[rows >= 0]
    indptr = np.cumsum(counts)
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=np.float32)
    for block, targets in _consumed(blocks, rows):
        kept = block[targets >= 0]
        shift = np.repeat(indptr[targets[targets >= 0]] - kept.indptr[:-1], np.diff(kept.indptr))
        entries = np.arange(kept.nnz) + shift
        indices[entries] = kept.indices
        data[entries] = kept.data
    index_type = np.int32 if indptr[-1] < 2**31 else np.int64
    return sparse.csr_array((data, indices.astype(index_type, copy=False), indptr.astype(index_type)), shape=shape)


def _consumed(
    blocks: list[AnyMatrix], rows: npt.NDArray[np.int64]
) -> Iterator[tuple[AnyMatrix, npt.NDArray[np.int64]]]:
    blocks.reverse()
    start = 0
    while blocks:
        block = blocks.pop()
        yield block, rows[start : start + block.shape[0]]
        start += block.shape[0]
