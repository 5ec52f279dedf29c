"""read_edges on invalid files: each gets one sentence that says where, and what would be right."""

import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from planetoid import Graph
from planetoid.errors import DataError, ParameterError
from planetoid.io import opening

GOOD = "a,b,1\n" * 300  # longer than the sample that the dialect is detected from
TRUNCATED = ": the gzip data is truncated or corrupt; download or write it again"
NEEDS_QUOTES = "; a cell that contains the separator ',' needs quotes"
SAVE_AS_UTF8 = "; save the file as UTF-8 (it may be Latin-1)"
CLOSE_QUOTES = '; close it on the same line, and write a quote inside a quoted cell as ""'
ONE_COLUMN = (
    "; separate cells with a comma, a tab, a semicolon, a bar or spaces; pass separator=... for any other separator"
)
ONLY_A_HEADER = ": the file has a header but no records; pass header=False if its only line is not a header"
DECIMAL_POINT = "; write it with a decimal point: 0.5; pass decimal=',' if all numbers have a decimal comma"
CONVERT_IDS = "; convert the column to integers or strings"
PICKLE = f"{opening.PICKLE}; {opening.UNPICKLE}"
XML = opening.XML
SAME_NUMBER = "; every line needs the same number of cells; delete the line if it is a title"
TITLE = "; delete the line if it is a title"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": the file is empty"),
        ("\n \n\n", ": the file has only comments and blank lines"),
        ("# nothing\n# here\n", ": the file has only comments and blank lines"),
        ("source,target\n", ONLY_A_HEADER),
        ("a\nb\n", ": the file has only one column; its first line is 'a'" + ONE_COLUMN),
        # ragged rows
        ("a,b\nb,c,d\n", ", line 2: 3 cells, but other lines have 2" + NEEDS_QUOTES),
        ("a,b,1\nb,c\n", ", line 2: 2 cells, but other lines have 3" + NEEDS_QUOTES),
        (
            "source,target,weight\na,b\nb,c\n",
            ", line 1: the header has 3 cells, but the lines below have 2" + SAME_NUMBER,
        ),
        # a title
        ("Export of today\nfrom,to\n1,2\n2,3\n", ", line 1: 1 cell, but other lines have 2" + TITLE),
        ("\nExport 7\n\nfrom;to\n1;2\n2;3\n", ", line 2: 1 cell, but other lines have 2" + TITLE),
        ("Export\n1,2\n2,3\n", ", line 1: the header has one cell, but the lines below have 2" + SAME_NUMBER),
        (
            "Export of 1.1.2024, daily, all\nfrom,to\n1,2\n2,3\n",
            ", line 1: 3 cells, but other lines have 2" + TITLE + NEEDS_QUOTES,
        ),
        (GOOD + "\n# x\nb,c\n", ", line 302: 1 cell, but other lines have 3" + NEEDS_QUOTES),
        (GOOD + "b;c;1\n", ", line 301: 1 cell, but other lines have 3" + NEEDS_QUOTES),
        # quotes and line ends
        ('a,"b,1\nb,c,1\n', ", line 1: a quote is not closed" + CLOSE_QUOTES),
        (GOOD + '"b,c,1\nd,"e,1\n', ", line 301: a quote is not closed" + CLOSE_QUOTES),
        ('a,"b\nc",1\nb,c,1\n', ", line 1: a quote is not closed" + CLOSE_QUOTES),
        ("a,b\rb,c\r", ", line 1: a line ends with a bare carriage return; end lines with a newline"),
        # ids
        ("a,b\n,c\nb,d\n", ", line 2, column 0 (counted from 0): the id is empty; every record needs one"),
        ("source,target\na,b\n\nb,  \nc,d\n", ", line 4, column 'target': the id is empty; every record needs one"),
        (GOOD + "a,,1\n", ", line 301, column 1 (counted from 0): the id is empty; every record needs one"),
        # weights
        ("a,b,1\nb,c,heavy\n", ", line 2, edge ('b', 'c'), column 2 (counted from 0): 'heavy' is not a number"),
        ("source,target,weight\na,b,one\n", ", line 2, edge ('a', 'b'), column 'weight': 'one' is not a number"),
        (GOOD + "x,y,NA\n", ", line 301, edge ('x', 'y'), column 2 (counted from 0): 'NA' is not a number"),
        (
            GOOD + "x,y,\n",
            ", line 301, edge ('x', 'y'), column 2 (counted from 0): the cell is empty; a number is required",
        ),
        (GOOD + "x,y,nan\n", ", line 301, edge ('x', 'y'), column 2 (counted from 0): nan is not a finite number"),
        (GOOD + "x,y,-inf\n", ", line 301, edge ('x', 'y'), column 2 (counted from 0): -inf is not a finite number"),
        (
            GOOD + "x,y,1e39\n",
            ", line 301, edge ('x', 'y'), column 2 (counted from 0): 1e39 is beyond 3.4e38, the largest number in 32 "
            "bits (float32)",
        ),
        (
            GOOD + "x,y,-0.5\n",
            ", line 301, edge ('x', 'y'), column 2 (counted from 0): the weight must be >= 0, got -0.5",
        ),
        (
            "a;b;0,5\nb;c;0.7\n",
            ", line 1, edge ('a', 'b'), column 2 (counted from 0): '0,5' is not a number" + DECIMAL_POINT,
        ),
        # bytes
        (b"a,b\nM\xfcnchen,c\n", ", line 2: byte 0xfc at position 2 is not UTF-8" + SAVE_AS_UTF8),
        (GOOD.encode() + b"caf\xe9,b,1\n", ", line 301: byte 0xe9 at position 4 is not UTF-8" + SAVE_AS_UTF8),
        ("a,b\nb,c\n".encode("utf-16"), ": the file is UTF-16 text; save it as UTF-8"),
        (
            b"PK\x03\x04 and so on",
            ": the zip data is truncated or corrupt; download or write it again",
        ),
        (b"BZh91AY&SY...", ": the bzip2 data is truncated or corrupt; download or write it again"),
        (b"\xfd7zXZ\x00...", ": the xz data is truncated or corrupt; download or write it again"),
        (b"\x28\xb5\x2f\xfd...", ": the zstd data is truncated or corrupt; download or write it again"),
        (gzip.compress(b"a,b\n" * 10_000, mtime=0)[:-20], TRUNCATED),
        (gzip.compress(b"a,b\n", mtime=0)[:12], TRUNCATED),
        (gzip.compress(b"", mtime=0), ": the file has only comments and blank lines"),
    ],
)
def test_invalid_text(write, text_after_path, content, message):
    assert text_after_path(Graph.of, write(content)) == message


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"ARROW1\x00\x00...", "an Arrow (Feather) file; convert it to Parquet or CSV"),
        (b"\x89HDF\r\n\x1a\n...", "an HDF5 file; convert it to Parquet or CSV"),
        (b"\x80\x05\x95...", PICKLE),
        (b"\x80\x02}...", PICKLE),
        (b"<?xml version='1.0'?><graphml>", "an XML file, perhaps GraphML or GEXF; " + XML),
        (b"ORC\x00...", "an ORC file; convert it to Parquet or CSV"),
        (b"\xd0\xcf\x11\xe0...", "an Excel sheet; save it as CSV"),
    ],
)
def test_binary_files_are_named_for_what_they_are(write, text_after_path, content, kind):
    assert text_after_path(Graph.of, write(content)) == f": the file is {kind}"


