"""Values that once ended with a traceback."""

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planetoid import Graph, read_dataset, read_features, read_labels
from planetoid.errors import DataError
from planetoid.io import iter_features

LARGE = pa.array([2**63, 2**63 + 5, 7], pa.uint64())
TEXT = [str(value) for value in LARGE.to_pylist()]


@pytest.fixture
def table(tmp_path):
    def write(name="t.parquet", **columns):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def test_edges_with_empty_ends_in_the_first_lines(write, error_of):
    assert error_of(Graph.from_file, write(",p2\np1,\np2,p3")).message == "the id is empty"


@pytest.mark.parametrize("blanks", ["\u00a0\n\u2003\n", "\x1c\n\x1f"])
def test_tokens_of_blanks_only(write, error_of, blanks):
    assert error_of(read_features, write(blanks, "f.txt")).message == "the file has ids but no tokens"


def test_ids_beyond_63_bits_are_strings_in_every_file(table):
    edges = table("e.parquet", source=LARGE, target=pa.array([7, 2**63, 7], pa.uint64()))
    features = table("f.parquet", id=LARGE, x=[1.0, 2.0, 3.0])
    labels = table("l.parquet", id=LARGE, label=["a", "b", "a"])
    assert sorted(Graph.from_file(edges).node_ids) == sorted(TEXT)
    assert read_features(features).ids.to_numpy().tolist() == TEXT
    assert next(iter_features(features)).ids.to_numpy().tolist() == TEXT
    assert read_labels(labels) == dict(zip(TEXT, "aba", strict=True))
    data = read_dataset(edges=edges, features=features, labels=labels)
    by_id = {
        node: (x, data.classes[code]) for node, x, code in zip(data.graph.node_ids, data.X[:, 0], data.y, strict=True)
    }
    assert by_id == {TEXT[0]: (1.0, "a"), TEXT[1]: (2.0, "b"), TEXT[2]: (3.0, "a")}


@pytest.mark.parametrize("value", [1e300, float("inf"), -1e19])
def test_labels_that_are_no_integers(table, error_of, value):
    error = error_of(read_labels, table(id=["a", "b"], label=[2.0, value]))
    assert error.message == f"labels must be integers or strings, got {value}"
    assert error.row == 1


def test_half_floats(table):
    half = pa.array(np.array([1, 2, np.nan], np.float16))
    assert read_labels(table(id=["a", "b", "c"], label=half)) == {"a": 1, "b": 2}
    assert read_features(table(id=["a", "b"], x=half[:2])).X.tolist() == [[1], [2]]
    assert Graph.from_file(table(source=["a", "b"], target=["c", "d"], weight=half[:2])).weights.tolist() == [
        1,
        2,
        1,
        2,
    ]


def test_damaged_parquet(table, tmp_path):
    """Every single byte of the file replaced, one after the other."""
    content = table(id=["a", "b"], x=[0.5, 1.5]).read_bytes()
    path = tmp_path / "damaged.parquet"
    for position in range(4, len(content) - 4):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        for read in (Graph.from_file, read_features, read_labels):
            with suppress(DataError):
                read(path)


def test_parquet_strings_that_are_not_utf8(table, error_of):
    path = table(id=["abc", "abd"], label=["red", "blue"])
    path.write_bytes(path.read_bytes().replace(b"abd", b"a\xe5\xff"))
    for read in (read_labels, Graph.from_file):
        assert error_of(read, path).message.startswith("the file is corrupt: Invalid UTF8")


def test_an_unreadable_file_is_not_called_damaged(write, monkeypatch):
    """As it is for a user without permission; root may read everything, so the error is simulated."""
    for name in ("t.csv", "t.parquet", "t.npz", "t.txt", "t.svm"):
        path = write("a,b\n", name)
        with monkeypatch.context() as patch:
            patch.setattr("pathlib.Path.open", _denied)
            with pytest.raises(DataError, match="cannot read the file: Permission denied"):
                read_features(path)


def _denied(*_, **__):
    raise PermissionError(13, "Permission denied")
