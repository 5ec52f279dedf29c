"""Wide tables that are mostly zero: the same numbers as a dense reader gives, and the same errors."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

import planetoid as pl
from planetoid.errors import DataError
from planetoid.io import feature_reader, read_feature_blocks
from planetoid.io.sparse_columns import NotFinite, is_mostly_zero, sparse_columns


def wide(n_rows=50, n_columns=300, density=0.02, seed=0):
    generator = np.random.default_rng(seed)
    return np.where(generator.random((n_rows, n_columns)) < density, generator.random((n_rows, n_columns)), 0)


@pytest.fixture
def write_wide(tmp_path):
    def write(X, kind=np.float32):
        path = tmp_path / "wide.parquet"
        columns = {f"w{k:03d}": X[:, k].astype(kind) for k in range(X.shape[1])}
        parquet.write_table(pa.table({"id": [f"p{k}" for k in range(len(X))], **columns}), path, row_group_size=20)
        return path

    return write


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8])
def test_the_same_numbers_as_a_dense_reader(write_wide, monkeypatch, kind):
    X = np.ceil(wide() * 9).astype(kind)
    path = write_wide(X, kind)
    table = read_feature_blocks(path).table()
    assert sparse.issparse(table.X)
    assert table.X.dtype == np.float32
    assert (table.X.toarray() == X).all()
    assert (pl.read_features(path).X == X).all()
    assert isinstance(pl.read_features(path).X, np.ndarray)  # a table is dense unless it is read as a data set
    fast = pl.read_dataset(features=path)
    monkeypatch.setattr(feature_reader, "WIDE", 10**6)
    slow = pl.read_dataset(features=path)
    assert (fast.X != slow.X).nnz == 0
    assert fast.feature_names.tolist() == slow.feature_names.tolist()


def test_a_table_that_turns_out_dense_is_dense(write_wide):
    X = wide()
    X[:, 1::4] = 1.0  # between the columns that are looked at
    assert sparse.issparse(read_feature_blocks(write_wide(X)).table().X)
    assert isinstance(pl.read_dataset(features=write_wide(X)).X, np.ndarray)


@pytest.mark.parametrize(
    ("value", "shown"), [(np.nan, "nan is not a finite"), (np.inf, "inf is not"), (1e39, "1e+39 is beyond 3.4e38")]
)
def test_a_number_that_is_not_finite_is_named(write_wide, value, shown):
    X = wide()
    X[30, 7] = value
    with pytest.raises(DataError) as caught:
        pl.read_dataset(features=write_wide(X, np.float64))
    assert (caught.value.row, caught.value.column, caught.value.node) == (30, "w007", "p30")
    assert caught.value.message.startswith(shown)


def test_missing_values_are_errors_unless_they_are_zeros():
    columns = [pa.array([0, 2, None]), pa.array([True, False, None]), pa.array([0.5, np.nan, 0.0])]
    with pytest.raises(NotFinite) as caught:
        sparse_columns(columns)
    assert (caught.value.row, caught.value.column) == (2, 0)
    assert sparse_columns(columns, missing=True).toarray().tolist() == [[0, 1, 0.5], [2, 0, 0], [0, 0, 0]]


def test_what_is_mostly_zero():
    assert is_mostly_zero([pa.array([0] * 9 + [1])])
    assert not is_mostly_zero([pa.array([0] * 8 + [1, 2])])
    assert not is_mostly_zero([pa.array([0] * 8 + [None, None])])
