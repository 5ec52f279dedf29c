"""Files that claim, or decompress to, more than they should end with an error, in little memory."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from planetoid import Graph, read_features, read_labels
from planetoid.errors import DataError, ParameterError
from planetoid.io import limits


def npz(path, **arrays) -> Path:
    np.savez_compressed(path, **{name: np.asarray(value) for name, value in arrays.items()})
    return path


def coo(path, shape, row=(0,), col=(0,)) -> Path:
    return npz(path, format="coo", row=row, col=col, data=np.ones(len(row)), shape=shape)


def parquet(path, **columns) -> Path:
    pq.write_table(pa.table(columns), path, compression="zstd")
    return path


@pytest.mark.parametrize("read", [Graph.from_file, read_features, read_labels])
def test_a_line_without_an_end(write, error_of, read, monkeypatch):
    monkeypatch.setenv("PLANETOID_MAX_LINE_BYTES", "1000")
    path = write("a,1\nb,2\n" + "e" * 2000)
    assert error_of(read, path).message == "a line of 1,001 bytes or more is over the limit of 1,000"
    assert error_of(read_features, write("e" * 2000, "f.txt")).line == 1
    monkeypatch.setenv("PLANETOID_MAX_LINE_BYTES", "3000")
    with pytest.raises(DataError, match="cell"):
        read(path)


def test_a_long_line_beyond_the_first_ones(write, error_of, monkeypatch):
    monkeypatch.setenv("PLANETOID_MAX_LINE_BYTES", "10000")
    path = write("a,b\n" * 300_000 + "e" * 9_000_000)
    assert "is over the limit of 10,000" in str(error_of(Graph.from_file, path))


def test_a_compressed_file_that_is_far_too_large(tmp_path, error_of, monkeypatch):
    path = tmp_path / "edges.csv.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(20):
            file.write(b"a,b\n" * 250_000)
    assert "times its size is over the limit of 200; set" in str(error_of(Graph.from_file, path))
    monkeypatch.setenv("PLANETOID_MAX_EXPANSION", "100000")
    assert Graph.from_file(path).n_edges == 1


def test_a_table_of_too_many_columns(write, tmp_path, error_of, monkeypatch):
    monkeypatch.setenv("PLANETOID_MAX_TABLE_COLUMNS", "4")
    row = "a,1,2,3,4\n"
    for text in (row * 3, row.replace(",", " ") * 3, row.replace("a", '"a"') * 3):
        assert "a table of 5 columns or more is over the limit of 4" in str(error_of(read_features, write(text)))
    wide = parquet(tmp_path / "f.parquet", **{name: [1] for name in "abcde"})
    assert "a table of 5 columns" in str(error_of(read_features, wide))
    monkeypatch.setenv("PLANETOID_MAX_TABLE_COLUMNS", "5")
    assert read_features(wide).X.shape == (1, 4)


def test_a_matrix_of_too_many_columns_or_rows(tmp_path, write, error_of):
    assert "a matrix of 1,099,511,627,776 columns" in str(error_of(read_features, coo(tmp_path / "c.npz", (3, 2**40))))
    assert "decompresses to" in str(error_of(read_features, coo(tmp_path / "r.npz", (2**40, 3))))
    assert "a matrix of 900,000,000 columns" in str(error_of(read_features, write("0 900000000:1\n", "f.svm")))


def test_an_array_that_claims_to_be_large(tmp_path, error_of):
    path = npz(tmp_path / "z.npz", format="csr", data=np.zeros(2**22), indices=[0], indptr=[0, 1], shape=[1, 1])
    assert "decompresses to" in str(error_of(read_features, path))


def test_a_parquet_file_of_one_value(tmp_path, error_of):
    table = pa.table({"id": pa.array(np.zeros(2**22, np.int64)), "x": pa.array(np.zeros(2**22, np.float32))})
    pq.write_table(table, tmp_path / "f.parquet")
    assert "decompresses to" in str(error_of(read_features, tmp_path / "f.parquet"))


@pytest.mark.parametrize("name", ["f.feather", "f.arrows"])
@pytest.mark.parametrize("repeated", [False, True])
def test_an_arrow_file_of_one_value(name, repeated, tmp_path, error_of):
    """Also where the value is in a dictionary that is compressed."""
    values = pa.array(["a" * 2**24]).dictionary_encode() if repeated else pa.array(np.zeros(2**24, np.int8))
    table = pa.table({"id": pa.array(np.zeros(len(values), np.int8)), "x": values})
    if name.endswith("s"):
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(tmp_path / name, table.schema, options=options) as writer:
            writer.write_table(table)
    else:
        feather.write_feather(table, tmp_path / name, compression="zstd")
    assert "decompresses to" in str(error_of(read_features, tmp_path / name))


def test_long_ids(write, tmp_path, error_of, monkeypatch):
    name = "a" * 20_000
    for path in (
        write(f"id,x\n{name},1\nb,2\n"),
        write(f"{name} dog\nb cat\n", "f.txt"),
        parquet(tmp_path / "f.parquet", id=["b", name], x=[1, 2]),
    ):
        assert "an id or a label of 20,000 bytes is over the limit of 4,096" in str(error_of(read_features, path))
    monkeypatch.setenv("PLANETOID_MAX_ID_BYTES", "20000")
    assert name in read_features(path).ids


@pytest.mark.parametrize("repeated", [pa.array, lambda ids: pa.array(ids).dictionary_encode()])
def test_a_long_id_in_a_dictionary_is_noticed_before_it_is_repeated(repeated, tmp_path, error_of, monkeypatch):
    path = parquet(tmp_path / "f.parquet", id=repeated(["a" * 5_000] * 100), x=[1] * 100)
    monkeypatch.setattr("planetoid.io.parquet_table.ParquetTable.check_ids", lambda *_: pytest.fail("too late"))
    assert "an id or a label of 5,000 bytes" in str(error_of(read_features, path))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
@pytest.mark.parametrize("read", [Graph.from_file, read_features, read_labels])
def test_devices_are_not_read(read, error_of):
    assert "not a regular file" in str(error_of(read, Path("/dev/zero")))


def test_a_wrong_variable(monkeypatch):
    monkeypatch.setenv("PLANETOID_MAX_COLUMNS", "many")
    with pytest.raises(ParameterError, match="PLANETOID_MAX_COLUMNS must be an integer >= 1, got 'many'"):
        limits.COLUMNS.check(1)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak memory is read from /proc")
def test_hostile_files_take_less_than_a_gigabyte(tmp_path):
    """Each in a process of its own, whose peak memory is measured."""
    hostile = {
        "commas.csv": b"," * (2**24 - 2),
        "commas3.csv": (b"," * (2**24 - 2) + b"\n") * 3,
        "spaces.txt": b"a " * (2**23 - 1),
        "quotes.csv": b'"' * (2**24 - 2),
        "quoted.csv": b'"",' * 5_000_000,
        "zeros.csv": b"\0" * 2**28,
        "letters.csv": b"a,b\n" + b"a" * 2**28,
        "pairs.svm": b"0 " + b"1:1 " * 2**21,
        "bomb.csv.gz": gzip.compress(b"a,b\n" * (2**22 - 1)),
        "zeros.csv.gz": gzip.compress(b"\0" * 2**29),
    }
    for name, content in hostile.items():
        (tmp_path / name).write_bytes(content)
    coo(tmp_path / "rows.npz", (2**40, 3))
    coo(tmp_path / "columns.npz", (3, 2**40))
    repeated = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int8), ["a" * 500_000])
    parquet(tmp_path / "long.parquet", id=repeated, x=np.ones(100_000))
    feather.write_feather(pa.table({"id": np.zeros(2**30, np.int8)}), tmp_path / "zeros.feather", compression="zstd")
    parquet(tmp_path / "zeros.parquet", id=np.zeros(2**26, np.int8), x=np.zeros(2**26, np.int8))
    code = """if True:
        import re, sys, warnings
        from pathlib import Path
        import planetoid as pl
        warnings.simplefilter("ignore")
        for read in (pl.Graph.from_file, pl.read_features, pl.read_labels):
            try:
                read(sys.argv[1])
            except pl.PlanetoidError:
                pass
        print(int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
    """
    peaks = {}
    for path in sorted(tmp_path.iterdir()):
        run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60, check=True)
        peaks[path.name] = int(run.stdout)
    assert max(peaks.values()) < 1000, peaks
