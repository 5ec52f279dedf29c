"""read_edges and Graph.from_file: what is read from valid files, whatever their form."""

import gzip
import warnings
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from planetoid import Graph
from planetoid.errors import PlanetoidWarning
from planetoid.io import read_edges, text_table
from planetoid.io.lines import line_blocks


def edges(graph: Graph) -> set[tuple]:
    names = graph.node_ids.tolist()
    matrix = graph.to_scipy().tocoo()
    return {(names[i], names[j]) for i, j in zip(matrix.row, matrix.col, strict=True)}


CHAIN = {("a", "b"), ("b", "c")}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a,b\nb,c\n", "e.csv"),
        ("a,b\nb,c", "e.csv"),  # no newline at the end
        ("a,b\r\nb,c\r\n", "e.csv"),
        ("\ufeffa,b\nb,c\n", "e.csv"),  # as Excel writes it
        ("a, b\n b ,c \n", "e.csv"),
        ('"a","b"\n"b", "c"\n', "e.csv"),
        ("\na,b\n\n   \nb,c\n\n", "e.csv"),
        ("# two edges\na,b\nb,c\n", "e.csv"),
        ("source,target\na,b\nb,c\n", "e.csv"),
        ("a\tb\nb\tc\n", "e.tsv"),
        ("a;b\nb;c\n", "e.csv"),
        ("a|b\nb|c\n", "e.dat"),
        ("  a   b \nb\t\tc\n", "e.txt"),
        ("a b\nb c\n", "no_suffix"),
        (gzip.compress(b"a,b\nb,c\n", mtime=0), "e.csv.gz"),
        (gzip.compress(b"a,b\nb,c\n", mtime=0), "packed_unnamed.csv"),
        ("a,b\nb,c\n", "not_packed.csv.gz"),
        ("row,source,target\n0,a,b\n1,b,c\n", "e.csv"),
        (",source,target\n0,a,b\n1,b,c\n", "e.csv"),  # pandas with its index
        ("a,b,cites\nb,c,cites\n", "e.csv"),  # a third column that is no weight
    ],
)
def test_one_chain_in_many_forms(write, content, name):
    graph = Graph.from_file(write(content, name), directed=True)
    assert edges(graph) == CHAIN
    assert graph.weights is None


@pytest.mark.parametrize(
    "content",
    ["a,b,0.5\nb,c,2\n", "source,target,weight\na,b,.5\nb,c,2e0\n", "weight,source,target\n+0.5,a,b\n2,b,c\n"],
)
def test_weights(write, content):
    graph = Graph.of(write(content), directed=True)
    assert edges(graph) == CHAIN
    assert graph.weights.tolist() == [0.5, 2.0]


def test_columns_by_name_and_number(write):
    path = write("when,who,whom,how\n1,a,b,5\n2,b,c,6\n")
    named = Graph.from_file(path, source="who", target="whom", weight="how", directed=True)
    numbered = Graph.from_file(path, source=1, target=2, weight=3, directed=True)
    assert edges(named) == CHAIN
    assert named.weights.tolist() == [5, 6]
    assert numbered == named
    turned = Graph.from_file(path, source="whom", target="who", directed=True)
    assert edges(turned) == {("b", "a"), ("c", "b")}


def test_a_column_chosen_by_name_implies_a_header(write):
    path = write("alice,bob\nbob,carol\n")
    assert Graph.from_file(path).n_nodes == 3
    assert Graph.from_file(path, source="alice", target="bob").node_ids.tolist() == ["bob", "carol"]


def test_header_can_be_chosen(write):
    path = write("source,target\na,b\n")
    assert Graph.from_file(path, header=False).n_nodes == 4
    path = write("p,q\na,b\n")
    assert Graph.from_file(path, header=True).node_ids.tolist() == ["a", "b"]


def test_a_first_line_that_may_be_a_header_is_questioned(write):
    path = write("person,friend\nann,bob\nbob,cid\n")
    with pytest.warns(PlanetoidWarning) as caught:
        graph = Graph.from_file(path)
    assert graph.n_nodes == 5
    assert str(caught[0].message) == (
        f"{path}, line 1: read as an edge from 'person' to 'friend', which occur nowhere else; "
        "pass header=True if the line is a header or header=False if it is not"
    )
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph.from_file(path, header=False).n_nodes == 5
        assert Graph.from_file(path, header=True).n_nodes == 3
        Graph.from_file(write("person,friend\nann,person\n"))  # an id that comes again is no name of a column
        Graph.from_file(write("ann,bob\n"))  # a header alone would be no edge at all


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ("10,9\n9,-2\n", [-2, 9, 10]),
        ("1,2\n2,0\n", [0, 1, 2]),
        ("007,8\n8,9\n", ["007", "8", "9"]),  # 007 is a name
        ("+1,2\n2,3\n", ["2", "3", "+1"]),  # a sign is a word before the number, no word comes first
        ("-0,1\n1,2\n", ["1", "2", "-0"]),
        ("1.0,2\n2,3\n", ["1.0", "2", "3"]),
        ("9223372036854775807,1\n1,2\n", [1, 2, 2**63 - 1]),
        ("9223372036854775808,1\n1,2\n", ["1", "2", "9223372036854775808"]),
        ("10,9\n9,x\n", ["10", "9", "x"]),
        ("b,Ä\na,B\nb,z\nB,𝒳\nz,\ufb01\n", ["B", "a", "b", "z", "Ä", "\ufb01", "𝒳"]),  # by code point
    ],
)
def test_ids_are_integers_only_if_all_are(write, content, ids):
    found, _ = read_edges(write(content), header=False)
    assert found.to_numpy().tolist() == ids


