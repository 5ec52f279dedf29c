"""read_features: the same features from every format, in the order of the graph."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from planetoid import Graph, read_features
from planetoid.errors import PlanetoidWarning
from planetoid.ids import NodeIds

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
X = np.array([[0, 2, 0], [1, 0, 0.5], [0, 0, 3]], dtype=np.float32)


def dense(table) -> np.ndarray:
    return table.X.toarray() if sparse.issparse(table.X) else table.X


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("id,x,y,z\nc,0,0,3\na,0,2,0\nb,1,0,.5\n", "f.csv"),
        ("x,node,y,z\n0,c,0,3\n0,a,2,0\n1,b,0,0.5\n", "f.csv"),
        ("paper\tx\ty\tz\nc\t0\t0\t3\na\t0\t2\t0\nb\t1\t0\t5e-1\n", "f.tsv"),
        (gzip.compress(b"id;x;y;z\nc;0;0;3\na;0;2;0\nb;1;0;.5\n", mtime=0), "f.csv.gz"),
        (",x,y,z\nc,0,0,3\na,0,2,0\nb,1,0,.5\n", "f.csv"),
    ],
)
def test_tables(write, content, name):
    table = read_features(write(content, name), GRAPH)
    assert isinstance(table.X, np.ndarray)
    assert table.X.dtype == np.float32
    assert np.array_equal(table.X, X)
    assert table.ids == GRAPH.ids
    assert table.names.tolist() == ["x", "y", "z"]


def test_a_table_without_a_header_has_no_names(write):
    table = read_features(write("c,0,0,3\na,0,2,0\nb,1,0,.5\n"), GRAPH)
    assert np.array_equal(table.X, X)
    assert table.names is None


@pytest.mark.parametrize("index", [False, True])
def test_parquet(tmp_path, index):
    frame = pd.DataFrame(X[[2, 0, 1]], columns=["x", "y", "z"], index=["c", "a", "b"])
    frame = frame.astype({"x": np.int8, "y": np.float64})
    path = tmp_path / "f.parquet"
    (frame if index else frame.reset_index(names="node_id")).to_parquet(path)
    table = read_features(path, GRAPH)
    assert np.array_equal(table.X, X)
    assert table.names.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, sparse.csc_array])
def test_npz(tmp_path, kind):
    sparse.save_npz(tmp_path / "f.npz", kind(X))
    table = read_features(tmp_path / "f.npz", GRAPH)
    assert isinstance(table.X, sparse.csr_array)
    assert table.X.dtype == np.float32
    assert np.array_equal(dense(table), X)
    assert table.ids == GRAPH.ids
    assert read_features(tmp_path / "f.npz").ids == NodeIds(3)


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("suffix", [".svm", ".svmlight", ".libsvm"])
def test_svmlight(tmp_path, zero_based, suffix):
    path = tmp_path / f"f{suffix}"
    dump_svmlight_file(sparse.csr_array(X), [1, 2, 1], str(path), zero_based=zero_based, comment="three rows")
    table = read_features(path, GRAPH)
    assert isinstance(table.X, sparse.csr_array)
    assert np.array_equal(dense(table), X)
    assert np.array_equal(dense(read_features(path, n_features=5)), np.pad(X, ((0, 0), (0, 2))))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 99)), min_size=1).filter(any), base=st.booleans()
)
def test_svmlight_as_scikit_learn_reads_it(rows, base, tmp_path):
    path = tmp_path / "f.svm"
    lines = ("0 " + " ".join(f"{k + base}:{v / 4}" for k, v in sorted(row.items())) for row in rows)
    path.write_text("\n".join(lines) + "\n")
    expected, _ = load_svmlight_file(str(path))
    assert np.array_equal(dense(read_features(path)), expected.toarray())


@pytest.mark.parametrize(
    "content",
    [
        "c green:3\na blue:2\nb green:.5 amber\n",
        "c green:3\n\n  a   blue blue \nb\tgreen:5e-1 amber:1\n",  # twice in a line adds up
        "# bag of words\nc green:3\na blue:2\nb green:.5 amber:1",
        "c\tgreen:3\r\na\tblue:2\r\nb\tgreen:.5 amber\r\n",
    ],
)
def test_tokens(write, content):
    table = read_features(write(content, "f.txt"), GRAPH)
    assert isinstance(table.X, sparse.csr_array)
    assert table.names.tolist() == ["amber", "blue", "green"]
    assert np.array_equal(dense(table), X)


def test_tokens_may_have_colons_and_ids_blanks(write):
    table = read_features(write("New York\thttp://x:2 a\nRome\ta:0.5\n", "f.txt"))
    assert table.ids == NodeIds(["New York", "Rome"])
    assert table.names.tolist() == ["a", "http://x"]
    assert dense(table).tolist() == [[1, 2], [0.5, 0]]


def test_tokens_that_are_numbers_are_sorted_as_numbers(write):
    table = read_features(write("1 10 9\n2\n3 2:5\n", "list_features.txt"))
    assert table.names.tolist() == ["2", "9", "10"]
    assert table.ids == NodeIds([1, 2, 3])
    assert dense(table).tolist() == [[0, 1, 1], [0, 0, 0], [5, 0, 0]]


tokens = st.dictionaries(
    st.text("abcäß:é1", min_size=1, max_size=4), st.integers(1, 40).map(lambda w: w / 4), max_size=6
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(tokens, min_size=1, max_size=12).filter(any))
def test_tokens_against_a_dictionary(rows, tmp_path):
    path = tmp_path / "f.txt"
    lines = (f"n{k} " + " ".join(f"{token}:{weight}" for token, weight in row.items()) for k, row in enumerate(rows))
    path.write_text("\n".join(lines))
    table = read_features(path)
    found = [
        {table.names[c]: w for c, w in zip(table.X[[k]].indices, table.X[[k]].data, strict=True)}
        for k in range(len(rows))
    ]
    assert found == rows
    assert table.names.tolist() == sorted({token for row in rows for token in row}, key=_numeric_if_all(rows))


def _numeric_if_all(rows):
    names = {token for row in rows for token in row}
    return int if all(name.isdecimal() and (name == "0" or name[0] != "0") for name in names) else str


def test_without_a_graph_the_order_is_that_of_the_file(write):
    table = read_features(write("id,x\nc,1\na,2\n"))
    assert table.ids == NodeIds(["c", "a"])
    assert table.X.tolist() == [[1], [2]]
    assert read_features(write("id,x\n30,1\n4,2\n")).ids == NodeIds([30, 4])
    assert read_features(write("id,x\n030,1\n4,2\n")).ids == NodeIds(["030", "4"])


def test_ids_are_read_in_the_kind_of_the_graph(write, tmp_path):
    path = write("id,x\n1,5\na,6\n")
    assert read_features(path, Graph.from_edges(["1"], ["a"])).X.tolist() == [[5], [6]]
    numbers = write("id,x\n20,5\n010,6\n", "n.csv")
    assert read_features(numbers, Graph.from_edges([10], [20])).X.tolist() == [[6], [5]]
    pd.DataFrame({"id": [20, 10], "x": [5.0, 6.0]}).to_parquet(tmp_path / "n.parquet")
    assert read_features(tmp_path / "n.parquet", Graph.from_edges(["10"], ["20"])).X.tolist() == [[6], [5]]
    pd.DataFrame({"id": ["20", "10"], "x": [5.0, 6.0]}).to_parquet(tmp_path / "s.parquet")
    assert read_features(tmp_path / "s.parquet", Graph.from_edges([10], [20])).X.tolist() == [[6], [5]]


def test_names_choose_columns_and_their_order(write):
    path = write("id,x,topic,y\nc,1,ml,2\na,3,db,4\nb,5,ml,6\n")
    table = read_features(path, GRAPH, names=["y", "x"])
    assert table.names.tolist() == ["y", "x"]
    assert table.X.tolist() == [[4, 3], [6, 5], [2, 1]]
    bare = write("c,1,ml\na,3,db\nb,5,ml\n", "bare.csv")
    assert read_features(bare, GRAPH, names=[1]).X.tolist() == [[3], [5], [1]]


def test_id_column_by_name_and_number(write):
    path = write("x,who,y\n1,c,2\n3,a,4\n5,b,6\n")
    for column in ("who", 1):
        table = read_features(path, GRAPH, id_column=column)
        assert table.names.tolist() == ["x", "y"]
        assert table.X.tolist() == [[3, 4], [5, 6], [1, 2]]


def test_names_choose_tokens(write, with_warning):
    path = write("c green:3 blue\na blue:2\nb\n", "f.txt")
    table, warning = with_warning(read_features, path, GRAPH, names=["red", "blue"])
    assert warning == f"{path}: 1 of 3 tokens are not among the features requested and are ignored"
    assert dense(table).tolist() == [[0, 2], [0, 0], [0, 1]]
    assert table.names.tolist() == ["red", "blue"]


def test_missing_rows_are_zero_and_counted(write):
    with pytest.warns(PlanetoidWarning, match=r"f.csv: 2 of 3 nodes have no row; their features are zero$") as caught:
        table = read_features(write("id,x\nb,1\n", "f.csv"), GRAPH)
    assert table.X.tolist() == [[0], [1], [0]]
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(PlanetoidWarning, match="1 of 3 nodes"):
        table = read_features(write("b x:1\na y:2\n", "f.txt"), GRAPH)
    assert dense(table).tolist() == [[0, 2], [1, 0], [0, 0]]


def test_rows_for_unknown_nodes_are_left_out_and_counted(write):
    text = "id,x\nq,9\nb,1\nr,9\na,2\nc,3\n"
    with pytest.warns(
        PlanetoidWarning, match=r"2 of 5 rows belong to no node of the graph \(the first .* 'q'\)"
    ) as caught:
        table = read_features(write(text), GRAPH)
    assert table.X.tolist() == [[2], [1], [3]]
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(PlanetoidWarning, match=r"1 of 4 rows"):
        table = read_features(write("q z\na x\nb y:2\nc z\n", "f.txt"), GRAPH)
    assert dense(table).tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 1]]


def test_complete_files_do_not_warn(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_features(write("id,x\nb,1\na,2\nc,3\n"), GRAPH)
        read_features(write("b x\na x\nc\n", "f.txt"), GRAPH)


def test_node_ids_are_accepted_as_a_graph(write):
    assert read_features(write("id,x\nb,1\na,2\n"), NodeIds(["a", "b"])).X.tolist() == [[2], [1]]


def test_format_can_be_chosen(write):
    table = write("a 0.5 1.5\nb 2 3\nc 4 5\n", "numbers.txt")
    assert read_features(table, GRAPH, format="table").X.tolist() == [[0.5, 1.5], [2, 3], [4, 5]]
    assert read_features(table, GRAPH, format="tokens").names.tolist() == ["0.5", "1.5", "2", "3", "4", "5"]
    words = write("a x\nb y\nc z:2\n", "words.dat")
    assert dense(read_features(words, GRAPH, format="tokens")).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 2]]


def test_a_wide_table_over_several_blocks(tmp_path):
    generator = np.random.default_rng(1)
    values = generator.integers(0, 100, size=(3000, 700)).astype(np.float32) / 4
    frame = pd.DataFrame(values, index=[f"n{k}" for k in range(3000)], columns=[f"w{k}" for k in range(700)])
    order = generator.permutation(3000)
    frame.iloc[order].to_csv(tmp_path / "f.csv", index_label="id")
    assert (tmp_path / "f.csv").stat().st_size > 2 * 2**22
    table = read_features(tmp_path / "f.csv", NodeIds(list(frame.index)))
    assert np.array_equal(table.X, values)
    frame.iloc[order].to_parquet(tmp_path / "f.parquet")
    assert np.array_equal(read_features(tmp_path / "f.parquet", NodeIds(list(frame.index))).X, values)
