"""Queries to databases: SQLite and DuckDB files, and connections of any DB-API module."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from planetoid.errors import DataError, Fix
from planetoid.io.opening import check_file
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import ArrowTable

if TYPE_CHECKING:
    from planetoid.io.memory import Connection

__all__ = ["DuckdbTable", "SqliteTable", "arrow_column", "run_query"]

ROWS_AT_ONCE = 2**16
NAME = re.compile(r"\w+(\.\w+)*")


class SqliteTable(ArrowTable):
    """The result of a query to an SQLite file, or its only table."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        check_file(path)
        connection = sqlite3.connect(f"{local_file(path).absolute().as_uri()}?mode=ro", uri=True)
        try:
            query = options.query or _only_table(
                path, connection, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            )
            data = run_query(connection, query)
        except sqlite3.Error as error:
            raise DataError(f"the database cannot be read: {error}", path=path) from None
        except DataError as error:
            raise DataError(error.message, hint=error.hint, path=path, fix=error.fixes) from None
        finally:
            connection.close()
        super().__init__(data, path)


class DuckdbTable(ArrowTable):
    """The result of a query to a DuckDB file, or its only table; requires the package ``duckdb``."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        check_file(path)
        try:
            import duckdb
        except ImportError:
            raise DataError(
                "reading a DuckDB database requires the package duckdb",
                path=path,
                hint="install it with pip install duckdb, or export the table: "
                "duckdb FILE \"COPY my_table TO 'my_table.parquet'\"",
            ) from None
        try:
            with duckdb.connect(str(local_file(path)), read_only=True) as connection:
                tables = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
                data = run_query(connection, options.query or _only_table(path, connection, tables))
        except duckdb.Error as error:
            raise DataError(f"the database cannot be read: {error}", path=path) from None
        super().__init__(data, path)


def run_query(connection: Connection, query: str) -> pa.Table:
    """Return the result of a query, or a table by its name, as Arrow columns."""
    name = query.strip()
    if NAME.fullmatch(name):
        query = f"SELECT * FROM {'.'.join(f'{chr(34)}{part}{chr(34)}' for part in name.split('.'))}"  # noqa: S608
    cursor = connection.cursor()
    try:
        cursor.execute(query)
    except Exception as error:  # each database module has errors of its own
        raise DataError(f"the query fails: {error}", parameter="query") from None
    if hasattr(cursor, "fetch_arrow_table"):  # DuckDB and ADBC
        found: pa.Table = cursor.fetch_arrow_table()
        return found
    if cursor.description is None:
        raise DataError("the query returns no rows", hint="it must be a SELECT", parameter="query")
    names = [str(column[0]) for column in cursor.description]
    columns: list[list[object]] = [[] for _ in names]
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        for column, values in zip_longest(columns, zip(*rows, strict=True)):
            column.extend(values)
    return pa.Table.from_arrays([arrow_column(column) for column in columns], names=names)


def arrow_column(values: Sequence[object]) -> pa.Array:
    """Return values of any types as one Arrow array; a mixture becomes text, as in SQLite and JSON it may occur.

    >>> arrow_column([1, "b", None]).to_pylist()
    ['1', 'b', None]
    """
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _only_table(path: Path, connection: Any, query: str) -> str:
    cursor = connection.cursor()
    cursor.execute(query)
    names = [str(row[0]) for row in cursor.fetchall()]
    if len(names) != 1:
        listed = f"tables {', '.join(names[:10])}" if names else "no tables"
        raise DataError(
            f"the database has {listed}", path=path, fix=Fix("query", purpose="to choose one by its name or with SQL")
        )
    return names[0]
