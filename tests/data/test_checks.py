"""check_fit: the arguments of fit, validated and put in node order."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from planetoid import Graph
from planetoid.data.checks import check_features, check_fit
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])


def test_arguments_become_a_dataset_in_node_order():
    data = check_fit(X, {"c": "ml", "a": "db"}, GRAPH, {"b": "ml"})
    assert data.ids == GRAPH.ids
    assert data.X.dtype == np.float32
    assert data.classes.tolist() == ["db", "ml"]
    assert data.y.tolist() == [0, -1, 1]
    assert data.validation.tolist() == [-1, 1, -1]
    assert data.labelled.tolist() == [0, 2]
    assert data.class_prior.tolist() == [0.5, 0.5]
    assert data.one_hot().tolist() == [[1, 0], [0, 0], [0, 1]]
    assert data.has_features.tolist() == [True, False, True]
    assert (data.n_nodes, data.n_classes) == (3, 2)


def test_sparse_features_stay_sparse_and_are_not_changed():
    given = sparse.coo_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(3, 2))
    features, names, row_ids = check_features(given)
    assert isinstance(features, sparse.csr_array)
    assert features.nnz == 1  # duplicates add up, zeros go
    assert features.toarray().tolist() == [[0, 3], [0, 0], [0, 0]]
    assert given.nnz == 3
    assert (names, row_ids) == (None, None)


def test_a_data_frame_is_aligned_by_its_index():
    frame = pd.DataFrame({"x": [3, 1], "y": [0.5, 2]}, index=["c", "a"])
    data = check_fit(frame, ["u", None, "v"], GRAPH)
    assert data.X.tolist() == [[1, 2], [0, 0], [3, 0.5]]
    assert data.feature_names.tolist() == ["x", "y"]
    plain = check_fit(pd.DataFrame({"x": [1, 2, 3]}), ["u", None, "v"], GRAPH)
    assert plain.X.tolist() == [[1], [2], [3]]
    alone = check_fit(frame, {"c": 1, "a": 0}, None, uses_graph="never")
    assert alone.ids == NodeIds(["c", "a"])


def test_rows_of_a_data_frame_without_a_node():
    frame = pd.DataFrame({"x": [3, 1]}, index=["q", "a"])
    with pytest.warns(PlanetoidWarning, match="1 rows of X belong to no node of the graph and are ignored"):
        assert check_fit(frame, ["u", None, "v"], GRAPH).X.tolist() == [[1], [0], [0]]
    with pytest.raises(DataError, match="no row of X has the id of a node"):
        check_fit(frame.rename(index={"a": "z"}), ["u", None, "v"], GRAPH)


def test_bare_edges_take_their_nodes_from_the_other_arrays():
    edges = ([0, 1], [1, 2])
    data = check_fit(np.eye(5), [0, 2, -1, -1, -1], edges)
    assert data.graph.n_nodes == 5
    data = check_fit(None, [0, 2, -1, -1], edges, uses_features="never")
    assert data.graph.n_nodes == 4
    with pytest.raises(DataError, match=r"X has 5 rows but the graph has 3 nodes"):
        check_fit(np.eye(5), [0, 2, -1, -1, -1], Graph.of(edges))  # a Graph says what its nodes are
    with pytest.raises(DataError, match=r"X has 5 rows but the graph has 2 nodes"):
        check_fit(np.eye(5), [0, 2, -1, -1, -1], ([7], [9]))


def test_features_that_are_never_used_are_ignored_with_a_warning():
    with pytest.warns(PlanetoidWarning, match="LP does not use features: X is ignored"):
        data = check_fit(X, [0, 2, -1], GRAPH, uses_features="never", who="LP")
    assert data.X is None
    assert data.has_features.tolist() == [False] * 3


def test_validation_labels_that_are_not_used_are_ignored_with_a_warning():
    message = "LP does not use validation labels: they are ignored; to learn from them, add them to the labels"
    data = check_fit(X, ["u", "v", None], GRAPH, {"c": "u"})
    assert data.validation.tolist() == [-1, -1, 0]
    for arguments in ((X, ["u", "v", None], GRAPH, {"c": "u"}), (data, None, None)):
        with pytest.warns(PlanetoidWarning, match=message) as caught:
            assert check_fit(*arguments, uses_validation=False, who="LP").validation is None
        assert len(caught) == 1
    with pytest.raises(DataError, match="validation has the class 'w'"):  # checked all the same
        check_fit(X, ["u", "v", None], GRAPH, {"c": "w"}, uses_validation=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # (X, y, graph, validation)
        ((X, None, GRAPH), r"M requires y to be passed, but the target y is None"),
        ((X, [0, 2, -1], None), r"M requires a graph: pass graph="),
        ((None, [0, 2, -1], GRAPH), r"M requires features, but X is None"),
        ((X, [-1, -1, -1], GRAPH), r"M requires labels: every entry of y is unlabelled"),
        ((X, [None, float("nan"), -1], GRAPH), r"every entry of y is unlabelled"),
        ((X, [4, 4, -1], GRAPH), r"M needs at least two classes, but y has one class only: every label is 4$"),
        ((X, [1, 1, -1], GRAPH), r"every label is 1; -1 means unlabelled; if -1 is a class, write it otherwise"),
        ((X, [True, True, None], GRAPH), r"every label is True$"),
        ((X, ["", "", ""], GRAPH), r"M requires labels: every entry of y is unlabelled \(-1, None, NaN or ''\)"),
        ((X, [0, 1], GRAPH), r"y has 2 entries but there are 3 nodes; pass one entry per node"),
        ((X, np.zeros((3, 2)), GRAPH), r"requires labels: every entry of y is unlabelled"),
        ((X, np.zeros((3, 1)), GRAPH), r"y must have one dimension, a label per node, got two; for several labels"),
        ((X, {"a": 0, "z": 1}, GRAPH), r"node 'z': not in the graph; its 3 ids are strings such as 'a'"),
        ((X, [["x"], ["x"], None], GRAPH), r"needs at least two classes"),
        ((X, [{}, 1, 2], GRAPH), r"y must have hashable labels, such as strings or numbers, got {} in row 0"),
        ((X, [0, 2, -1], GRAPH, [-1, -1, -1]), r"validation has no labels; pass None"),
        ((X, [0, 2, -1], GRAPH, [-1, -1, 5]), r"validation has the class 5, which no node in y has"),
        ((X, [0, 2, -1], GRAPH, [0, 1]), r"validation has 2 entries but there are 3 nodes"),
        ((X[:2], [0, 2, -1], GRAPH), r"X has 2 rows but the graph has 3 nodes; X needs one row per node"),
        ((X[0], [0, 2, -1], GRAPH), r"X must have two dimensions, a row per node, got 1 dimension\(s\)"),
        ((X.astype(object) + 1j, [0, 2, -1], GRAPH), r"features must be numbers"),
        ((np.array([["u"], ["v"], ["w"]]), [0, 2, -1], GRAPH), r"features must be numbers"),
        ((np.array([[1], [np.nan], [2]]), [0, 2, -1], GRAPH), r"NaN or an infinity in row 1, column 0; replace it"),
        ((np.array([[1, 2], [0, np.inf], [2, 0]]), [0, 2, -1], GRAPH), r"NaN or an infinity in row 1, column 1"),
        ((sparse.csr_array([[0, 1.0], [0, 0], [0, np.nan]]), [0, 2, -1], GRAPH), r"in row 2, column 1"),
        (
            (pd.DataFrame({"x": [1, 2, 3], "t": list("abc")}), [0, 2, -1], GRAPH),
            r"column 't': the column is not numeric",
        ),
        ((X, [0, 2, -1], 3.5), r"a float is not a graph"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(DataError, match=message):
        check_fit(*arguments, who="M")


@pytest.mark.filterwarnings("error")  # numpy's, about an overflow
@pytest.mark.parametrize("of", [np.asarray, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix, pd.DataFrame])
def test_values_beyond_float32(of):
    large = np.array([[1.0, 2.0], [0.0, -1e200], [1e39, 0.0]])
    message = r"X has values beyond 3\.4e38, .* the first one -1e\+200 in row 1, column 1; scale them down"
    with pytest.raises(DataError, match=message):
        check_features(of(large))
    assert np.isfinite(check_features(of(large / 1e170)).X.sum())
    with pytest.raises(DataError, match=r"features must be numbers: int too large"):
        check_features([[10**400, 1]])


def test_the_number_of_nodes_cannot_be_inferred():
    with pytest.raises(DataError, match=r"M cannot infer the number of nodes; pass X, a graph, or y as an array"):
        check_fit(None, {"a": 0, "b": 1}, None, uses_features="optional", uses_graph="optional", who="M")


def test_rows_without_ids_and_a_networkx_graph_in_another_order():
    nx = pytest.importorskip("networkx")
    X, y = np.eye(3), ["a", "b", None]
    graph = nx.Graph([(2, 0), (0, 1)])  # nodes in the order 2, 0, 1
    with pytest.raises(DataError, match="ambiguous which row belongs to which node: the first node of the graph is 2"):
        check_fit(X, y, graph)
    by_position = check_fit(X, y, Graph.of(graph))
    assert by_position.node_ids.tolist() == [2, 0, 1]
    ordered = nx.Graph()
    ordered.add_nodes_from(range(3))
    ordered.add_edges_from(graph.edges)
    assert check_fit(X, y, ordered).node_ids.tolist() == [0, 1, 2]
    named = nx.Graph([("b", "a"), ("a", "c")])  # no row number: the order of the nodes
    assert check_fit(X, y, named).node_ids.tolist() == ["b", "a", "c"]
    assert check_fit(None, {2: 0, 1: 1}, graph, uses_features="never").y.tolist() == [0, -1, 1]


def test_rows_of_a_frame_that_is_mostly_zero_are_aligned():

    X = pd.DataFrame(np.eye(12), index=[f"n{k}" for k in range(12)])
    nodes = [f"n{k}" for k in (5, 3, 40, 0)]
    graph = Graph.from_edges(nodes[:-1], nodes[1:])
    with pytest.warns(PlanetoidWarning, match="9 rows of X belong to no node"):
        data = check_fit(X, {"n5": "a", "n0": "b"}, graph)
    assert sparse.issparse(data.X)
    expected = X.reindex(data.node_ids).fillna(0.0).to_numpy()
    np.testing.assert_array_equal(data.X.toarray(), expected)
