"""Broken files of edges: each gets one sentence that says where, and what would be right."""

import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from planetoid import Graph
from planetoid.errors import DataError, ParameterError

GOOD = "a,b,1\n" * 300  # longer than what the layout is told from


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"table.csv is empty"),
        ("\n \n\n", r"no lines but comments and blank ones"),
        ("# nothing\n# here\n", r"no lines but comments"),
        ("source,target\n", r"has a header but no line below it"),
        ("a\nb\n", r"has one column, for instance 'a'; separate cells by"),
        # ragged rows
        ("a,b\nb,c,d\n", r"line 2: 3 cells where other lines have 2 \(separator ','"),
        ("a,b,1\nb,c\n", r"line 2: 2 cells where other lines have 3"),
        ("source,target,weight\na,b\nb,c\n", r"line 1: the header has 3 cells, but the lines below have 2"),
        (GOOD + "\n# x\nb,c\n", r"line 302: 1 cell where other lines have 3"),
        (GOOD + "b;c;1\n", r"line 301: 1 cell where"),
        # quotes and line ends
        ('a,"b,1\nb,c,1\n', r"line 1: a quote is opened and not closed"),
        (GOOD + '"b,c,1\nd,"e,1\n', r"line 301: a quote is opened and not closed"),
        ('a,"b\nc",1\nb,c,1\n', r"line 1: a quote is opened and not closed; close it on the same line"),
        ("a,b\rb,c\r", r"line 1: a line ends in a bare carriage return"),
        # ids
        ("a,b\n,c\nb,d\n", r"line 2, column 0 \(counted from 0\): the id is empty"),
        ("source,target\na,b\n\nb,  \nc,d\n", r"line 4, column 'target': the id is empty"),
        (GOOD + "a,,1\n", r"line 301, column 1 .*: the id is empty"),
        # weights
        ("a,b,1\nb,c,heavy\n", r"line 2 \('b', 'c'\), column 2 .*: 'heavy' is not a number"),
        ("source,target,weight\na,b,one\n", r"line 2 \('a', 'b'\), column 'weight': 'one' is not a number"),
        (GOOD + "x,y,NA\n", r"line 301 \('x', 'y'\), column 2 .*: 'NA' is not a number"),
        (GOOD + "x,y,\n", r"line 301 \('x', 'y'\), column 2 .*: the cell is empty; write a number there"),
        (GOOD + "x,y,nan\n", r"line 301 \('x', 'y'\), column 2 .*: nan is not a finite number"),
        (GOOD + "x,y,-inf\n", r"line 301 .*: -inf is not a finite number"),
        (GOOD + "x,y,1e39\n", r"line 301 .*: 1e39 is not a finite number"),
        (GOOD + "x,y,-0.5\n", r"line 301 \('x', 'y'\), .*: the weight -0.5 is negative; a weight is zero or more"),
        ("a;b;0,5\nb;c;0,7\n", r"line 1 .*: '0,5' is not a number \(with a decimal point: 0.5\)"),
        # bytes
        (b"a,b\nM\xfcnchen,c\n", r"line 2: byte 0xfc at place 2 is not UTF-8; save the file as UTF-8"),
        (GOOD.encode() + b"caf\xe9,b,1\n", r"line 301: byte 0xe9 at place 4 is not UTF-8"),
        ("a,b\nb,c\n".encode("utf-16"), r"is UTF-16 text; save it as UTF-8"),
        (b"PK\x03\x04 and so on", r"a zip archive or an Excel sheet"),
        (b"BZh91AY&SY...", r"compressed with bzip2"),
        (b"\xfd7zXZ\x00...", r"compressed with xz"),
        (b"\x28\xb5\x2f\xfd...", r"compressed with zstd"),
        (gzip.compress(b"a,b\n" * 10_000, mtime=0)[:-20], r"cut short or damaged: its gzip data break off"),
        (gzip.compress(b"a,b\n", mtime=0)[:12], r"cut short or damaged"),
        (gzip.compress(b"", mtime=0), r"no lines but comments and blank ones"),
    ],
)
def test_broken_text(write, content, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as caught:
        Graph.of(path)
    assert str(path) in str(caught.value)


def test_damage_inside_gzip(write):
    packed = bytearray(gzip.compress(str(list(range(20_000))).replace(", ", ",\n").encode()))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(DataError, match=r"cut short or damaged"):
        Graph.of(write(bytes(packed), "e.csv.gz"), separator=",", header=False)


def test_what_is_no_file(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nowhere.csv"):
        Graph.of(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match=r"is a folder; give a file"):
        Graph.of(tmp_path)
    with pytest.raises(DataError, match=r"there is no file"):
        Graph.of(str(tmp_path / "nowhere.parquet"))


def test_wrong_separator_says_which_one_it_looks_like(write):
    path = write("a\tb\nb\tc\n")
    with pytest.raises(DataError, match=r"one column when it is split at ','; it looks separated by a tab"):
        Graph.from_file(path, separator=",")
    with pytest.raises(ParameterError, match=r"separator='tab'; it is one character"):
        Graph.from_file(path, separator="tab")


def test_columns_that_are_not_there(write):
    path = write("source,target\na,b\n")
    with pytest.raises(DataError, match=r"table.csv: there is no column 'from'; the columns are source, target"):
        Graph.from_file(path, source="from")
    with pytest.raises(DataError, match=r"there is no column 5; there are 2, counted from 0"):
        Graph.from_file(path, weight=5)
    twins = write("x,x\na,b\n", "twins.csv")
    with pytest.raises(DataError, match=r"several columns are called 'x'; ask for one by its number"):
        Graph.from_file(twins, source="x")
    assert Graph.from_file(twins, header=True).n_edges == 1


def test_ids_that_are_not_among_the_nodes(write):
    with pytest.raises(DataError, match=r"line 2, column 1 .*: 'c' is not among the nodes given"):
        Graph.from_file(write("a,b\nb,c\n"), nodes=["a", "b"])
    with pytest.raises(DataError, match=r"line 3: the id 'x' is no integer, but those of the graph are, such as 1"):
        Graph.from_file(write("source,target\n1,2\nx,2\n"), nodes=[1, 2])
    with pytest.raises(DataError, match=r"objects such as \(1, 2\), which no file can name"):
        Graph.from_file(write("a,b\n"), nodes=[(1, 2)])
    with pytest.raises(DataError, match=r"'a' stands twice"):
        Graph.from_file(write("a,b\n"), nodes=["a", "a"])


def parquet_file(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}, r"but no rows"),
        ({"source": ["a"]}, r"edges need two columns, found 1: source"),
        ({"source": ["a", None], "target": ["b", "c"]}, r"row 1, column 'source': the id is empty"),
        ({"source": [1, None], "target": [2, 3]}, r"row 1, column 'source': the id is empty"),
        ({"source": ["a", "b"], "target": ["b", ""]}, r"row 1, column 'target': the id is empty"),
        ({"source": [1.0], "target": [2.0]}, r"column 'source' is double; ids are integers or strings"),
        ({"source": [[1]], "target": [[2]]}, r"column 'source' is list"),
        (
            {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, None]},
            r"row 1 \('b', 'c'\), column 'weight': the cell is empty",
        ),
        (
            {"source": ["a", "b"], "target": ["b", "c"], "weight": [float("inf"), 1.0]},
            r"row 0 \('a', 'b'\), column 'weight': inf is not a finite number",
        ),
        ({"source": ["a"], "target": ["b"], "weight": [-2]}, r"row 0 .*: the weight -2 is negative"),
    ],
)
def test_broken_parquet_tables(tmp_path, columns, message):
    path = parquet_file(tmp_path / "e.parquet", **columns)
    with pytest.raises(DataError, match=message) as caught:
        Graph.of(path)
    assert str(path) in str(caught.value)


def test_words_are_no_weights(tmp_path):
    path = parquet_file(tmp_path / "e.parquet", source=["a"], target=["b"], kind=["cites"])
    assert Graph.of(path).weights is None
    with pytest.raises(DataError, match=r"column 'kind' is string, not numbers"):
        Graph.from_file(path, weight="kind")
    path = parquet_file(tmp_path / "e.parquet", source=["a"], target=["b"], weight=["heavy"])
    with pytest.raises(DataError, match=r"column 'weight' is string, not numbers"):
        Graph.of(path)


def test_damaged_parquet(tmp_path):
    path = parquet_file(tmp_path / "e.parquet", source=[f"n{k}" for k in range(5000)], target=["b"] * 5000)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    with pytest.raises(DataError, match=r"is not a readable Parquet file"):
        Graph.of(path)
    path.write_bytes(b"a,b\nb,c\n")
    with pytest.raises(DataError, match=r"is not a readable Parquet file"):
        Graph.of(path)
    path.write_bytes(content[:200] + b"\xff" * 400 + content[600:])
    with pytest.raises(DataError, match=r"is damaged|is not a readable"):
        Graph.of(path)
