"""Tables in memory and database connections: Polars, Arrow, pandas, and whatever speaks DB-API or Arrow's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pyarrow as pa

from planetoid.errors import DataError, ParameterError
from planetoid.io.typed_table import ArrowTable, first_line

if TYPE_CHECKING:
    from planetoid.io.table import Table, TableOptions

__all__ = ["ArrowStream", "Connection", "is_table_in_memory", "table_in_memory", "to_arrow"]


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library that offers Arrow's PyCapsule interface: Polars, pandas, pyarrow, DuckDB, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class Connection(Protocol):
    """A connection of a database module that follows DB-API (PEP 249)."""

    def cursor(self) -> Any: ...  # the type is the database module's own
    def commit(self) -> None: ...


def is_table_in_memory(source: object) -> bool:
    """Return whether an object is a table of another library."""
    return isinstance(source, ArrowStream)


def to_arrow(source: ArrowStream) -> pa.Table:
    """Return a table as Arrow, without copying it where its library has Arrow columns.

    >>> to_arrow(pa.table({"id": [1, 2]})).num_rows
    2
    """
    try:
        return source if isinstance(source, pa.Table) else pa.table(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"the table has a column of mixed types: {first_line(error)}", hint="convert the column to strings"
        ) from None


def table_in_memory(source: object, options: TableOptions) -> Table:
    """Return an object as a table: Arrow columns as they are, a connection by its query."""
    if isinstance(source, ArrowStream):
        return ArrowTable(to_arrow(source))
    if isinstance(source, Connection):
        from planetoid.io.databases import run_query

        if options.query is None:
            raise ParameterError("a connection requires a query", parameter="query")
        return ArrowTable(run_query(source, options.query))
    raise DataError(
        f"a {type(source).__name__} is not a table",
        hint="pass a path, a Polars, Arrow or pandas table, or a database connection with a query",
    )
