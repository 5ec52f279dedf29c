"""Columns of a table in several processes: who has which, and what they exchange.

The tables e and w are divided by columns: a process has all rows, but only some of the columns. So is the first layer
of :class:`~planetoid.Planetoid`. What the processes exchange is an :class:`Exchange`; :mod:`planetoid.distributed` has
one that uses torch.distributed. A model that is fitted inside ``with exchanging(...)`` divides its tables; it finds out
by :func:`column_shard`, or lets :func:`by_columns` do it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Nodes, Table
from planetoid.errors import ParameterError
from planetoid.utils.seeds import agreeing

__all__ = [
    "BLOCK",
    "ColumnShard",
    "Exchange",
    "OneProcess",
    "by_columns",
    "column_shard",
    "current_exchange",
    "exchanging",
    "first_of_block",
    "is_column_block",
    "table_of_block",
]

BLOCK = 16  # columns of an embedding that stay together: a line of the cache
ROWS_AT_ONCE = 1 << 16  # rows that are put together at once, of a table that no process has whole

COLUMNS = ".columns"  # in the name of a block of columns, before the number of its first

AnyTable = TypeVar("AnyTable", bound="Sliced")  # an array or a tensor
AnyArray = npt.NDArray[Any]
Rows = npt.NDArray[np.integer] | slice


class Sliced(Protocol):
    """What has rows and columns."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: Any, /) -> Any: ...


class Exchange(Protocol):
    """What processes that train together need from each other. All of them make the same calls in the same order."""

    @property
    def rank(self) -> int:
        """Number of this process, counted from 0."""

    @property
    def size(self) -> int:
        """Number of processes."""

    def start_sum(self, values: Nodes) -> Callable[[], None]:
        """Start to replace integers by their sums over the processes; the returned function waits for them."""

    def gather(self, part: Table, widths: list[int]) -> Table:
        """Return the columns of all processes side by side, given how many each has."""

    def gather_to_first(self, part: Table, widths: list[int]) -> Table | None:
        """Return the columns of all processes in process 0, ``None`` in the others."""

    def share_rows(self, table: AnyArray, bounds: list[int]) -> None:
        """Fill a C-contiguous array with the rows of all processes; process k has those from ``bounds[k]`` on."""

    def texts(self, own: str) -> list[str]:
        """Return a text of each process."""


class OneProcess:
    """The exchange of a process that has nobody to talk to: the reference for any number of them."""

    rank, size = 0, 1

    def start_sum(self, values: Nodes) -> Callable[[], None]:
        return lambda: None

    def gather(self, part: Table, widths: list[int]) -> Table:
        return part

    def gather_to_first(self, part: Table, widths: list[int]) -> Table | None:
        return part

    def share_rows(self, table: AnyArray, bounds: list[int]) -> None:
        pass

    def texts(self, own: str) -> list[str]:
        return [own]


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def current_exchange() -> Exchange | None:
    """Return the exchange that models are fitted with, ``None`` outside of :func:`exchanging`."""
    return _current.get()


@contextmanager
def exchanging(exchange: Exchange) -> Iterator[None]:
    """Let models that are fitted inside divide their tables among the processes of an exchange.

    A fit without a seed takes that of process 0.
    """
    token = _current.set(exchange)
    try:
        with agreeing(lambda seed: int(exchange.texts(str(seed))[0])):
            yield
    finally:
        _current.reset(token)


class ColumnShard:
    """The columns of a table that this process has, in whole blocks.

    Parameters
    ----------
    dimension : int
        Columns of the whole table.
    exchange : Exchange
    block : int, default 16
        Columns that stay together.

    Attributes
    ----------
    columns : slice
        The own ones.

    Examples
    --------
    >>> ColumnShard(40, OneProcess()).columns
    slice(0, 40, None)
    """

    def __init__(self, dimension: int, exchange: Exchange, block: int = BLOCK) -> None:
        n_blocks = -(-dimension // block)
        if exchange.size > n_blocks:
            raise ParameterError(
                f"{exchange.size} processes divide at least {exchange.size * block - block + 1} columns among them, "
                f"{block} each, but dimension is {dimension}",
                parameter="dimension",
            )
        self.dimension, self.exchange, self.block = dimension, exchange, block
        bounds = [min(dimension, n_blocks * rank // exchange.size * block) for rank in range(exchange.size + 1)]
        self.widths = [int(width) for width in np.diff(bounds)]
        self.columns = slice(bounds[exchange.rank], bounds[exchange.rank + 1])

    def rows(self, table: Table, rows: Rows) -> Table:
        """Return rows of a table with the columns of all processes."""
        return self.exchange.gather(np.ascontiguousarray(table[rows]), self.widths)

    def row_blocks(self, n_rows: int) -> list[slice]:
        """Return ranges of rows that fit in memory with all of their columns."""
        return [slice(first, min(n_rows, first + ROWS_AT_ONCE)) for first in range(0, n_rows, ROWS_AT_ONCE)]

    def gathered(self, table: Table) -> Table:
        """Return the whole table, in every process."""
        return np.concatenate([self.rows(table, some) for some in self.row_blocks(len(table))])

    def complete(self, table: Table) -> None:
        """Fill in the columns of the others in a table that is 0 there: the bits of all processes add up to it."""
        self.exchange.start_sum(table.reshape(-1).view(np.int32))()

    def whole(self, table: Table) -> Table:
        """Return the whole table in process 0; the others return the columns that they have."""
        if self.exchange.size == 1:
            return table
        out = np.empty((len(table), self.dimension), table.dtype) if self.exchange.rank == 0 else None
        for some in self.row_blocks(len(table)):
            part = self.exchange.gather_to_first(table[some], self.widths)
            if out is not None:
                out[some] = part
        return table if out is None else out

    def split(self, name: str, table: AnyTable) -> dict[str, AnyTable]:
        """Return the own columns by the block that they are, for a checkpoint that any number of processes reads."""
        first = self.columns.start
        starts = range(0, table.shape[1], self.block)
        return {f"{name}{COLUMNS}{first + start:06d}": table[:, start : start + self.block] for start in starts}


def by_columns(function: Callable[[Table], Table], values: Table) -> Table:
    """Return ``function(values)``, each of whose columns depends on one column of ``values``: processes divide them."""
    exchange = current_exchange()
    if exchange is None or values.shape[1] < exchange.size:
        return function(values)
    shard = ColumnShard(values.shape[1], exchange, block=1)
    part = function(np.ascontiguousarray(values[:, shard.columns]))
    return exchange.gather(np.ascontiguousarray(part), shard.widths)


def is_column_block(name: str) -> bool:
    """Tell whether a tensor of a checkpoint is some columns of a table, by its name."""
    return re.search(rf"{re.escape(COLUMNS)}\d{{6}}$", name) is not None


def table_of_block(name: str) -> str:
    """Return the name of the table that a block of columns belongs to."""
    return name.rpartition(COLUMNS)[0]


def first_of_block(name: str) -> int:
    """Return the number of the first column of a block."""
    return int(name.rpartition(COLUMNS)[2])


def column_shard(dimension: int, block: int = BLOCK) -> ColumnShard | None:
    """Return the columns that this process trains, ``None`` where it has all of them to itself."""
    exchange = current_exchange()
    return None if exchange is None else ColumnShard(dimension, exchange, block)
