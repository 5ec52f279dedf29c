"""from_lists: the bipartite graph of lists and items."""

import numpy as np
import pyarrow as pa
import pytest

from planetoid.errors import DataError
from planetoid.graph.construct import from_lists


def test_lists_come_first_and_are_connected_to_their_items():
    graph = from_lists({"l1": ["flu", "fever"], "l2": ["fever"], "l3": []})
    assert graph.node_ids.tolist() == ["l1", "l2", "l3", "flu", "fever"]
    assert graph.neighbors("fever").tolist() == ["l1", "l2"]
    assert graph.degrees.tolist() == [2, 1, 0, 1, 2]


def test_a_repeated_item_is_one_edge():
    graph = from_lists([["a", "a", "b"]])
    assert graph.n_edges == 2
    assert graph.summary.duplicates == 1


@pytest.mark.parametrize("column", [list, np.array, pa.array])
def test_columns_of_occurrences(column):
    graph = from_lists(column(["x", "y", "x"]), column(["a", "a", "b"]))
    assert graph.node_ids.tolist() == ["x", "y", "a", "b"]
    assert graph.neighbors("x").tolist() == ["a", "b"]


def test_numbers_need_a_prefix():
    graph = from_lists([1, 2, 1], [1, 1, 5], list_prefix="list ")
    assert graph.node_ids.tolist() == ["list 1", "list 2", 1, 5]


@pytest.mark.parametrize("column", [list, pa.array])
def test_an_id_on_both_sides(column):
    with pytest.raises(DataError) as caught:
        from_lists(column(["a", "b"]), column(["c", "a"]))
    assert str(caught.value) == ("'a' is the id of a list and of an item; pass list_prefix='list:' to distinguish them")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ((["x", "y"], ["a"]), "2 list ids for 1 items"),
        ((["abc", "def"],), "list 0 must be an iterable of items, got 'abc'"),
        (([["a", None]],), "row 1, column 'items': the id is missing"),
        ((["x"], [["unhashable"]]), "column 'items': an id must be hashable (unhashable type: 'list')"),
        ((pa.array(["x", None]), pa.array(["a", "b"])), "row 1, column 'lists': the id is missing"),
    ],
)
def test_invalid_input(call, message):
    with pytest.raises(DataError) as caught:
        from_lists(*call)
    assert str(caught.value) == message
