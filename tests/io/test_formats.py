"""The registry of formats: recognition, what a format has, and how a new one is added."""

import re
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse

from planetoid import Graph, read_features, read_labels
from planetoid.errors import DataError, ParameterError
from planetoid.io import formats
from planetoid.io.feature_reader import FeatureBlock, FeatureReader
from planetoid.io.formats import FORMATS, Format, format_of
from planetoid.io.table import Batch, Table


@pytest.mark.parametrize(
    ("name", "chosen", "content", "expected"),
    [
        ("f.csv", None, "features", "table"),
        ("f.CSV.gz", None, "features", "table"),
        ("f", None, "features", "table"),
        ("f.dat", None, "features", "table"),
        ("f.parquet", None, "features", "parquet"),
        ("f.pq", None, "labels", "parquet"),
        ("f.parquet", "table", "features", "parquet"),  # a table as well
        ("f.txt.gz", None, "features", "tokens"),
        ("f.txt", "table", "features", "table"),
        ("f.txt", None, "edges", "table"),
        ("f.dat", "tokens", "features", "tokens"),
        ("f.libsvm", None, "features", "svmlight"),
        ("f.npz", None, "features", "npz"),
        ("f.npz", None, "edges", "npz"),
        ("f.svm", None, "edges", "table"),
        ("f.feather", None, "nodes", "arrow"),
        ("f.jsonl.zst", None, "nodes", "json"),
        ("f.mat", None, "labels", "mat"),
        ("f.mat", None, "nodes", "table"),
    ],
)
def test_format_of_a_name(name, chosen, content, expected):
    assert format_of(name, chosen, content).name == expected


def test_parquet_is_recognised_without_its_suffix(tmp_path):
    parquet.write_table(pa.table({"id": ["a"], "x": [1.0]}), tmp_path / "f.csv")
    assert format_of(tmp_path / "f.csv").name == "parquet"
    (tmp_path / "g.csv").write_text("PAR1,PAR2\n")
    assert format_of(tmp_path / "g.csv").name == "table"


def test_formats_that_hold_no_edges_cannot_be_chosen_for_them():
    with pytest.raises(ParameterError) as caught:
        format_of("e.svm", "svmlight", "edges")
    known = "'table', 'parquet', 'arrow', 'json', 'sqlite', 'duckdb', 'npz', 'npy', 'mat'"
    assert str(caught.value) == f"format must be one of {known}, got 'svmlight'"
    assert caught.value.parameter == "format"


def test_what_formats_have():
    arrays = ["npz", "npy", "mat"]
    assert [name for name, entry in FORMATS.items() if not entry.has_ids] == ["svmlight", *arrays]
    assert [name for name, entry in FORMATS.items() if not entry.has_names] == ["svmlight", *arrays]
    tables = ["table", "parquet", "arrow", "json", "sqlite", "duckdb"]
    assert [name for name, entry in FORMATS.items() if entry.is_table] == tables
    assert [name for name, entry in FORMATS.items() if entry.holds("edges")] == [*tables, *arrays]


@pytest.mark.parametrize("name", FORMATS)
def test_readers_are_what_the_registry_says(name):
    entry = FORMATS[name]
    assert issubclass(entry.reader_class(), Table if entry.is_table else FeatureReader)


class Columns(Table):
    """A format of columns: each line is a name and the values of that column."""

    has_names = True

    def __init__(self, path, options) -> None:
        self.path = path
        rows = [line.split() for line in path.read_text().splitlines()]
        self.names = tuple(row[0] for row in rows)
        self._columns = [row[1:] for row in rows]

    def batches(self, texts, numbers=()):
        values = [pa.array(self._columns[k], type=pa.string()).cast(pa.float32()) for k in numbers]
        columns = [pa.array(self._columns[k]) for k in texts]
        yield Batch(0, columns, self.finite_matrix(0, columns, numbers, values))

    def is_numeric(self, column):
        return self.names[column] not in ("id", "label", "source", "target")

    def cell(self, row, column):
        return self._columns[column][row]


class Diagonal(FeatureReader):
    """A format of features alone: a number n stands for the n x n identity."""

    def __init__(self, path, options) -> None:
        self.path = path
        self.n_features = int(path.read_text())

    def blocks(self):
        yield FeatureBlock(0, np.eye(self.n_features, dtype=np.float32))


def test_a_new_table_format_is_a_class_and_an_entry(monkeypatch, tmp_path):
    entry = Format("columns", f"{__name__}:Columns", (".columns",), options=("id_column", "names"), is_table=True)
    monkeypatch.setattr(entry.__class__, "reader_class", lambda self: Columns if self is entry else real(self))
    monkeypatch.setitem(FORMATS, "columns", entry)
    path = tmp_path / "edges.columns"
    path.write_text("source a b\ntarget b c\nweight 2 3\n")
    assert Graph.of(path).strengths.tolist() == [2, 5, 3]
    path.write_text("id b a\nlabel x y\n")
    assert read_labels(path) == {"b": "x", "a": "y"}
    path.write_text("id b a\nx 1 2\ny 3 4\n")
    assert read_features(path).X.tolist() == [[1, 3], [2, 4]]


def test_a_new_format_of_features_is_a_class_and_an_entry(monkeypatch, tmp_path):
    entry = Format("diagonal", f"{__name__}:Diagonal", (".diagonal",), has_ids=False, has_names=False)
    monkeypatch.setattr(entry.__class__, "reader_class", lambda self: Diagonal if self is entry else real(self))
    monkeypatch.setitem(FORMATS, "diagonal", entry)
    path = tmp_path / "f.diagonal"
    path.write_text("3")
    assert np.array_equal(read_features(path).X, np.eye(3))
    assert not read_features(path).has_ids


real = formats.Format.reader_class


@pytest.mark.parametrize("kind", ["arrays", "matrix", "text"])
def test_an_encrypted_archive(kind, tmp_path):
    path = tmp_path / ("e.zip" if kind == "text" else "x.npz")
    if kind == "arrays":
        np.savez(path, X=np.eye(3))
    elif kind == "matrix":
        sparse.save_npz(path, sparse.eye_array(3, format="csr"))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("e.csv", "a,b\n")
    content = bytearray(path.read_bytes())
    for at in re.finditer(b"PK\x01\x02", bytes(content)):
        content[at.start() + 8] |= 1  # the flag that the file is encrypted
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"{path.name}: the archive is encrypted; extract it, or save it without"):
        (Graph.from_file if kind == "text" else read_features)(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("read", [read_features, read_labels, Graph.from_file])
def test_a_table_without_columns(name, read, tmp_path):
    write = parquet.write_table if name.endswith("parquet") else feather.write_feather
    write(pa.table({"a": [1, 2]}).select([]), tmp_path / name)
    with pytest.raises(DataError, match=f"{name}: the table has no columns"):
        read(tmp_path / name)
