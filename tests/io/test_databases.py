"""Queries to databases: names of tables, SQL, mixed types, and what goes wrong."""

import importlib.util
import sqlite3

import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.io import read_edges, read_labels
from planetoid.io.databases import run_query


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "d.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE follows (a TEXT, b TEXT)")
    connection.executemany("INSERT INTO follows VALUES (?, ?)", [("x", "y"), ("y", "z")])
    connection.commit()
    connection.close()
    return path


def test_the_only_table_needs_no_query(database):
    ids, edges = read_edges(database)
    assert ids.to_numpy().tolist() == ["x", "y", "z"]
    assert edges.source.tolist() == [0, 1]


def test_a_query_or_a_name(database):
    assert len(read_edges(database, query="follows")[0]) == 3
    assert len(read_edges(database, query="SELECT a, b FROM follows WHERE a = 'x'")[0]) == 2
    with pytest.raises(DataError, match=r"d\.db: the query fails: no such table: followers"):
        read_edges(database, query="followers")
    with pytest.raises(DataError, match="but no rows"):
        read_edges(database, query="SELECT * FROM follows WHERE a = 'nobody'")


def test_the_file_is_opened_for_reading_only(database):
    before = database.read_bytes()
    with pytest.raises(DataError, match="the query fails: attempt to write a readonly database"):
        read_edges(database, query="DELETE FROM follows")
    assert database.read_bytes() == before


def test_columns_of_several_types_become_text():
    connection = sqlite3.connect(":memory:")
    table = run_query(connection, "SELECT 1 AS id, 2.5 AS x UNION ALL SELECT 'b', NULL UNION ALL SELECT NULL, 3")
    assert table.column("id").to_pylist() == ["1", "b", None]
    assert table.column("x").to_pylist() == [2.5, None, 3.0]


def test_a_connection_needs_a_query(database):
    connection = sqlite3.connect(database)
    with pytest.raises(ParameterError, match="a connection requires a query"):
        read_labels(connection)
    assert pl.read_dataset(connection, query="follows").graph.n_edges == 2


def test_a_file_that_is_no_database_takes_no_query(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\n")
    with pytest.raises(ParameterError, match="a query requires a database"):
        read_edges(tmp_path / "e.csv", query="follows")


@pytest.mark.skipif(importlib.util.find_spec("duckdb") is None, reason="duckdb is not installed")
def test_duckdb(tmp_path):
    import duckdb

    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE follows AS SELECT 'x' AS a, 'y' AS b")
    assert len(read_edges(path)[0]) == 2
    assert len(read_edges(path, query="SELECT a, b FROM follows")[0]) == 2
