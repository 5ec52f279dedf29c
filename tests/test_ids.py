"""NodeIds: how ids are stored, and that every id is found and no other."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.errors import DataError
from planetoid.ids import NodeIds

integers = st.integers(-(2**63), 2**63 - 1)
texts = st.text()
anything = st.one_of(integers, texts, st.tuples(integers, texts), st.integers(2**64, 2**70), st.booleans())
lists_of_ids = st.one_of(
    st.lists(integers, unique=True), st.lists(texts, unique=True), st.lists(anything, unique_by=lambda node: node)
)


@given(lists_of_ids)
def test_every_id_is_found_in_its_row(nodes):
    ids = NodeIds(nodes)
    assert len(ids) == len(nodes)
    assert ids.rows(nodes).tolist() == list(range(len(nodes)))
    assert [ids[row] for row in range(len(ids))] == nodes
    assert ids.to_numpy().tolist() == nodes
    assert all(node in ids and ids.row(node) == row for row, node in enumerate(nodes))


@given(lists_of_ids, st.lists(anything))
def test_no_other_id_is_found(nodes, others):
    ids = NodeIds(nodes)
    same = {(type(node), node): row for row, node in enumerate(nodes)}
    expected = [same.get((type(node), node), -1) for node in others]
    if ids.kind == "object":  # there 1, True and 1.0 are one key, as in any dictionary
        expected = [nodes.index(node) if node in nodes else -1 for node in others]
    assert ids.rows(others).tolist() == expected
    assert [node in ids for node in others] == [row >= 0 for row in expected]


@given(lists_of_ids, st.data())
def test_take_and_at_follow_the_rows(nodes, data):
    ids = NodeIds(nodes)
    rows = data.draw(st.lists(st.integers(0, max(0, len(nodes) - 1)), unique=True)) if nodes else []
    expected = [nodes[row] for row in rows]
    assert ids.take(np.array(rows, dtype=np.int64)) == NodeIds(expected)
    assert ids.at(np.array(rows + rows, dtype=np.int64)).tolist() == expected + expected


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (5, "range"),
        (range(5), "range"),
        (np.arange(5), "range"),
        ([], "range"),
        (np.array(["b", "a"]), "str"),
        (range(1, 5), "int"),
        (np.array([7, 3], dtype=np.uint8), "int"),
        (pa.array([7, 3], type=pa.int16()), "int"),
        (pa.chunked_array([["a"], ["b"]]), "str"),
        ([1, "a"], "object"),
        ([True, False], "object"),
        ([2**70, 1], "object"),
        ([(1, 2), (3,)], "object"),
        (["\ud800"], "object"),
        (np.array([2**63], dtype=np.uint64), "object"),
    ],
)
def test_kind(values, kind):
    assert NodeIds(values).kind == kind


def test_row_numbers_take_no_memory_and_strings_their_bytes():
    assert NodeIds(10**9).nbytes == 0
    assert NodeIds([5, 3]).nbytes == 16
    assert NodeIds(["ab", "c"]).nbytes == 3 + 2 * 4  # characters, and where each id begins


def test_same_ids_from_different_sources_are_equal():
    assert NodeIds(["a", "b"]) == NodeIds(pa.array(["a", "b"], type=pa.large_string())) == NodeIds(np.array(["a", "b"]))
    assert NodeIds(3) == NodeIds([0, 1, 2]) == NodeIds(np.arange(3, dtype=np.int8))
    assert NodeIds([(1, 2)]) == NodeIds([(1, 2)])
    assert NodeIds(pa.array([], type=pa.string())) == NodeIds([])
    assert NodeIds(["1"]) != NodeIds([1])
    assert NodeIds(["a", "b"]) != NodeIds(["b", "a"])
    assert NodeIds(["a"]) != ["a"]


def test_a_generator_is_read_once():
    assert NodeIds(str(k) for k in range(3)) == NodeIds(["0", "1", "2"])
    assert NodeIds([4, 6]).rows(k for k in (6, 5)).tolist() == [1, -1]
    assert NodeIds([4, 6]).known_rows(k for k in (6, 4)).tolist() == [1, 0]


def test_ids_of_other_types_are_unknown():
    assert NodeIds([10, 20]).rows([20, "10", (1, 2), 20.0, True]).tolist() == [1, -1, -1, -1, -1]
    assert NodeIds(["1", "a"]).rows(["a", 1]).tolist() == [1, -1]
    assert NodeIds(["1", "a"]).rows(pa.array([1])).tolist() == [-1]
    assert NodeIds([(1, 2), "a"]).rows(pa.array(["a"])).tolist() == [1]


def test_unhashable_values_are_unknown():
    assert [1] not in NodeIds([(1, 2)])
    assert NodeIds([(1, 2)]).rows([[1], (1, 2)]).tolist() == [-1, 0]


def test_unknown_ids_are_named():
    ids = NodeIds(["a", "b"])
    with pytest.raises(DataError, match=r"^node 'z': not in the graph; its 2 ids are strings such as 'a'$"):
        ids.row("z")
    with pytest.raises(
        DataError,
        match=r"^4 nodes are not in the graph: 'p', 'q', 'r' and 1 more; its 2 ids are strings such as 'a'$",
    ):
        ids.known_rows(["a", "p", "q", "r", "s"])
    with pytest.raises(DataError, match=r"^node 7: not in the graph; its 2 ids are integers such as 1$"):
        NodeIds([1, 2]).known_rows(np.array([1, 7]))
    with pytest.raises(DataError, match=r"^node 'a': not in the graph; the graph has no nodes$"):
        NodeIds([]).row("a")


@pytest.mark.parametrize("values", [[1, 2, 1], ["a", "b", "a"], [(1,), (1,)], pa.array(["x", "x"]), [1, "a", 1]])
def test_duplicates_are_named(values):
    nodes = values.to_pylist() if isinstance(values, pa.Array) else values
    with pytest.raises(DataError) as caught:
        NodeIds(values)
    assert str(caught.value) == f"row {len(nodes) - 1}, node {nodes[-1]!r}: duplicate node id"
    with pytest.raises(DataError, match=r"^row 1, node 'b': duplicate node id$"):
        NodeIds(["a", "b"]).take(np.array([1, 1]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None], "row 0: a node id must be hashable and not missing, got None"),
        ([1.5, float("nan")], "row 1: a node id must be hashable and not missing, got nan"),
        ([[1]], "row 0: a node id must be hashable and not missing, got [1]"),
        ([{}], "row 0: a node id must be hashable and not missing, got {}"),
        (pa.array(["a", None]), "row 1: a node id is missing (null)"),
        (pa.array([1.5]), "node ids in an Arrow array must be integers or strings, not double"),
        (-1, "the number of nodes must be an integer >= 0, got -1"),
        (True, "the number of nodes must be an integer >= 0, got True"),
    ],
)
def test_invalid_ids(values, message):
    with pytest.raises(DataError) as caught:
        NodeIds(values)
    assert str(caught.value) == message


def test_rows_outside_and_negative():
    ids = NodeIds(["a", "b"])
    assert ids[-1] == "b"
    with pytest.raises(IndexError, match="row 2 of 2"):
        ids[2]


def test_to_arrow():
    assert NodeIds(["b", "a"]).to_arrow().to_pylist() == ["b", "a"]
    assert NodeIds(2).to_arrow().to_pylist() == [0, 1]
    with pytest.raises(DataError) as caught:
        NodeIds([(1, 2)]).to_arrow()
    assert str(caught.value) == "node ids such as (1, 2) are neither integers nor strings, as a table requires"


def test_repr_shows_the_first_ids_and_the_count():
    assert repr(NodeIds([f"n{k}" for k in range(1000)])) == "NodeIds(['n0', 'n1', 'n2', ...], n=1,000)"
    assert repr(NodeIds([3])) == "NodeIds([3], n=1)"


def test_ids_are_copies_of_their_input():
    values = np.array([5, 3])
    ids = NodeIds(values)
    values[0] = 99
    ids.to_numpy()[0] = 99
    assert ids[0] == 5
