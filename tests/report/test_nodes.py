"""Labels, truth and neighbours find their nodes by id, and nothing is measured on what was learned from."""

import itertools

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.persistence import FitRecord
from planetoid.report.nodes import encode_truth, node_table
from planetoid.report.payload import shown_neighbours
from planetoid.report.quality import measure_quality, wilson_interval

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]


@pytest.fixture(scope="module")
def model():
    """Nodes a, b are of class x, the others of class y; c is in the middle."""
    return pl.LabelPropagation().fit(y={"a": "x", "e": "y"}, graph=EDGES)


def codes(**labels):
    return np.array([labels.get(node, -1) for node in "abcde"], dtype=np.int32)


@pytest.fixture(scope="module")
def record():
    return FitRecord(y=codes(a=0, e=1))


def test_truth_is_aligned_by_id_in_whatever_order(model, record):
    table = node_table(model, record, {"d": "y", "b": "y", "a": "x"})
    assert table.truth.tolist() == [0, 1, -1, 1, 1]  # e is known from the labels
    assert table.measured.tolist() == [False, True, False, True, False]
    quality = measure_quality(table)
    assert quality.n == 2
    assert quality.accuracy == 0.5  # b is predicted x
    assert quality.confusion.tolist() == [[0, 0], [1, 1]]
    assert quality.recall[1] == 0.5
    assert np.isnan(quality.recall[0])
    assert quality.precision.tolist() == [0.0, 1.0]


def test_an_array_in_the_order_of_the_model_is_the_same(model, record):
    by_row = node_table(model, record, ["x", "y", None, "y", None])
    assert by_row.truth.tolist() == node_table(model, record, {"d": "y", "b": "y", "a": "x"}).truth.tolist()


def test_labels_that_were_learned_from_are_never_measured_on(model, record):
    table = node_table(model, record, {"a": "y", "e": "x"})
    assert not table.measured.any()
    assert measure_quality(table) is None
    assert "2 nodes were learned with a label other than the true one." in table.notes


def test_validation_labels_serve_where_there_is_no_truth(model):
    held = FitRecord(y=codes(a=0, e=1), validation=codes(b=0, d=0))
    table = node_table(model, held)
    assert table.measured.tolist() == [False, True, False, True, False]
    assert measure_quality(table).accuracy == 0.5
    assert "validation" in table.protocol
    beside = node_table(model, held, {"b": "x", "c": "y"})
    assert beside.measured.tolist() == [False, False, True, False, False]  # b chose the model, so it does not judge it
    assert "neither learned from nor held back" in beside.protocol


def test_without_a_record_nothing_is_measured_for_the_labels_are_unknown(model):
    table = node_table(model, None, {"b": "x", "a": "x"})
    assert measure_quality(table) is None
    assert table.truth.tolist() == [0, 0, -1, -1, -1]
    assert any("no record" in note for note in table.notes)


def test_a_class_that_the_model_never_saw_counts_as_wrong(model, record):
    table = node_table(model, record, {"b": "z", "d": "y"})
    assert table.class_names == ["x", "y", "z"]
    quality = measure_quality(table)
    assert quality.accuracy == 0.5
    assert quality.confusion.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert "1 nodes have a true class that the model was never shown (z)" in table.notes[0]


def test_numbers_and_their_text_are_the_same_class():
    found, more = encode_truth(["1", "2", None], pl.Graph.of([(0, 1), (1, 2)]).ids, np.array([2, 1]))
    assert found.tolist() == [1, 0, -1]
    assert more == []
    with pytest.raises(DataError, match="no class of the model: its labels are such as 'q'"):
        encode_truth(["q", None, None], pl.Graph.of([(0, 1), (1, 2)]).ids, np.array([2, 1]))


def test_mistakes_in_what_is_given_are_told(model, record):
    with pytest.raises(DataError, match="'nobody'"):
        node_table(model, record, {"nobody": "x"})
    with pytest.raises(DataError, match="truth has no label"):
        node_table(model, record, {"a": None})
    with pytest.raises(DataError, match="does not belong to the model"):
        node_table(model, FitRecord(y=np.zeros(4, dtype=np.int32)))
    with pytest.raises(DataError, match="does not belong to the model"):
        node_table(model, FitRecord(y=np.full(5, 2, dtype=np.int32)))
    with pytest.raises(DataError, match="no node of the graph is one of the model's"):
        node_table(model, record, graph=pl.Graph.of([(1, 2)]))


def test_neighbours_in_both_directions_without_loops(model, record):
    graph = pl.Graph.from_edges(["a", "c", "e", "e"], ["b", "b", "e", "a"], directed=True, self_loops="keep")
    table = node_table(model, record, graph=graph)
    assert table.degrees.tolist() == [2, 2, 1, 0, 1]
    with pytest.warns(PlanetoidWarning, match="1 of 2 nodes of the graph are unknown"):
        assert node_table(model, record, graph=pl.Graph.of([("a", "stranger")])).degrees.tolist() == [0] * 5
    kept = FitRecord(y=record.y, indptr=np.array([0, 1, 2, 2, 2, 2]), indices=np.array([1, 2], dtype=np.int32))
    assert node_table(model, kept).degrees.tolist() == [1, 2, 1, 0, 0]


def test_shown_neighbours_by_degree_and_only_those_on_the_map(model, record):
    graph = pl.Graph.of([("a", "b"), ("a", "c"), ("a", "d"), ("d", "e"), ("d", "c")])
    links = node_table(model, record, graph=graph).adjacency  # degrees: a 3, b 1, c 2, d 3, e 1
    starts, found = shown_neighbours(links, np.array([3, 0, 2, 1]))  # d, a, c, b: e is not shown
    lists = [found[i:j].tolist() for i, j in itertools.pairwise(starts)]
    assert lists == [[1, 2], [0, 2, 3], [1, 0], [1]]  # of d: a before c; of a: d, c, b; of c: a and d tie, a first
    starts, found = shown_neighbours(links, np.array([3, 0, 2, 1]), most=1)
    assert starts.tolist() == [0, 1, 2, 3, 4]
    assert found.tolist() == [1, 0, 1, 1]


def test_calibration_bins_agree_with_the_error(cited):
    quality = measure_quality(node_table(*cited))
    assert sum(one.count for one in quality.bins) == quality.n == 100
    apart = sum(one.count * abs(one.confidence - one.accuracy) for one in quality.bins) / quality.n
    assert apart == pytest.approx(quality.calibration_error, abs=1e-6)


def test_wilson_interval_at_its_ends():
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(10, 10) == pytest.approx((0.7225, 1), abs=1e-4)
