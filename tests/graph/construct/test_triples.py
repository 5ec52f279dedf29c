"""from_triples: the graph of section 5.4 of the paper."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.graph.construct import RelationNode, drop_small_classes, from_triples

TRIPLES = [
    ("rome", "capital_of", "italy"),
    ("paris", "capital_of", "france"),
    ("france", "borders", "italy"),
    ("paris", "generalizations", "city"),
    ("rome", "capital_of", "italy"),
]
HEADS, RELATIONS, TAILS = (list(column) for column in zip(*TRIPLES, strict=True))


def test_edges_of_the_paper():
    graph = from_triples(HEADS, RELATIONS, TAILS)
    assert graph.node_ids.tolist() == [
        *("rome", "italy", "paris", "france", "city"),
        *(("capital_of", 1), ("capital_of", 2), ("borders", 1), ("borders", 2)),
        *(("generalizations", 1), ("generalizations", 2)),
    ]
    assert set(graph.neighbors(("capital_of", 1))) == {"rome", "paris"}
    assert set(graph.neighbors(("capital_of", 2))) == {"italy", "france"}
    assert set(graph.neighbors("france")) == {("capital_of", 2), ("borders", 1)}
    assert graph.n_edges == 8  # 10 ends, of which (rome, capital_of_1) and (italy, capital_of_2) are repeated
    assert graph.weights is None


def test_relation_ids_carry_relation_and_side():
    graph = from_triples(HEADS, RELATIONS, TAILS)
    node = graph.node_ids[5]
    assert isinstance(node, RelationNode)
    assert (node.relation, node.side, str(node)) == ("capital_of", 1, "capital_of_1")
    strings = from_triples(HEADS, RELATIONS, TAILS, relation_id="{}_{}".format)
    assert set(strings.neighbors("capital_of_1")) == {"rome", "paris"}


def test_dropped_relations_take_their_entities_along():
    graph = from_triples(HEADS, RELATIONS, TAILS, drop_relations=["generalizations"])
    assert "city" not in graph.ids
    assert ("generalizations", 1) not in graph.ids
    assert graph.n_nodes == 8


def test_relation_to_drop_that_never_occurs():
    with pytest.warns(PlanetoidWarning, match="1 of the relations to drop occur in no triple, for instance 'atdate'"):
        from_triples(HEADS, RELATIONS, TAILS, drop_relations=["atdate", "borders"])


def test_order_of_entities_can_be_given():
    order = ["moon", "city", "france", "italy", "paris", "rome"]
    graph = from_triples(HEADS, RELATIONS, TAILS, entities=order)
    assert graph.node_ids[:6].tolist() == order
    assert graph.degrees[0] == 0
    assert set(graph.neighbors(("borders", 2))) == {"italy"}
    with pytest.raises(DataError, match=r"^node 'rome': not in the graph; "):
        from_triples(HEADS, RELATIONS, TAILS, entities=order[:-1])


def test_counts_as_weights():
    graph = from_triples(HEADS, RELATIONS, TAILS, weights="count")
    row = graph.ids.row("rome")
    assert graph.weights[graph.indptr[row] : graph.indptr[row + 1]].tolist() == [2.0]
    with pytest.raises(ParameterError, match=r"^from_triples: weights must be 'count' or None, got 'sum'$"):
        from_triples(HEADS, RELATIONS, TAILS, weights="sum")


def test_a_table_in_any_order_of_columns():
    whole = from_triples(HEADS, RELATIONS, TAILS)
    named = pd.DataFrame({"tail": TAILS, "head": HEADS, "relation": RELATIONS})
    plain = pd.DataFrame(TRIPLES)
    assert from_triples(named) == whole
    assert from_triples(plain) == whole


def test_integer_ids():
    graph = from_triples(np.array([0, 1]), np.array([7, 7]), np.array([2, 2]))
    assert set(graph.neighbors((7, 2))) == {2}
    assert set(graph.neighbors((7, 1))) == {0, 1}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ((["a"], ["r", "r"], ["b"]), "1 heads, 2 relations and 1 tails; the lengths must be equal"),
        ((["a"], ["r"], None), "expected all three of heads, relations and tails"),
        ((["a", "b"],), "expected heads, relations and tails, or a table with these three columns"),
        ((["a", None], ["r", "r"], ["b", "c"]), "row 1, column 'heads': the id is missing"),
    ],
)
def test_invalid_input(call, message):
    with pytest.raises(DataError) as caught:
        from_triples(*call)
    assert str(caught.value) == message


def test_id_that_is_an_entity_and_a_relation_node():
    with pytest.raises(DataError) as caught:
        from_triples(["r_1"], ["r"], ["b"], relation_id="{}_{}".format)
    assert str(caught.value) == (
        "'r_1' is the id of an entity and of a relation node; pass relation_id=... to make other ids of relations"
    )


triples = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("rst"), st.integers(0, 6)), min_size=1, max_size=30)


@given(triples)
def test_graph_is_bipartite_and_degrees_count_triples(drawn):
    heads, relations, tails = zip(*drawn, strict=True)
    graph = from_triples(heads, relations, tails, weights="count")
    entities = len({*heads, *tails})
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    assert ((source < entities) != (graph.indices < entities)).all()
    for relation in set(relations):
        for side in (1, 2):
            assert graph.strengths[graph.ids.row((relation, side))] == relations.count(relation)
    for entity in {*heads, *tails}:
        assert graph.strengths[graph.ids.row(entity)] == heads.count(entity) + tails.count(entity)


def test_nell995(data_root):
    """The counts that docs/construct.md shows."""
    folder = data_root / "nell995"
    if not folder.is_dir():
        pytest.skip("nell995 is not on this machine")
    parts = [np.loadtxt(folder / f"{part}2id.txt", dtype=np.int64, skiprows=1) for part in ("train", "valid", "test")]
    head, tail, relation = np.concatenate(parts).T
    graph = from_triples(head, relation, tail)
    assert graph.summary.entries == 2 * 154_213
    assert (graph.n_nodes, graph.n_edges) == (75_492 + 400, 137_662)
    lines = (folder / "entity2id.txt").read_text(encoding="utf-8").splitlines()[1:]
    parts_of_name = (line.split()[0].split("_", 2) for line in lines)
    category = [parts[1] if len(parts) == 3 and parts[0] == "concept" else None for parts in parts_of_name]
    assert sum(label is not None for label in category) == 70_175
    kept = [label for label in drop_small_classes(category, 10).tolist() if label is not None]
    assert (len(set(category)) - 1, len(set(kept)), len(kept)) == (268, 247, 70_092)
