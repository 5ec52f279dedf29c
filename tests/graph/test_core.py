"""Graph: its contents, subgraphs, equality and immutability."""

import copy
import pickle

import numpy as np
import pytest

from planetoid import Graph
from planetoid.errors import DataError


@pytest.fixture
def graph() -> Graph:
    """Two components, a-b-c with weights and d-e, and f alone."""
    return Graph.from_edges(list("abd"), list("bce"), [1.0, 2.0, 3.0], nodes=list("abcdef"))


def test_counts_degrees_and_strengths(graph):
    assert (graph.n_nodes, graph.n_edges, graph.directed) == (6, 3, False)
    assert graph.degrees.tolist() == [1, 2, 1, 1, 1, 0]
    assert graph.strengths.tolist() == [1, 3, 2, 3, 3, 0]
    assert graph.degrees.dtype == np.int64
    assert Graph.from_edges([0, 0], [1, 2]).strengths.tolist() == [2, 1, 1]


def test_repr_has_the_counts(graph):
    assert repr(graph) == "Graph(n_nodes=6, n_edges=3, undirected, weighted)"
    big = Graph.from_edges([0], [4999], nodes=5000, directed=True)
    assert repr(big) == "Graph(n_nodes=5,000, n_edges=1, directed, unweighted)"


def test_neighbors(graph):
    assert graph.neighbors("b").tolist() == ["a", "c"]
    assert graph.neighbors("f").tolist() == []
    one_way = Graph.from_edges([10, 10], [20, 5], directed=True)
    assert one_way.neighbors(10).tolist() == [5, 20]
    assert one_way.neighbors(20).tolist() == []
    pairs = Graph.from_edges([(1, 2)], [(3, 4)])
    assert pairs.neighbors((1, 2)).tolist() == [(3, 4)]
    with pytest.raises(DataError) as caught:
        graph.neighbors("z")
    assert str(caught.value) == "node 'z': not in the graph; its 6 ids are strings such as 'a'"
    assert caught.value.node == "z"


def test_components_number_the_largest_first(graph):
    assert graph.components().tolist() == [0, 0, 0, 1, 1, 2]
    assert graph.components().dtype == np.int32
    weak = Graph.from_edges([0, 2], [1, 1], nodes=4, directed=True)
    assert weak.components().tolist() == [0, 0, 0, 1]
    later = Graph.from_edges([1, 2], [2, 3], nodes=4)
    assert later.components().tolist() == [1, 0, 0, 0]
    assert Graph.from_edges([], []).components().tolist() == []


def test_subgraph_has_the_requested_order_and_the_edges_inside(graph):
    part = graph.subgraph(["c", "a", "b"])
    assert part.node_ids.tolist() == ["c", "a", "b"]
    assert part.to_scipy().toarray().tolist() == [[0, 0, 2], [0, 0, 1], [2, 1, 0]]
    assert part.n_edges == part.summary.edges == 2
    assert graph.subgraph(["a", "c"]).n_edges == 0
    assert graph.subgraph([]).n_nodes == 0
    with pytest.raises(DataError, match=r"^node 'z': not in the graph; "):
        graph.subgraph(["a", "z"])
    with pytest.raises(DataError, match=r"^row 1, node 'a': duplicate node id$"):
        graph.subgraph(["a", "a"])


def test_subgraph_of_a_directed_graph_with_loops():
    graph = Graph.from_edges([0, 1, 1], [1, 1, 2], directed=True, self_loops="keep")
    part = graph.subgraph([1, 0])
    assert part.directed
    assert part.weights is None
    assert part.n_edges == 2
    assert part.neighbors(1).tolist() == [1]


def test_with_nodes_adds_isolated_ones_and_reorders(graph):
    more = graph.with_nodes(list("gfedcba"))
    assert more.node_ids.tolist() == list("gfedcba")
    assert more.neighbors("b").tolist() == ["c", "a"]
    assert more.strengths.tolist() == [0, 0, 3, 3, 2, 3, 1]
    assert more.summary == graph.summary
    assert graph.with_nodes(list("abcdef")) is graph
    with pytest.raises(DataError, match=r"^node 'f': a node of the graph is not among the given nodes$"):
        graph.with_nodes(list("abcde"))


def test_with_nodes_keeps_direction_and_loops():
    graph = Graph.from_edges([0, 1], [0, 0], [2.0, 5.0], directed=True, self_loops="keep")
    assert graph.with_nodes([1, 0, 7]).to_scipy().toarray().tolist() == [[0, 5, 0], [0, 2, 0], [0, 0, 0]]


def test_graphs_are_equal_by_ids_and_edges_in_any_order(graph):
    assert graph == graph.with_nodes(list("fedcba"))
    assert graph != graph.subgraph(list("abcde"))
    unweighted = Graph.from_edges(list("abd"), list("bce"), nodes=list("abcdef"))
    assert graph != unweighted
    assert graph != Graph.from_edges(list("abd"), list("bce"), [1.0, 2.0, 4.0], nodes=list("abcdef"))
    assert unweighted != Graph.from_edges(list("abd"), list("bcf"), nodes=list("abcdef"))
    assert unweighted != Graph.from_edges(list("abd"), list("bce"), nodes=list("abcdeg"))
    assert Graph.from_edges([0], [1], directed=True) != Graph.from_edges([1], [0], directed=True)
    assert graph != "graph"


def test_a_graph_is_immutable(graph):
    with pytest.raises(AttributeError, match="a Graph is immutable"):
        graph.indptr = None
    for array in (graph.indptr, graph.indices, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        hash(graph)


def test_input_arrays_are_not_modified():
    source, target, weight = np.array([0, 1, 1]), np.array([1, 1, 0]), np.array([1, 2, 3], dtype=np.float32)
    Graph.from_edges(source, target, weight, nodes=3)
    assert (source.tolist(), target.tolist(), weight.tolist()) == ([0, 1, 1], [1, 1, 0], [1, 2, 3])
    weight[0] = 9  # not frozen either


@pytest.mark.parametrize("ids", [["x", "y", "z"], [5, 7, 6], [(1,), (2,), (3,)], [0, 1, 2], ["a", 1, (2,)]])
def test_pickle_and_copy_give_the_same_graph(ids):
    graph = Graph.from_edges(ids[:2], ids[1:], [1.0, 2.0], nodes=ids)
    for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert twin == graph
        assert twin.ids == graph.ids
        assert twin.summary == graph.summary


def test_indices_are_32_bits_if_that_is_enough(graph):
    assert graph.indptr.dtype == graph.indices.dtype == np.int32
    assert graph.nbytes == 7 * 4 + 6 * 4 + 6 * 4 + graph.ids.nbytes


def test_an_empty_graph():
    graph = Graph.from_edges([], [])
    assert (graph.n_nodes, graph.n_edges) == (0, 0)
    assert graph.node_ids.tolist() == []
    assert Graph.from_edges([], [], nodes=["a"]).degrees.tolist() == [0]