def test_an_unknown_binary_file_is_not_mistaken_for_latin_1(write, text_after_path):
    path = write(b"\x01\x00\xfe\x00\n")
    assert text_after_path(Graph.of, path) == ", line 1: the file is binary, not text; convert it to CSV or Parquet"


def test_damage_inside_gzip(write, text_after_path):
    packed = bytearray(gzip.compress(str(list(range(20_000))).replace(", ", ",\n").encode()))
    packed[len(packed) // 2] ^= 0xFF
    path = write(bytes(packed), "e.csv.gz")
    assert text_after_path(Graph.of, path, separator=",", header=False) == TRUNCATED


def test_a_compressed_parquet_file(tmp_path, text_after_path):
    path = tmp_path / "e.parquet"
    path.write_bytes(gzip.compress(b"PAR1..."))
    expected = ": the file is compressed with gzip, which parquet files must not be; decompress it"
    assert text_after_path(Graph.of, path) == expected


def test_missing_files_and_folders(tmp_path, text_after_path):
    assert text_after_path(Graph.of, tmp_path / "nowhere.csv") == ": no such file"
    assert text_after_path(Graph.of, tmp_path / "nowhere.parquet") == ": no such file"
    assert text_after_path(Graph.of, tmp_path) == ": the folder has no files"


def test_wrong_separator(write, text_after_path):
    path = write("a\tb\nb\tc\n")
    assert text_after_path(Graph.from_file, path, separator=",") == (
        ": the file has only one column if the separator is ','; pass separator='\\t' which the file seems to use"
    )
    with pytest.raises(ParameterError) as caught:
        Graph.from_file(path, separator="tab")
    assert str(caught.value) == (
        "separator must be one character such as ',' or '\\t' (' ' for any whitespace), got 'tab'"
    )
    assert caught.value.parameter == "separator"


def test_unknown_columns(write, error_of, text_after_path):
    path = write("source,target\na,b\n")
    error = error_of(Graph.from_file, path, source="from")
    assert str(error) == f"{path}: there is no column 'from'; the columns are source, target"
    assert error.parameter == "source"
    assert text_after_path(Graph.from_file, path, weight=5) == (
        ": there is no column 5; the table has 2, counted from 0"
    )
    twins = write("x,x\na,b\n", "twins.csv")
    assert text_after_path(Graph.from_file, twins, source="x") == (
        ": several columns are called 'x'; choose one by its number, counted from 0"
    )
    assert Graph.from_file(twins, header=True).n_edges == 1


def test_ids_that_are_not_among_the_nodes(write, text_after_path):
    path = write("a,b\nb,c\n")
    assert text_after_path(Graph.from_file, path, nodes=["a", "b"]) == (
        ", line 2, column 1 (counted from 0): 'c' is not among the given nodes"
    )
    path = write("source,target\n1,2\nx,2\n")
    assert text_after_path(Graph.from_file, path, nodes=[1, 2]) == (
        ", line 3, node 'x': the id is not an integer, but the ids of the graph are, such as 1"
    )
    with pytest.raises(DataError) as caught:
        Graph.from_file(path, nodes=[(1, 2)])
    assert str(caught.value) == (
        "node ids such as (1, 2) do not occur in files; use integers or strings as ids of the graph"
    )
    with pytest.raises(DataError) as caught:
        Graph.from_file(path, nodes=["a", "a"])
    assert str(caught.value) == "row 1, node 'a': duplicate node id"


def test_fields_of_an_error(write, error_of):
    error = error_of(Graph.of, write(GOOD + "x,y,-0.5\n"))
    assert (error.line, error.row, error.column, error.edge, error.node) == (301, None, 2, ("x", "y"), None)


def parquet_file(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"source": pa.array([], pa.string()), "target": pa.array([], pa.string())},
            ": the table has columns (source, target) but no rows",
        ),
        ({"source": ["a"]}, ": edges need two columns, found 1: source"),
        (
            {"source": ["a", None], "target": ["b", "c"]},
            ", row 1, column 'source': the id is empty; every record needs one",
        ),
        ({"source": [1, None], "target": [2, 3]}, ", row 1, column 'source': the id is empty; every record needs one"),
        (
            {"source": ["a", "b"], "target": ["b", ""]},
            ", row 1, column 'target': the id is empty; every record needs one",
        ),
        (
            {"source": [1.0], "target": [2.0]},
            ", column 'source': ids must be integers or strings, not double" + CONVERT_IDS,
        ),
        (
            {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, None]},
            ", row 1, edge ('b', 'c'), column 'weight': the cell is empty; a number is required",
        ),
        (
            {"source": ["a", "b"], "target": ["b", "c"], "weight": [float("inf"), 1.0]},
            ", row 0, edge ('a', 'b'), column 'weight': inf is not a finite number",
        ),
        (
            {"source": ["a"], "target": ["b"], "weight": [-2]},
            ", row 0, edge ('a', 'b'), column 'weight': the weight must be >= 0, got -2",
        ),
    ],
)
def test_invalid_parquet_tables(tmp_path, text_after_path, columns, message):
    assert text_after_path(Graph.of, parquet_file(tmp_path / "e.parquet", **columns)) == message


