import numpy as np
import pyarrow as pa
import pytest

from planetoid.errors import DataError
from planetoid.graph.construct import from_lists


def test_lists_come_first_and_meet_their_items():
    graph = from_lists({"l1": ["flu", "fever"], "l2": ["fever"], "l3": []})
    assert graph.node_ids.tolist() == ["l1", "l2", "l3", "flu", "fever"]
    assert graph.neighbors("fever").tolist() == ["l1", "l2"]
    assert graph.degrees.tolist() == [2, 1, 0, 1, 2]


def test_an_item_given_twice_is_one_edge():
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
def test_an_id_on_both_sides_is_refused(column):
    with pytest.raises(DataError, match=r"'a' is a list and an item; list_prefix="):
        from_lists(column(["a", "b"]), column(["c", "a"]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ((["x", "y"], ["a"]), "2 list ids for 1 items"),
        ((["abc", "def"],), "list 0 is 'abc'; a list holds items"),
        (([["a", None]],), "items: entry 1 is missing"),
        ((["x"], [["unhashable"]]), "hashable"),
        ((pa.array(["x", None]), pa.array(["a", "b"])), "lists: entry 1 is missing"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises(DataError, match=message):
        from_lists(*call)
