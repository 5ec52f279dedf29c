"""EdgePolicy: every option against numbers computed by hand, and all of them against a dictionary."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid import Graph
from planetoid.errors import DataError, ParameterError
from planetoid.graph import EdgePolicy

#            a->b twice   b->a     c loop   d->a zero
SOURCE, TARGET = list("aabcd"), list("bbaca")
WEIGHT = [1.0, 2.0, 5.0, 4.0, 0.0]


def weights(graph: Graph) -> dict[tuple[str, str], float]:
    matrix = graph.to_scipy().tocoo()
    names = graph.node_ids
    return {(names[i], names[j]): float(w) for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)}


def build(**policy) -> Graph:
    return Graph.from_edges(SOURCE, TARGET, WEIGHT, **policy)


def test_default_sums_duplicates_takes_the_larger_direction_and_drops_loops():
    graph = build()
    assert weights(graph) == {("a", "b"): 5.0, ("b", "a"): 5.0}
    assert graph.node_ids.tolist() == ["a", "b", "c", "d"]
    assert str(graph.summary) == (
        "5 entries -> 1 undirected edges (1 duplicates merged, 1 opposite directions merged, "
        "1 self loops dropped, 1 zero weights dropped)"
    )


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"symmetrize": "sum"}, {("a", "b"): 8, ("b", "a"): 8}),
        ({"symmetrize": "mean"}, {("a", "b"): 4, ("b", "a"): 4}),
        ({"duplicates": "max", "symmetrize": "sum"}, {("a", "b"): 7, ("b", "a"): 7}),
        ({"directed": True}, {("a", "b"): 3, ("b", "a"): 5}),
        ({"directed": True, "duplicates": "max"}, {("a", "b"): 2, ("b", "a"): 5}),
        ({"directed": True, "self_loops": "keep"}, {("a", "b"): 3, ("b", "a"): 5, ("c", "c"): 4}),
        ({"self_loops": "keep", "symmetrize": "sum"}, {("a", "b"): 8, ("b", "a"): 8, ("c", "c"): 4}),
        ({"self_loops": "keep", "symmetrize": "mean"}, {("a", "b"): 4, ("b", "a"): 4, ("c", "c"): 4}),
        ({"self_loops": "keep", "symmetrize": "max"}, {("a", "b"): 5, ("b", "a"): 5, ("c", "c"): 4}),
    ],
)
def test_options(policy, expected):
    assert weights(build(**policy)) == expected


def test_mean_counts_a_missing_direction_as_zero():
    graph = Graph.from_edges(["a"], ["b"], [3.0], symmetrize="mean")
    assert weights(graph) == {("a", "b"): 1.5, ("b", "a"): 1.5}


def test_isolated_nodes_can_be_dropped():
    graph = build(isolated="drop")
    assert graph.node_ids.tolist() == ["a", "b"]
    assert graph.summary.isolated_dropped == 2
    assert build(isolated="drop", self_loops="keep").node_ids.tolist() == ["a", "b", "c"]
    chain = Graph.from_edges(["a"], ["b"], directed=True, isolated="drop")
    assert chain.n_nodes == 2  # b has an incoming edge


def test_duplicates_can_be_an_error():
    with pytest.raises(DataError) as caught:
        build(duplicates="error")
    assert str(caught.value) == "1 of 5 edges are duplicates, which duplicates='error' forbids"
    both_ways = Graph.from_edges(["a", "b"], ["b", "a"], duplicates="error")
    assert both_ways.n_edges == 1  # a pair and its opposite are not the same pair


def test_without_weights_a_repeated_edge_is_one_edge():
    graph = Graph.from_edges(list("aab"), list("bba"))
    assert graph.weights is None
    assert str(graph.summary) == ("3 entries -> 1 undirected edges (1 duplicates merged, 1 opposite directions merged)")
    counted = Graph.from_edges(list("aab"), list("bba"), [1, 1, 1], symmetrize="sum")
    assert weights(counted) == {("a", "b"): 3, ("b", "a"): 3}


def test_a_loop_counts_once():
    graph = Graph.from_edges(list("aab"), list("abb"), self_loops="keep")
    assert graph.n_edges == 3
    assert graph.degrees.tolist() == [2, 2]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0])
def test_invalid_weights(wrong):
    with pytest.raises(DataError) as caught:
        Graph.from_edges([0, 1], [1, 2], [1.0, wrong])
    assert str(caught.value) == (f"edge 1 (from row 1 to row 2): the weight must be a finite number >= 0, got {wrong}")


def test_weights_that_are_not_numbers():
    with pytest.raises(DataError, match=r"^edge weights must be numbers, not "):
        Graph.from_edges([0], [1], ["heavy"])


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("duplicates", "'sum', 'max' or 'error'"),
        ("symmetrize", "'max', 'sum' or 'mean'"),
        ("self_loops", "'drop' or 'keep'"),
        ("isolated", "'keep' or 'drop'"),
        ("directed", "True or False"),
    ],
)
def test_invalid_options(name, allowed):
    with pytest.raises(ParameterError) as caught:
        EdgePolicy(**{name: "average"})
    assert str(caught.value) == f"EdgePolicy: {name} must be {allowed}, got 'average'"
    assert caught.value.parameter == name


edge = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 8))


@given(
    edges=st.lists(edge, max_size=30),
    directed=st.booleans(),
    duplicates=st.sampled_from(["sum", "max"]),
    symmetrize=st.sampled_from(["max", "sum", "mean"]),
    loops=st.sampled_from(["drop", "keep"]),
    weighted=st.booleans(),
)
def test_any_list_of_edges_against_a_dictionary(edges, directed, duplicates, symmetrize, loops, weighted):
    given_weights = [w for *_, w in edges] if weighted else None
    graph = Graph.from_edges(
        [s for s, *_ in edges],
        [t for _, t, _ in edges],
        given_weights,
        nodes=6,
        directed=directed,
        duplicates=duplicates,
        symmetrize=symmetrize,
        self_loops=loops,
    )
    one: dict[tuple[int, int], float] = defaultdict(float)
    for s, t, w in edges:
        w = w if weighted else 1
        if w and not (s == t and loops == "drop"):
            one[s, t] = one[s, t] + w if duplicates == "sum" and weighted else max(one[s, t], w)
    expected = dict(one)
    if not directed:
        how = {"max": max, "sum": lambda a, b: a + b, "mean": lambda a, b: (a + b) / 2}[
            symmetrize if weighted else "max"
        ]
        expected = {
            pair: one.get((s, t), 0) if s == t else how(one.get((s, t), 0), one.get((t, s), 0))
            for s, t in list(one)
            for pair in ((s, t), (t, s))
        }
    assert weights(graph) == expected
    proper = sum(s != t for s, t in expected)
    assert graph.n_edges == (len(expected) if directed else proper // 2 + len(expected) - proper)
    assert graph.summary.edges == graph.n_edges
    summary = graph.summary
    gone = summary.duplicates + summary.opposite + summary.self_loops + summary.zero_weights
    assert summary.entries == len(edges) == graph.n_edges + gone
    assert all(np.all(np.diff(graph.indices[a:b]) > 0) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False))
    assert math.isclose(graph.strengths.sum(), sum(expected.values()))
