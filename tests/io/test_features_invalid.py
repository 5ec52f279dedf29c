"""read_features on invalid files: each gets one sentence that says where, and what would be right."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from planetoid import Graph, read_features
from planetoid.errors import DataError, ParameterError

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
NUMBERED = Graph.from_edges([1, 2], [2, 30])
GOOD = "id,x,y\n" + "".join(f"n{k},1,2\n" for k in range(300))
WORDS = "".join(f"n{k} dog:2 cat\n" for k in range(300))
SVM = "1 1:0.5 3:2\n" * 300
TRUNCATED = ": the gzip data is truncated or corrupt; download or write it again"
NEEDS_QUOTES = "; a cell that contains the separator ',' needs quotes"
SAVE_AS_UTF8 = "; save the file as UTF-8 (it may be Latin-1)"
ONE_COLUMN = (
    "; separate cells with a comma, a tab, a semicolon, a bar or spaces; pass separator=... for any other separator"
)
ONLY_A_HEADER = ": the file has a header but no records; pass header=False if its only line is not a header"
CONVERT_IDS = "; convert the column to integers or strings"
NOT_A_MATRIX = ": the file is corrupt, or not a sparse matrix written by scipy.sparse.save_npz"
LOOKS_LIKE_A_TABLE = (
    ": the file looks like a table of numbers, but .txt is read as lines of id token:weight ...; "
    "pass format='table' for a table or format='tokens' for tokens"
)
DECIMAL_POINT = "; write it with a decimal point: 0.5; pass decimal=',' if all numbers have a decimal comma"

FLOAT32 = ", the largest number in 32 bits (float32)"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        # any format
        ("", "f.csv", ": the file is empty"),
        ("", "f.npz", ": the file is empty"),
        ("", "f.svm", ": the file is empty"),
        ("# nothing\n\n", "f.txt", ": the file has only comments and blank lines"),
        (b"id,x\nM\xfcller,1\n", "f.csv", ", line 2: byte 0xfc at position 2 is not UTF-8" + SAVE_AS_UTF8),
        (WORDS.encode() + b"z caf\xe9\n", "f.txt", ", line 301: byte 0xe9 at position 6 is not UTF-8" + SAVE_AS_UTF8),
        (gzip.compress(WORDS.encode(), mtime=0)[:-20], "f.txt.gz", TRUNCATED),
        (gzip.compress(GOOD.encode(), mtime=0)[:-20], "f.csv.gz", TRUNCATED),
        # tables
        ("id,x,y\n", "f.csv", ONLY_A_HEADER),
        ("id\na\nb\n", "f.csv", ": the file has only one column; its first line is 'id'" + ONE_COLUMN),
        (GOOD + "z,nan,1\n", "f.csv", ", line 302, node 'z', column 'x': nan is not a finite number"),
        (GOOD + "z,1,-inf\n", "f.csv", ", line 302, node 'z', column 'y': -inf is not a finite number"),
        (GOOD + "z,1e40,1\n", "f.csv", ", line 302, node 'z', column 'x': 1e40 is beyond 3.4e38" + FLOAT32),
        (GOOD + "z,1,\n", "f.csv", ", line 302, node 'z', column 'y': the cell is empty; a number is required"),
        (GOOD + "z,1,NA\n", "f.csv", ", line 302, node 'z', column 'y': 'NA' is not a number"),
        (GOOD + "z,'1',2\n", "f.csv", ", line 302, node 'z', column 'x': \"'1'\" is not a number"),
        (GOOD + "z,1\n", "f.csv", ", line 302: 2 cells, but other lines have 3" + NEEDS_QUOTES),
        (GOOD + "z,1,2,3\n", "f.csv", ", line 302: 4 cells, but other lines have 3" + NEEDS_QUOTES),
        (GOOD + ",1,2\n", "f.csv", ", line 302, column 'id': the id is empty; every record needs one"),
        (GOOD + "\nn7,1,2\n", "f.csv", ", line 303, node 'n7': duplicate node id, first seen in line 9"),
        (
            "id,x,topic\na,1,ml\nb,2,db\n",
            "f.csv",
            ", column 'topic': the column is not numeric; pass ignore=['topic'] to leave it out",
        ),
        (
            "a;0,5;1.5\nb;0,7;2.5\n",
            "f.csv",
            ", line 1, node 'a', column 1 (counted from 0): '0,5' is not a number" + DECIMAL_POINT,
        ),
        # tokens
        (
            WORDS + "z dog:x\n",
            "f.txt",
            ", line 301, node 'z': expected token or token:weight with a finite number, got 'dog:x'",
        ),
        (
            WORDS + "z dog:\n",
            "f.txt",
            ", line 301, node 'z': expected token or token:weight with a finite number, got 'dog:'",
        ),
        (
            WORDS + "z :2\n",
            "f.txt",
            ", line 301, node 'z': expected token or token:weight with a finite number, got ':2'",
        ),
        (
            WORDS + "\nz cat dog:nan\n",
            "f.txt",
            ", line 302, node 'z': expected token or token:weight with a finite number, got 'dog:nan'",
        ),
        (
            WORDS + "z dog:1e39\n",
            "f.txt",
            ", line 301, node 'z': expected token or token:weight with a finite number, got 'dog:1e39'",
        ),
        (WORDS + "n3 cat\n", "f.txt", ", line 301, node 'n3': duplicate node id, first seen in line 4"),
        ("a\nb\n", "f.txt", ": the file has ids but no tokens; a line is an id, then tokens or token:weight"),
        (
            "a 0.5 1.5\nb 2.5 3.5\n",
            "f.txt",
            LOOKS_LIKE_A_TABLE,
        ),
        ("id,x,y\na,1,2\n", "f.txt", LOOKS_LIKE_A_TABLE),
        # svmlight
        (SVM + "1 2:x\n", "f.svm", ", line 301: expected column:value with a finite number, got '2:x'"),
        (SVM + "1 2\n", "f.svm", ", line 301: expected column:value with a finite number, got '2'"),
        (SVM + "1 dog:2\n", "f.svm", ", line 301: expected column:value, got 'dog:2'"),
        (SVM + "1 -1:2\n", "f.svm", ", line 301: expected column:value, got '-1:2'"),
        (SVM + "2:1 3:4\n", "f.svm", ", line 301: expected a label (0 if there is none), got '2:1'"),
        (SVM + "1 2:inf\n", "f.svm", ", line 301: expected column:value with a finite number, got '2:inf'"),
        ("1\n0\n", "f.svm", ": the file has no column:value"),
        # npz
        (b"nothing of the kind", "f.npz", ": the file is not a .npz file, whatever its name"),
    ],
)
def test_invalid_text(write, text_after_path, content, name, message):
    assert text_after_path(read_features, write(content, name)) == message


def npz(matrix) -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


def saved(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def out_of_bounds() -> sparse.csr_array:
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[1] = 77
    return matrix


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npz(sparse.csr_array(np.eye(3)))[:-60], ": the file is corrupt, or not a .npz file: File is not a zip file"),
        (
            saved(X=np.ones(3)),
            ": the file must have a numeric matrix, but no array fits; save it alone, or under the name 'x'",
        ),
        (saved(format=np.array("csr"), shape=np.array([1, 1]), data=np.array([{}], dtype=object)), NOT_A_MATRIX),
        (
            saved(X=np.array([{}], dtype=object)),  # never unpickled
            ": the file contains Python objects, which are never loaded; save arrays of numbers or of strings: "
            "array.astype(str)",
        ),
        (npz(out_of_bounds()), ": the sparse matrix is invalid: an index must be from 0 to 2, got 77"),
        (
            npz(sparse.csr_array(np.array([[0, 1], [0, np.nan]]))),
            ", row 1, column 1 (counted from 0): nan is not a finite number",
        ),
        (
            npz(sparse.csr_array(np.eye(2) * 1j)),
            ": features must be a numeric matrix, not 2 dimension(s) of complex128",
        ),
    ],
)
def test_invalid_npz(write, text_after_path, content, message):
    assert text_after_path(read_features, write(content, "f.npz")) == message


def test_a_matrix_without_rows(write, text_after_path):
    path = write(npz(sparse.csr_array((0, 3))), "f.npz")
    assert text_after_path(read_features, path) == ": the matrix has no rows"


def test_files_without_ids_need_one_row_per_node(write, text_after_path):
    expected = (
        ": the file has 2 rows, but the graph has 3 nodes; "
        "a file without ids needs one row per node, in the order of the graph"
    )
    assert text_after_path(read_features, write(npz(sparse.csr_array(np.eye(2))), "f.npz"), GRAPH) == expected
    assert text_after_path(read_features, write("0 1:1\n0 2:1\n", "f.svm"), GRAPH) == expected


def test_files_of_other_nodes(write, text_after_path):
    for content, name in (("id,x\np,1\nq,2\n", "f.csv"), ("p x\nq y\n", "f.txt")):
        assert text_after_path(read_features, write(content, name), GRAPH) == (
            ": no record has the id of a node of the graph: the first id is 'p', ids of the graph look like 'a'; "
            "check that this is the right file and the right id column"
        )


def test_ids_that_are_not_integers_for_a_graph_of_integers(write, text_after_path):
    expected = "the id is not an integer, but the ids of the graph are, such as 1"
    path = write("id,x\n1,1\n\nx,2\n", "f.csv")
    assert text_after_path(read_features, path, NUMBERED) == f", line 4, node 'x': {expected}"
    path = write("1 cat\n2.0 dog\n", "f.txt")
    assert text_after_path(read_features, path, NUMBERED) == f", line 2, node '2.0': {expected}"
    path = write("id,x\n1e3,1\n", "f.csv")
    assert text_after_path(read_features, path, NUMBERED) == f", line 2, node '1e3': {expected}"


def test_two_ways_to_write_one_integer_are_one_node(write, text_after_path):
    path = write("id,x\n1,1\n01,2\n")
    expected = ", line 3, node '01': duplicate node id, first seen in line 2"
    assert text_after_path(read_features, path, NUMBERED) == expected


def test_graphs_whose_ids_do_not_occur_in_files(write):
    path = write("id,x\na,1\n")
    with pytest.raises(DataError) as caught:
        read_features(path, Graph.from_edges([(1, 2)], [(3, 4)]))
    assert str(caught.value) == (
        "node ids such as (1, 2) do not occur in files; use integers or strings as ids of the graph"
    )
    with pytest.raises(DataError) as caught:
        read_features(path, {"a": ["b"]})
    assert str(caught.value) == "a dict has no node ids; pass a Graph; Graph.of makes one"


def test_wrong_columns(write, error_of, text_after_path):
    path = write("id,x,y\na,1,2\n")
    for parameter, value in (("names", ["x", "z"]), ("id_column", "z"), ("ignore", ["z"])):
        error = error_of(read_features, path, **{parameter: value})
        assert str(error) == f"{path}: there is no column 'z'; the columns are id, x, y"
        assert error.parameter == parameter
    expected = ": the file has 2 features, but 3 are required"
    assert text_after_path(read_features, path, n_features=3) == expected
    path = write("a cat\n", "f.txt")
    expected = ": no token is among the 1 features requested"
    assert text_after_path(read_features, path, names=["dog"]) == expected
    path = write("0 1:1 3:1\n", "f.svm")
    expected = ": the file has a column 3, but there are 2 features"
    assert text_after_path(read_features, path, n_features=2) == expected


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("f.svm", {"names": ["x"]}, "names does not apply to the format 'svmlight', got ['x']"),
        ("f.txt", {"separator": ","}, "separator does not apply to the format 'tokens', got ','"),
        ("f.npz", {"ignore": ["x"]}, "ignore does not apply to the format 'npz', got ['x']"),
    ],
)
def test_options_that_do_not_apply_to_the_format(write, name, options, message):
    path = write("0 1:1\n", name)
    with pytest.raises(ParameterError) as caught:
        read_features(path, **options)
    assert str(caught.value) == f"{path}: {message}"
    assert caught.value.parameter in options


def test_options_that_exclude_each_other(write):
    with pytest.raises(ParameterError) as caught:
        read_features(write("id,x,y\na,1,2\n"), names=["x"], ignore=["y"])
    assert str(caught.value) == "names and ignore are mutually exclusive"


def test_an_unknown_format(write):
    with pytest.raises(ParameterError) as caught:
        read_features(write("a x\n", "f.txt"), format="xml")
    expected = "format must be one of 'table', 'parquet', 'arrow', 'json', "
    assert str(caught.value).startswith(expected)


def test_missing_files_and_folders(tmp_path, text_after_path):
    for name in ("f.csv", "f.txt", "f.svm", "f.npz", "f.parquet"):
        assert text_after_path(read_features, tmp_path / name) == ": no such file"
    assert text_after_path(read_features, tmp_path) == ": the folder has no files"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"id": ["a", "b"], "x": [1.0, float("nan")]},
            ", row 1, node 'b', column 'x': the cell is empty; a number is required",
        ),
        ({"id": ["a", "b"], "x": [1.0, float("inf")]}, ", row 1, node 'b', column 'x': inf is not a finite number"),
        ({"id": ["a", None], "x": [1.0, 2.0]}, ", row 1, column 'id': the id is empty; every record needs one"),
        ({"id": ["a", "a"], "x": [1.0, 2.0]}, ", row 1, node 'a': duplicate node id, first seen in row 0"),
        (
            {"id": ["a", "b"], "x": ["1", "2"]},
            ", column 'x': the column is not numeric; pass ignore=['x'] to leave it out",
        ),
        ({"id": ["a", "b"]}, ": the table has no features, only ids in column 'id'"),
        ({"x": [0.5, 1.5], "y": [1.0, 2.0]}, ", column 'x': ids must be integers or strings, not double" + CONVERT_IDS),
        ({"id": [], "x": []}, ": the table has columns (id, x) but no rows"),
    ],
)
def test_invalid_parquet(tmp_path, text_after_path, columns, message):
    path = tmp_path / "f.parquet"
    pd.DataFrame(columns).to_parquet(path)
    assert text_after_path(read_features, path) == message