def test_nodes_decide_the_order_and_the_kind(write):
    path = write("1,2\n2,3\n")
    assert Graph.from_file(path, nodes=["3", "2", "1", "0"]).node_ids.tolist() == ["3", "2", "1", "0"]
    graph = Graph.from_file(path, nodes=5, directed=True)
    assert (graph.n_nodes, edges(graph)) == (5, {(1, 2), (2, 3)})


def test_codes_are_as_narrow_as_they_can_be(write):
    _, found = read_edges(write("a,b\nb,c\n"))
    assert found.source.dtype == found.target.dtype == np.int32
    assert found.source.tolist() == [0, 1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=40),
    size=st.integers(1, 60),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_where_blocks_end_makes_no_difference(pairs, size, ending, tmp_path, monkeypatch):
    path = tmp_path / "e.csv"
    path.write_bytes(ending.join(f"é{s},n{t}" for s, t in pairs).encode())
    whole = Graph.from_file(path, header=False)
    with monkeypatch.context() as patch:
        patch.setattr(text_table, "line_blocks", partial(line_blocks, size=size))
        assert Graph.from_file(path, header=False) == whole


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.text("ab\n", max_size=5), max_size=20), size=st.integers(1, 9), skip=st.integers(0, 3))
def test_blocks_are_whole_lines_and_lose_nothing(parts, size, skip, tmp_path):
    content = ("x" + "".join(parts)).encode()
    path = tmp_path / "lines"
    path.write_bytes(content)
    blocks = list(line_blocks(path, skip, size))
    assert all(block.endswith(b"\n") for block in blocks)
    rest = b"".join(content.splitlines(keepends=True)[skip:])
    assert b"".join(blocks).strip() == rest.strip()


def test_many_ids_over_many_batches(tmp_path):
    generator = np.random.default_rng(0)
    ends = generator.integers(0, 50_000, size=(2, 300_000))
    names = np.array([f"n{k}" for k in range(50_000)], dtype=object)
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"source": names[ends[0]], "target": names[ends[1]]}), path, row_group_size=30_000)
    found = Graph.of(path)
    expected = Graph.from_edges(*ends)
    assert found.n_nodes == expected.n_nodes
    assert found.node_ids.tolist() == names[expected.node_ids].tolist()  # n9 before n10
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    with_nodes = Graph.from_file(path, nodes=names)
    assert np.array_equal(with_nodes.indices, Graph.from_edges(*ends, nodes=50_000).indices)


@pytest.mark.parametrize(
    ("source", "target", "ids"),
    [
        (pa.array([1, 2]), pa.array([2, 3]), [1, 2, 3]),
        (pa.array([1, 2], type=pa.uint8()), pa.array([2, 3], type=pa.int32()), [1, 2, 3]),
        (pa.array(["1", "2"]), pa.array(["2", "3"]), ["1", "2", "3"]),  # strings stay strings
        (pa.array(["1", "x"]), pa.array([2, 3]), ["1", "2", "3", "x"]),
        (pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", "c"], type=pa.large_string()), ["a", "b", "c"]),
        (pa.array([2**63, 1], type=pa.uint64()), pa.array([1, 2]), ["1", "2", str(2**63)]),
    ],
)
def test_parquet_types(tmp_path, source, target, ids):
    path = tmp_path / "e.parquet"
    parquet.write_table(pa.table({"source": source, "target": target}), path)
    graph = Graph.of(path)
    assert graph.node_ids.tolist() == ids
    assert graph.n_edges == 2


def test_parquet_without_its_name_and_with_weights(tmp_path):
    table = pa.table({"w": [1, 2], "from": ["a", "b"], "to": ["b", "c"], "weight": [0.5, 2.0]})
    parquet.write_table(table, tmp_path / "edges")
    graph = Graph.of(tmp_path / "edges", directed=True)
    assert edges(graph) == CHAIN
    assert graph.weights.tolist() == [0.5, 2.0]


def test_text_that_begins_like_parquet(write):
    assert Graph.of(write("PAR1,PAR2\nPAR2,PAR3\n")).n_nodes == 3
