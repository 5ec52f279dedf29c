"""Graph.of and the from_* constructors: the same graph from every source, and clear errors."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from planetoid import Graph
from planetoid.errors import DataError
from planetoid.graph import convert

SOURCE, TARGET, WEIGHT = [0, 0, 1, 3], [1, 2, 2, 2], [0.5, 1.0, 2.0, 4.0]


def networkx_graph(weighted: bool) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    for s, t, w in zip(SOURCE, TARGET, WEIGHT, strict=True):
        graph.add_edge(s, t, **({"weight": w} if weighted else {}))
    return graph


def sources(weighted: bool, folder):
    """The same graph in every form that Graph.of understands."""
    frame = pd.DataFrame({"source": SOURCE, "target": TARGET} | ({"weight": WEIGHT} if weighted else {}))
    weight = WEIGHT if weighted else [1] * 4
    matrix = sparse.coo_array((weight, (SOURCE, TARGET)), shape=(4, 4))
    yield "Graph", Graph.from_edges(SOURCE, TARGET, WEIGHT if weighted else None)
    yield "networkx", networkx_graph(weighted)
    yield "scipy csr", matrix.tocsr()
    yield "scipy coo matrix", sparse.coo_matrix(matrix)
    yield "dense", matrix.toarray()
    yield "pandas", frame
    yield "arrow", pa.Table.from_pandas(frame)
    ends = torch.tensor([SOURCE, TARGET])
    yield "pyg", Data(edge_index=ends, edge_weight=torch.tensor(WEIGHT) if weighted else None, num_nodes=4)
    yield (
        "pyg attributes",
        Data(edge_index=ends, edge_attr=torch.tensor(WEIGHT)[:, None] if weighted else None, num_nodes=4),
    )
    yield "columns", (SOURCE, TARGET, WEIGHT) if weighted else (np.array(SOURCE), np.array(TARGET))
    columns = [SOURCE, TARGET, *([WEIGHT] if weighted else [])]
    yield "edges", list(zip(*columns, strict=True))
    yield "edge array", np.array(columns).T if weighted else np.array(columns).T.astype(np.int8)[[0, 1, 2, 3, 3]]
    if not weighted:
        yield "dictionary", {0: [1, 2], 1: [2], 2: [], 3: [2]}
    for name, separator in (("edges.csv", ","), ("edges.tsv", "\t"), ("edges.csv.gz", ",")):
        frame.to_csv(folder / name, sep=separator, index=False)
        yield name, folder / name
    frame.to_csv(folder / "bare.csv", header=False, index=False)
    yield "no header", str(folder / "bare.csv")
    frame.to_parquet(folder / "edges.parquet")
    yield "parquet", folder / "edges.parquet"


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_graph_from_every_source(weighted, tmp_path):
    expected = Graph.from_edges(SOURCE, TARGET, WEIGHT if weighted else None)
    assert expected.neighbors(2).tolist() == [0, 1, 3]
    for name, source in sources(weighted, tmp_path):
        found = Graph.of(source)
        assert found == expected, name
        assert found.ids == expected.ids, name


def test_policy_applies_to_every_source(tmp_path):
    for name, source in sources(True, tmp_path):
        if name != "Graph":
            assert Graph.of(source, directed=True).directed, name


def test_a_graph_is_returned_but_not_rebuilt():
    graph = Graph.from_edges([0], [1])
    assert Graph.of(graph) is graph
    with pytest.raises(DataError) as caught:
        Graph.of(graph, directed=True)
    assert str(caught.value) == "the source is a Graph already; build it from its edges to change its policy"


def test_networkx_keeps_order_direction_and_parallel_edges():
    directed = nx.DiGraph([("b", "a"), ("a", "c")])
    graph = Graph.of(directed)
    assert graph.directed
    assert graph.node_ids.tolist() == ["b", "a", "c"]
    several = nx.MultiGraph()
    several.add_edge("x", "y", weight=2.0)
    several.add_edge("x", "y")  # without the attribute it counts 1
    assert Graph.of(several).strengths.tolist() == [3.0, 3.0]
    assert Graph.from_networkx(several, weight=None).weights is None
    assert Graph.from_networkx(nx.Graph([(0, 1, {"cost": 7.0})]), weight="cost").weights.tolist() == [7.0, 7.0]


def test_scipy_matrices():
    matrix = sparse.csr_array(np.array([[0, 1], [1, 0]], dtype=np.float64))
    assert Graph.of(matrix).weights is None  # all ones
    assert Graph.of(matrix.astype(bool)).weights is None
    assert Graph.from_scipy(matrix * 2, nodes=["a", "b"]).neighbors("a").tolist() == ["b"]
    with pytest.raises(DataError, match=r"^an adjacency matrix must be square, got 2 x 3$"):
        Graph.of(sparse.csr_array((2, 3)))
    with pytest.raises(DataError, match=r"^3 node ids for a matrix of 2 rows$"):
        Graph.from_scipy(matrix, nodes=3)
    with pytest.raises(DataError, match=r"^an adjacency matrix must be real, got complex numbers$"):
        Graph.of(matrix * 1j)


def test_pandas_columns():
    frame = pd.DataFrame({"when": [1, 2], "dst": ["b", "c"], "src": ["a", "b"], "weight": [1.0, 3.0]})
    graph = Graph.of(frame, directed=True)
    assert graph.neighbors("a").tolist() == ["b"]
    assert graph.strengths.tolist() == [1, 3, 0]
    turned = Graph.from_pandas(frame, source="dst", target="src", weight="when", directed=True)
    assert turned.neighbors("b").tolist() == ["a"]
    assert turned.strengths.tolist() == [0, 1, 2]
    words = pd.DataFrame({"a": ["x"], "b": ["y"], "kind": ["cites"]})
    assert Graph.of(words).weights is None
    twins = pd.DataFrame([["x", "y"]], columns=["n", "n"])
    assert Graph.of(twins).n_edges == 1
    categories = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}, dtype="category")
    assert Graph.of(categories).node_ids.tolist() == ["x", "y", "z"]
    nullable = pd.DataFrame({"a": [1, 2], "b": [2, 3], "weight": [1, 2]}, dtype="Int64")
    assert Graph.of(nullable).node_ids.tolist() == [1, 2, 3]


def test_invalid_pandas_tables():
    frame = pd.DataFrame({"a": ["x", None], "b": ["y", "z"], "kind": ["cites", "cites"]})
    with pytest.raises(DataError, match=r"^row 1, column 'a': the id is missing$"):
        Graph.of(frame)
    with pytest.raises(DataError, match=r"^there is no column 'c'; the columns are a, b, kind$"):
        Graph.from_pandas(frame, source="c")
    with pytest.raises(DataError, match=r"^column 'kind': the weights must be numbers, not (object|str)$"):
        Graph.from_pandas(frame.iloc[:1], weight="kind")
    with pytest.raises(DataError, match=r"^column 'Weight': the weights must be numbers, not (object|str)$"):
        Graph.of(frame.iloc[:1].rename(columns={"kind": "Weight"}))
    with pytest.raises(DataError, match=r"^edges need two columns, found 1: b$"):
        Graph.of(frame[["b"]])
    missing = pd.DataFrame({"a": ["x"], "b": ["y"], "weight": [float("nan")]})
    with pytest.raises(DataError, match=r"the weight must be a finite number >= 0, got nan$"):
        Graph.of(missing)


def test_a_dictionary_includes_its_isolated_nodes():
    graph = Graph.of({"b": ["a"], "z": []})
    assert graph.node_ids.tolist() == ["b", "z", "a"]
    assert Graph.of({"b": ["a"]}, nodes=["a", "b", "c"]).node_ids.tolist() == ["a", "b", "c"]


def test_ids_are_in_natural_order_unless_they_are_mixed():
    assert Graph.of([(10, 9), (2, 10)]).node_ids.tolist() == [2, 9, 10]
    assert Graph.of([("n10", "n9"), ("n1", "n9")]).node_ids.tolist() == ["n1", "n9", "n10"]
    assert Graph.of([("b", "ä"), ("a", "B")]).node_ids.tolist() == ["B", "a", "b", "ä"]
    assert Graph.of([("b", 1), (("t", 2), "a")]).node_ids.tolist() == ["b", ("t", 2), 1, "a"]
    huge = np.array([2**63 + 1], dtype=np.uint64)
    assert Graph.from_edges(huge, np.array([5])).node_ids.tolist() == [2**63 + 1, 5]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3.5, f"a float is not a graph; pass {convert.ACCEPTED}"),
        ([], f"a list is not a graph; pass {convert.ACCEPTED}"),
        (np.zeros((2, 5)), "an array of shape (2, 5) is neither edges (n x 2 or n x 3) nor an adjacency (n x n)"),
        (np.zeros(4), "an array of shape (4,) is neither edges (n x 2 or n x 3) nor an adjacency (n x n)"),
        ([("a", "b"), "c"], "edge 1 must be (source, target) or (source, target, weight), got 'c'"),
        (
            [("a", "b", 1, 2)],
            "edge 0 must be (source, target) or (source, target, weight), got ('a', 'b', 1, 2)",
        ),
        (([0, 1], [1]), "2 sources but 1 targets"),
        (([0, 1], [1, 2], [1.0]), "1 weights for 2 edges"),
        ([(None, "b")], "row 0: a node id must be hashable and not missing, got None"),
        ([("a", "b", "heavy")], "edge weights must be numbers, not <U5"),
    ],
)
def test_sources_that_are_not_graphs(source, message):
    with pytest.raises(DataError) as caught:
        Graph.of(source)
    assert str(caught.value) == message


def test_an_unknown_end_is_named():
    with pytest.raises(DataError) as caught:
        Graph.from_edges(["a"], ["z"], nodes=["a", "b"])
    assert str(caught.value) == "node 'z': not in the graph; its 2 ids are strings such as 'a'"


def test_pyg_nodes_out_of_range():
    with pytest.raises(DataError) as caught:
        Graph.of(Data(edge_index=torch.tensor([[0], [9]]), num_nodes=2))
    assert str(caught.value) == "node 9: edge_index must have nodes from 0 to 1, got 9"


def test_columns_can_be_chosen_through_of():
    frame = pd.DataFrame({"who": ["a"], "when": [1], "whom": ["b"]})
    assert Graph.of(frame, source="whom", target="who", directed=True).neighbors("b").tolist() == ["a"]
