"""Broken files of features: each gets one sentence that says where, and what would be right."""

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


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        # any format
        ("", "f.csv", r"f.csv is empty"),
        ("", "f.npz", r"f.npz is empty"),
        ("", "f.svm", r"f.svm is empty"),
        ("# nothing\n\n", "f.txt", r"no lines but comments"),
        (b"id,x\nM\xfcller,1\n", "f.csv", r"line 2: byte 0xfc at place 2 is not UTF-8"),
        (WORDS.encode() + b"z caf\xe9\n", "f.txt", r"line 301: byte 0xe9 at place 6 is not UTF-8"),
        (gzip.compress(WORDS.encode(), mtime=0)[:-20], "f.txt.gz", r"cut short or damaged"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-20], "f.csv.gz", r"cut short or damaged"),
        # tables
        ("id,x,y\n", "f.csv", r"has a header but no line below it"),
        ("id\na\nb\n", "f.csv", r"has one column, for instance 'id'"),
        (GOOD + "z,nan,1\n", "f.csv", r"line 302 \('z'\), column 'x': nan is not a finite number"),
        (GOOD + "z,1,-inf\n", "f.csv", r"line 302 \('z'\), column 'y': -inf is not a finite number"),
        (GOOD + "z,1e40,1\n", "f.csv", r"line 302 \('z'\), column 'x': 1e40 is not a finite number"),
        (GOOD + "z,1,\n", "f.csv", r"line 302 \('z'\), column 'y': the cell is empty; write a number there"),
        (GOOD + "z,1,NA\n", "f.csv", r"line 302 \('z'\), column 'y': 'NA' is not a number"),
        (GOOD + "z,'1',2\n", "f.csv", r"line 302 \('z'\), column 'x': \"'1'\" is not a number"),
        (GOOD + "z,1\n", "f.csv", r"line 302: 2 cells where other lines have 3"),
        (GOOD + "z,1,2,3\n", "f.csv", r"line 302: 4 cells where other lines have 3"),
        (GOOD + ",1,2\n", "f.csv", r"line 302, column 'id': the id is empty"),
        (GOOD + "\nn7,1,2\n", "f.csv", r"line 303: the id 'n7' was there before, in line 9; every node has one record"),
        (
            "id,x,topic\na,1,ml\nb,2,db\n",
            "f.csv",
            r"column 'topic' is not numbers; leave it out by naming the features",
        ),
        ("a;0,5;1\nb;0,7;2\n", "f.csv", r"line 1 \('a'\), .*: '0,5' is not a number \(with a decimal point: 0.5\)"),
        # tokens
        (
            WORDS + "z dog:x\n",
            "f.txt",
            r"line 301 \('z'\): 'dog:x' is not token .* or token:weight, with a finite number",
        ),
        (WORDS + "z dog:\n", "f.txt", r"line 301 \('z'\): 'dog:' is not token"),
        (WORDS + "z :2\n", "f.txt", r"line 301 \('z'\): ':2' is not token"),
        (WORDS + "\nz cat dog:nan\n", "f.txt", r"line 302 \('z'\): 'dog:nan' is not token"),
        (WORDS + "z dog:1e39\n", "f.txt", r"line 301 \('z'\): 'dog:1e39' is not token"),
        (WORDS + "n3 cat\n", "f.txt", r"line 301: the id 'n3' was there before, in line 4"),
        ("a\nb\n", "f.txt", r"has ids but no tokens; a line is an id, then tokens or token:weight"),
        (
            "a 0.5 1.5\nb 2.5 3.5\n",
            "f.txt",
            r"looks like a table of numbers, .* say format=\"table\" or format=\"tokens\"",
        ),
        ("id,x,y\na,1,2\n", "f.txt", r"looks like a table of numbers"),
        # svmlight
        (SVM + "1 2:x\n", "f.svm", r"line 301 \('1'\): '2:x' is not column:value, with a finite number"),
        (SVM + "1 2\n", "f.svm", r"line 301 \('1'\): '2' is not column:value"),
        (SVM + "1 dog:2\n", "f.svm", r"line 301: 'dog:2' is not column:value"),
        (SVM + "1 -1:2\n", "f.svm", r"line 301: '-1:2' is not column:value"),
        (SVM + "2:1 3:4\n", "f.svm", r"line 301: '2:1' stands where the label should be"),
        (SVM + "1 2:inf\n", "f.svm", r"line 301 \('1'\): '2:inf' is not column:value"),
        ("1\n0\n", "f.svm", r"has no column:value at all"),
        # npz
        (b"nothing of the kind", "f.npz", r"not a sparse matrix as scipy.sparse.save_npz writes it"),
    ],
)
def test_broken_text(write, content, name, message):
    path = write(content, name)
    with pytest.raises(DataError, match=message) as caught:
        read_features(path)
    assert str(path) in str(caught.value)


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
        (npz(sparse.csr_array(np.eye(3)))[:-60], r"or damaged"),
        (saved(X=np.eye(3)), r"not a sparse matrix"),
        (saved(format=np.array("csr"), data=np.array([{}], dtype=object)), r"not a sparse matrix"),  # never unpickled
        (npz(out_of_bounds()), r"is damaged: indices must be < 3"),
        (npz(sparse.csr_array(np.array([[0, 1], [0, np.nan]]))), r"row 1, column 1: nan is not a finite number"),
        (npz(sparse.csr_array(np.eye(2) * 1j)), r"features are a matrix of numbers"),
    ],
)
def test_broken_npz(write, content, message):
    with pytest.raises(DataError, match=message):
        read_features(write(content, "f.npz"))


