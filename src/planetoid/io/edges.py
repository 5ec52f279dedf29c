"""``read_edges``: edges from a table, in batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planetoid.errors import Fix, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.io.column_roles import EdgeColumns, choose_edge_columns, is_weight
from planetoid.io.edgelist import EdgeList
from planetoid.io.encode import IdEncoder
from planetoid.io.formats import open_table
from planetoid.io.matching import graph_ids, rows_of
from planetoid.io.table import Batch, Table, TableOptions

if TYPE_CHECKING:
    from planetoid.io.formats import TableSource

__all__ = ["read_edges"]

Scalar = TypeVar("Scalar", np.int32, np.float32)


def read_edges(
    path: TableSource,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    query: str | None = None,
    nodes: NodeIds | Iterable[Hashable] | int | None = None,
) -> tuple[NodeIds, EdgeList]:
    """Read a table of edges.

    Parameters
    ----------
    path : str, Path, table or connection
        A CSV, TSV or other text table, perhaps compressed, which may begin with comments (``#``); Parquet, Arrow, JSON
        lines, a folder or pattern of parts; an SQLite or DuckDB file or a database connection with a query; a Polars,
        Arrow or pandas table; ``.npz``, ``.npy`` or ``.mat`` with an adjacency matrix or pairs of row numbers.
    source, target, weight : str or int, optional
        Columns, by name or number. By default the columns with the usual names, else the first two, except for the
        index of a pandas table; the weight is a column called ``weight``, or the only other one if it is numeric.
    header : bool, optional
        Whether the first line names the columns; detected by default.
    separator : str, optional
        One character (a space: any whitespace); detected by default.
    decimal : {".", ","}, optional
        Decimal separator in text; detected by default.
    query : str, optional
        SQL query, or name of a table, of a database.
    nodes : ids, optional
        All nodes, in row order; an edge with another node is an error. By default the nodes are those that occur, in
        natural order (``paper_9`` before ``paper_10``).

    Returns
    -------
    ids : NodeIds
        Integers if all ids are written as integers, else strings.
    edges : EdgeList
    """
    if header is None and any(isinstance(column, str) for column in (source, target, weight)):
        header = True
    table = open_table(path, TableOptions(header, separator, decimal, query), "edges")
    columns = choose_edge_columns(table.names, source, target, weight, table.path)
    number = columns.weight
    if number is not None and not table.is_numeric(number) and weight is None and not is_weight(table.names[number]):
        columns = columns._replace(weight=None)  # perhaps the kind of edge
    reader = _EdgeReader(table, columns)
    return reader.over_nodes(graph_ids(NodeIds(nodes))) if nodes is not None else reader.over_all()


class _Ends(NamedTuple):
    """Ids of both ends of some edges."""

    first_row: int
    source: pa.ChunkedArray
    target: pa.ChunkedArray


class _EdgeReader:
    """Reads the two ends, in few large steps, and the weights on the way."""

    def __init__(self, table: Table, columns: EdgeColumns) -> None:
        self.table = table
        self.ends = (columns.source, columns.target)
        self.weight = columns.weight
        self.codes: tuple[list[npt.NDArray[np.int32]], list[npt.NDArray[np.int32]]] = ([], [])
        self.weights: list[npt.NDArray[np.float32]] = []

    def over_all(self) -> tuple[NodeIds, EdgeList]:
        """Number the ids that occur."""
        encoder = IdEncoder()
        for ends in self._steps(lambda: encoder.batch_size):
            codes = encoder.encode(ends.source, ends.target)
            del ends
            for column, part in zip(self.codes, np.split(codes, 2), strict=True):
                column.append(part.copy())
            pa.default_memory_pool().release_unused()  # the hash table, which Arrow would keep for itself
        self._question_first_line()
        ids, position = encoder.sorted(text=self.table.is_text)
        pa.default_memory_pool().release_unused()
        return ids, self._edges(position)

    def over_nodes(self, ids: NodeIds) -> tuple[NodeIds, EdgeList]:
        """Look the ids up among the given ones."""
        for ends in self._steps(lambda: min(max(2**16, len(ids)), 2**20)):
            for codes, column, values in zip(self.codes, self.ends, (ends.source, ends.target), strict=True):
                rows = rows_of(ids, values, self.table, ends.first_row)
                if rows.min() < 0:
                    wrong = int(np.argmax(rows < 0))
                    raise self.table.error(
                        f"{values[wrong].as_py()!r} is not among the given nodes",
                        ends.first_row + wrong,
                        column=self.table.column_name(column),
                    )
                codes.append(rows.astype(np.int32))
        return ids, self._edges(None)

    def _steps(self, batch_size: Callable[[], int]) -> Iterator[_Ends]:
        """Join batches until they have enough values."""
        pending: list[Batch] = []
        for batch in self._batches():
            pending.append(batch)
            if 2 * sum(len(one.texts[0]) for one in pending) >= batch_size():
                yield _joined_ends(pending)
        if pending:
            yield _joined_ends(pending)

    def _batches(self) -> Iterator[Batch]:
        numbers = [] if self.weight is None else [self.weight]
        for batch in self.table.batches(self.ends, numbers):
            self.table.check_ids(batch, self.ends)
            if self.weight is not None:
                self._check_weights(batch, self.weight)
                self.weights.append(batch.numbers[:, 0])
            yield batch

    def _check_weights(self, batch: Batch, column: int) -> None:
        negative = np.flatnonzero(batch.numbers[:, 0] < 0)
        if len(negative):
            wrong = int(negative[0])
            row = batch.first_row + wrong
            raise self.table.error(
                f"the weight must be >= 0, got {self.table.cell(row, column)}",
                row,
                column=self.table.column_name(column),
                ids=[values[wrong].as_py() for values in batch.texts],
            )

    def _edges(self, position: npt.NDArray[np.integer] | None) -> EdgeList:
        weight = _joined(self.weights, np.float32) if self.weights else None
        source, target = (_joined(codes, np.int32, position) for codes in self.codes)
        return EdgeList(source, target, weight)

    def _question_first_line(self) -> None:
        """Warn if a first line that may be a header became an edge between two ids that occur nowhere else."""
        if self.table.header_is_certain or sum(map(len, self.codes[0])) < 2:
            return
        first = [int(codes[0][0]) for codes in self.codes]
        seen = [sum(int(np.count_nonzero(part == end)) for codes in self.codes for part in codes) for end in first]
        if seen == [1, 1]:
            source, target = (self.table.cell(0, column) for column in self.ends)
            warn(
                PlanetoidWarning(
                    f"read as an edge from {source!r} to {target!r}, which occur nowhere else",
                    path=self.table.path,
                    line=self.table.line(0),
                    fix=(Fix("header", True, "if the line is a header"), Fix("header", False, "if it is not")),
                )
            )


def _joined_ends(pending: list[Batch]) -> _Ends:
    first_row = pending[0].first_row
    source, target = (pa.chunked_array([batch.texts[k] for batch in pending]) for k in (0, 1))
    pending.clear()
    return _Ends(first_row, source, target)


def _joined(
    parts: list[npt.NDArray[Scalar]], dtype: type[Scalar], position: npt.NDArray[np.integer] | None = None
) -> npt.NDArray[Scalar]:
    """Join parts into one array, renumbered by ``position``, and free each on the way."""
    whole = np.empty(sum(map(len, parts)), dtype=dtype)
    start = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[start : start + len(part)] = part if position is None else position[part]
        start += len(part)
    return whole