def test_ids_that_are_lists(tmp_path, text_after_path):
    path = parquet_file(tmp_path / "e.parquet", source=[[1]], target=[[2]])
    found = text_after_path(Graph.of, path)  # pyarrow decides what the items of a list are called
    assert found.startswith(", column 'source': ids must be integers or strings, not list<")


def test_text_is_not_a_weight(tmp_path, text_after_path):
    path = parquet_file(tmp_path / "e.parquet", source=["a"], target=["b"], kind=["cites"])
    assert Graph.of(path).weights is None
    assert text_after_path(Graph.from_file, path, weight="kind") == (
        ", column 'kind': the column is not numeric but string"
    )
    path = parquet_file(tmp_path / "e.parquet", source=["a"], target=["b"], weight=["heavy"])
    assert text_after_path(Graph.of, path) == ", column 'weight': the column is not numeric but string"


def test_damaged_parquet(tmp_path, text_after_path):
    path = parquet_file(tmp_path / "e.parquet", source=[f"n{k}" for k in range(5000)], target=["b"] * 5000)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    assert text_after_path(Graph.of, path).startswith(": the file is not valid Parquet: ")  # and what Arrow says
    path.write_bytes(b"a,b\nb,c\n")
    assert text_after_path(Graph.of, path).startswith(": the file is not valid Parquet: ")
    path.write_bytes(content[:200] + b"\xff" * 400 + content[600:])
    found = text_after_path(Graph.of, path)
    assert found.startswith((": the file is corrupt: ", ": the file is not valid Parquet: "))