def test_files_without_ids_need_a_row_for_each_node(write):
    with pytest.raises(DataError, match=r"f.npz has 2 rows but the graph has 3 nodes; a file without ids needs"):
        read_features(write(npz(sparse.csr_array(np.eye(2))), "f.npz"), GRAPH)
    with pytest.raises(DataError, match=r"f.svm has 2 rows but the graph has 3 nodes"):
        read_features(write("0 1:1\n0 2:1\n", "f.svm"), GRAPH)


def test_files_of_other_nodes_are_refused(write):
    for content, name in (("id,x\np,1\nq,2\n", "f.csv"), ("p x\nq y\n", "f.txt")):
        with pytest.raises(DataError, match=r"no record has the id of a node of the graph \(the first has 'p'\)"):
            read_features(write(content, name), GRAPH)


def test_ids_that_are_no_integers_for_a_graph_of_integers(write):
    with pytest.raises(
        DataError, match=r"f.csv, line 4: the id 'x' is no integer, but those of the graph are, such as 1"
    ):
        read_features(write("id,x\n1,1\n\nx,2\n", "f.csv"), NUMBERED)
    with pytest.raises(DataError, match=r"line 2: the id '2.0' is no integer"):
        read_features(write("1 cat\n2.0 dog\n", "f.txt"), NUMBERED)
    with pytest.raises(DataError, match=r"line 2: the id '1e3' is no integer"):
        read_features(write("id,x\n1e3,1\n", "f.csv"), NUMBERED)


def test_two_ways_to_write_one_integer_are_one_node(write):
    with pytest.raises(DataError, match=r"line 3: the id '01' was there before, in line 2"):
        read_features(write("id,x\n1,1\n01,2\n"), NUMBERED)


def test_graphs_that_no_file_can_name(write):
    path = write("id,x\na,1\n")
    with pytest.raises(DataError, match=r"objects such as \(1, 2\), which no file can name"):
        read_features(path, Graph.from_edges([(1, 2)], [(3, 4)]))
    with pytest.raises(DataError, match=r"a dict has no node ids; give a Graph"):
        read_features(path, {"a": ["b"]})


def test_wrong_columns(write):
    path = write("id,x,y\na,1,2\n")
    with pytest.raises(DataError, match=r"table.csv: there is no column 'z'; the columns are id, x, y"):
        read_features(path, names=["x", "z"])
    with pytest.raises(DataError, match=r"there is no column 'who'"):
        read_features(path, id_column="who")
    with pytest.raises(DataError, match=r"has 2 features, but there must be 3"):
        read_features(path, n_features=3)
    with pytest.raises(DataError, match=r"none of its tokens is among the 1 features asked for"):
        read_features(write("a cat\n", "f.txt"), names=["dog"])
    with pytest.raises(DataError, match=r"has a column 3, but there are 2 features"):
        read_features(write("0 1:1 3:1\n", "f.svm"), n_features=2)


def test_options_that_do_not_fit_the_format(write):
    with pytest.raises(ParameterError, match=r"names=\['x'\] says nothing about a file in the format 'svmlight'"):
        read_features(write("0 1:1\n", "f.svm"), names=["x"])
    with pytest.raises(ParameterError, match=r"separator=',' says nothing"):
        read_features(write("a x\n", "f.txt"), separator=",")
    with pytest.raises(ParameterError, match=r"format='xml'; it is one of 'table', 'tokens'"):
        read_features(write("a x\n", "f.txt"), format="xml")


def test_what_is_no_file(tmp_path):
    for name in ("f.csv", "f.txt", "f.svm", "f.npz", "f.parquet"):
        with pytest.raises(DataError, match=rf"there is no file .*{name}"):
            read_features(tmp_path / name)
    with pytest.raises(DataError, match=r"is a folder"):
        read_features(tmp_path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["a", "b"], "x": [1.0, float("nan")]}, r"row 1 \('b'\), column 'x': .* (nan|empty)"),
        ({"id": ["a", "b"], "x": [1.0, float("inf")]}, r"row 1 \('b'\), column 'x': inf is not a finite number"),
        ({"id": ["a", None], "x": [1.0, 2.0]}, r"row 1, column 'id': the id is empty"),
        ({"id": ["a", "a"], "x": [1.0, 2.0]}, r"row 1: the id 'a' was there before, in row 0"),
        ({"id": ["a", "b"], "x": ["1", "2"]}, r"column 'x' is not numbers; leave it out by naming"),
        ({"id": ["a", "b"]}, r"has no column but column 'id', the id; features are missing"),
        ({"x": [0.5, 1.5], "y": [1.0, 2.0]}, r"column 'x' is double; ids are integers or strings"),
        ({"id": [], "x": []}, r"no rows"),
    ],
)
def test_broken_parquet(tmp_path, columns, message):
    path = tmp_path / "f.parquet"
    pd.DataFrame(columns).to_parquet(path)
    with pytest.raises(DataError, match=message):
        read_features(path)
