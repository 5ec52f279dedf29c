"""encode_labels: arrays in row order, Series and dictionaries by node id."""

import numpy as np
import pandas as pd
import pytest

from planetoid import Graph
from planetoid.data.checks import check_fit
from planetoid.data.label_arrays import encode_labels
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
X = np.eye(3)


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        ([2, -1, 7], [0, -1, 1], [2, 7]),
        (np.array([2, -1, 7], dtype=np.int8), [0, -1, 1], [2, 7]),
        (["x", None, "y"], [0, -1, 1], ["x", "y"]),
        (np.array(["x", "y", "x"]), [0, 1, 0], ["x", "y"]),
        ([1.0, float("nan"), 0.0], [1, -1, 0], [0, 1]),
        (pd.Series([1, None, 0], dtype="Int64"), [1, -1, 0], [0, 1]),
        (pd.Series(["x", pd.NA, "y"], dtype="string"), [0, -1, 1], ["x", "y"]),
        ([True, None, False], [1, -1, 0], [False, True]),
        ([("t", 1), None, ("t", 0)], [1, -1, 0], [("t", 0), ("t", 1)]),
        (["x", None, 3], [0, -1, 1], ["x", 3]),  # cannot be sorted: as they first occur
        (["x", "", "y"], [0, -1, 1], ["x", "y"]),
        (np.array(["x", "", "y"]), [0, -1, 1], ["x", "y"]),
        (pd.Series(["x", "", "y"], dtype="category"), [0, -1, 1], ["x", "y"]),
        ({"a": "x", "b": ""}, [0, -1, -1], ["x"]),
        ({"b": "x"}, [-1, 0, -1], ["x"]),
        ({}, [-1, -1, -1], []),
    ],
)
def test_labels_of_any_kind(y, codes, classes):
    found, names = encode_labels(y, GRAPH.ids)
    assert found.tolist() == codes
    assert found.dtype == np.int32
    assert names.tolist() == classes


def test_integer_arrays_and_lists_agree():
    y = np.array([5, -1, 3, 5, 0])
    fast, slow = encode_labels(y, NodeIds(5)), encode_labels(y.tolist(), NodeIds(5))
    assert fast[0].tolist() == slow[0].tolist() == [2, -1, 1, 2, 0]
    assert fast[1].tolist() == slow[1].tolist() == [0, 3, 5]


# ---- a Series is aligned by its index --------------------------------------------------


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_a_series_is_aligned_by_its_index(dtype):
    series = pd.Series(["z", None, "x"], index=["c", "b", "a"], dtype=dtype)
    codes, classes = encode_labels(series, GRAPH.ids)
    assert codes.tolist() == [0, -1, 1]
    assert classes.tolist() == ["x", "z"]
    assert encode_labels(series[:1], GRAPH.ids)[0].tolist() == [-1, -1, 0]  # nodes that are not mentioned


def test_a_series_whose_index_counts_the_rows_is_in_row_order():
    assert encode_labels(pd.Series(["z", None, "x"]), GRAPH.ids)[0].tolist() == [1, -1, 0]


def test_features_labels_and_validation_that_were_shuffled_alike():
    rows = pd.DataFrame({"f": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, -1, -1], "v": [-1, -1, -1, 1]})
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    shuffled = rows.iloc[[2, 0, 3, 1]]
    for frame in (rows, shuffled):
        data = check_fit(frame[["f"]], frame.y, graph, frame.v)
        assert data.X[:, 0].tolist() == [1, 2, 3, 4]
        assert (data.y.tolist(), data.validation.tolist()) == ([0, 1, -1, -1], [-1, -1, -1, 1])


def test_entries_of_a_series_without_a_node():
    series = pd.Series(["x", "z", "x"], index=["a", "c", "q"])
    with pytest.warns(PlanetoidWarning, match="1 entry of y has an index that is no node id and is ignored"):
        assert encode_labels(series, GRAPH.ids)[0].tolist() == [0, -1, 1]
    with pytest.raises(
        DataError, match=r"no entry of validation has the id of a node in its index; pass validation.to_numpy\(\)"
    ):
        encode_labels(pd.Series(["x", "z", "x"], index=[2, 0, 1]), GRAPH.ids, "validation")
    with pytest.raises(
        DataError, match=r"the index of y is invalid: row 1, node 'a': duplicate node id; pass y.to_num"
    ):
        encode_labels(pd.Series(["x", "z", "x"], index=["a", "a", "b"]), GRAPH.ids)


def test_a_series_cannot_be_aligned_with_rows_that_have_no_ids():
    series = pd.Series([0, 2, -1], index=[2, 0, 1])
    with pytest.raises(DataError, match=r"y has an index, but there are no node ids to align it with; pass y.to_numpy"):
        check_fit(X, series, None, uses_graph="never")
    by_index = check_fit(pd.DataFrame(X, index=[1, 2, 0]), series, None, uses_graph="never")
    assert by_index.ids == NodeIds([1, 2, 0])
    assert by_index.y.tolist() == [-1, 0, 1]
    assert check_fit(X, series.to_numpy(), None, uses_graph="never").y.tolist() == [0, 1, -1]


def test_an_indexed_series_has_the_isolated_nodes_of_bare_edges():
    series = pd.Series([2, 0, -1, 0], index=[3, 0, 1, 2])
    data = check_fit(None, series, ([0, 1], [1, 2]), uses_features="never")
    assert data.y.tolist() == [0, -1, 0, 1]
    series = pd.Series([2, 0, -1, 2], index=[7, 0, 1, 2])
    with pytest.warns(PlanetoidWarning, match="1 entry of y"):
        data = check_fit(None, series, ([0, 1], [1, 2]), uses_features="never")
    assert data.y.tolist() == [0, -1, 1]  # an index that does not count the rows says nothing about their number


# ---- -1 that may be a class --------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.array([-1, 0, 1]),
        [-1, 0, 1],
        [-1.0, 0.0, 1.0],
        {"a": -1, "b": 0, "c": 1},
        pd.Series([-1, 0, 1], index=["a", "b", "c"]),
    ],
)
def test_a_minus_one_that_may_be_a_class_is_questioned_once(y):
    message = "the labels are -1, 0 and 1: 1 node with -1 is unlabelled; if -1 is a class, write it otherwise, for exa"
    with pytest.warns(PlanetoidWarning, match=message) as caught:
        data = check_fit(X, y, GRAPH)
    assert len(caught) == 1
    assert data.y.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-2, -1, 0, 1, 2], "the labels are -2, -1, 0, 1 and 2: 1 node with -1 is unlabelled; if -1 is a class"),
        ([-1, -1, -1, -1, -3], "the labels are -3 and -1: 4 nodes with -1 are unlabelled"),
        ([-7, -6, -5, -4, -3, -2, -1, 0, 9], "the labels are -7, -6, -5, -4, -3, ... and 9: 1 node with -1 is"),
    ],
)
def test_a_minus_one_beside_another_negative_label_is_questioned(y, message):
    for labels in (y, np.array(y), np.array(y, dtype=float)):
        with pytest.warns(PlanetoidWarning, match=message):
            codes, _ = encode_labels(labels, NodeIds(len(y)))
        assert codes.tolist().count(-1) == y.count(-1)


@pytest.mark.parametrize(
    "y",
    [
        [-1, -1, -1, 0, 1],  # most nodes are unlabelled
        [None, "-1", "-1", "0", "1"],
        [-1, 0, 1, 2, 0],
        [-2, 0, 1, 2, -3],
        [None, 0, 1, 0, 1],
        [False, True, None, True, True],
    ],
)
def test_a_minus_one_that_means_unlabelled_is_not_questioned(y):
    assert encode_labels(y, NodeIds(5))[0].tolist().count(-1) == sum(label in (-1, None) for label in y)
    assert encode_labels(np.array(y, dtype=object), NodeIds(5))[0].tolist() == encode_labels(y, NodeIds(5))[0].tolist()
