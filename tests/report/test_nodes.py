"""Labels, truth and neighbours are aligned by node id, and training nodes are never evaluated on."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.persistence import FitRecord
from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes, encode_truth
from planetoid.report.quality import measure_quality

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]


@pytest.fixture(scope="module")
def model():
    """Nodes a and b are of class x, d and e of class y; c is in the middle."""
    return ModelView.of(pl.LabelPropagation().fit(y={"a": "x", "e": "y"}, graph=EDGES))


def codes(**labels):
    return np.array([labels.get(node, -1) for node in "abcde"], dtype=np.int32)


@pytest.fixture(scope="module")
def record():
    return FitRecord(y=codes(a=0, e=1))


def test_truth_is_aligned_by_id(model, record):
    nodes = ReportNodes.of(model, record, {"d": "y", "b": "y", "a": "x"})
    assert nodes.truth.tolist() == [0, 1, -1, 1, 1]  # e is known from the training labels
    assert nodes.evaluated.tolist() == [False, True, False, True, False]
    quality = measure_quality(nodes)
    assert quality.n == 2
    assert quality.accuracy == 0.5  # b is predicted x
    assert quality.confusion.tolist() == [[0, 0], [1, 1]]
    assert quality.recall[1] == 0.5
    assert np.isnan(quality.recall[0])
    assert quality.precision.tolist() == [0.0, 1.0]


def test_truth_as_an_array_is_in_the_order_of_the_model(model, record):
    by_row = ReportNodes.of(model, record, ["x", "y", None, "y", None])
    assert by_row.truth.tolist() == ReportNodes.of(model, record, {"d": "y", "b": "y", "a": "x"}).truth.tolist()


def test_the_codes_of_the_record_are_used_as_they_are(model, record):
    nodes = ReportNodes.of(model, record)
    assert nodes.labels is record.y
    assert nodes.n_labelled == 2
    assert nodes.probabilities is model.probabilities


def test_training_nodes_are_never_evaluated_on(model, record):
    nodes = ReportNodes.of(model, record, {"a": "y", "e": "x"})
    assert not nodes.evaluated.any()
    assert measure_quality(nodes) is None
    assert "Training labels that differ from the true class: 2." in nodes.notes


def test_validation_labels_are_evaluated_on_without_other_truth(model):
    record = FitRecord(y=codes(a=0, e=1), validation=codes(b=0, d=0))
    nodes = ReportNodes.of(model, record)
    assert nodes.evaluated.tolist() == [False, True, False, True, False]
    assert measure_quality(nodes).accuracy == 0.5
    assert "early stopping" in nodes.evaluated_on
    with_truth = ReportNodes.of(model, record, {"b": "x", "c": "y"})
    assert with_truth.evaluated.tolist() == [False, False, True, False, False]  # b was used for validation
    assert with_truth.evaluated_on == "labelled nodes that were used neither for training nor for validation"


def test_without_a_record_nothing_is_evaluated(model):
    nodes = ReportNodes.of(model, None, {"b": "x", "a": "x"})
    assert measure_quality(nodes) is None
    assert nodes.truth.tolist() == [0, 0, -1, -1, -1]
    assert any("training labels are not recorded" in note for note in nodes.notes)


def test_a_class_without_training_labels_counts_as_an_error(model, record):
    nodes = ReportNodes.of(model, record, {"b": "z", "d": "y"})
    assert nodes.class_names == ["x", "y", "z"]
    quality = measure_quality(nodes)
    assert quality.accuracy == 0.5
    assert quality.confusion.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert nodes.notes[0].endswith("count as errors: 1 (z).")


def test_numbers_and_their_text_are_the_same_class():
    ids = pl.Graph.of([(0, 1), (1, 2)]).ids
    encoded = encode_truth(["1", "2", None], ids, np.array([2, 1]))
    assert encoded.codes.tolist() == [1, 0, -1]
    assert encoded.unknown_classes == []
    with pytest.raises(DataError, match="none of the model's classes: it has 'q', the model has '2'"):
        encode_truth(["q", None, None], ids, np.array([2, 1]))


def test_mismatches_are_errors(model, record):
    with pytest.raises(DataError, match="'nobody'"):
        ReportNodes.of(model, record, {"nobody": "x"})
    with pytest.raises(DataError, match="truth has no labels"):
        ReportNodes.of(model, record, {"a": None})
    with pytest.raises(DataError, match="belongs to another model: its labels"):
        ReportNodes.of(model, FitRecord(y=np.zeros(4, dtype=np.int32)))
    with pytest.raises(DataError, match="belongs to another model: its labels"):
        ReportNodes.of(model, FitRecord(y=np.full(5, 2, dtype=np.int32)))
    with pytest.raises(DataError, match="belongs to another model: its graph"):
        ReportNodes.of(model, FitRecord(y=codes(), indptr=np.zeros(3, np.int64), indices=np.zeros(0, np.int32)))
    with pytest.raises(DataError, match="the graph has none of the model's nodes"):
        ReportNodes.of(model, record, graph=pl.Graph.of([(1, 2)]))


def test_neighbours_in_both_directions_without_self_loops(model, record):
    graph = pl.Graph.from_edges(["a", "c", "e", "e"], ["b", "b", "e", "a"], directed=True, self_loops="keep")
    assert ReportNodes.of(model, record, graph=graph).degrees.tolist() == [2, 2, 1, 0, 1]
    with pytest.warns(PlanetoidWarning, match="1 of 2 nodes of the graph are not in the model"):
        nodes = ReportNodes.of(model, record, graph=pl.Graph.of([("a", "stranger")]))
    assert nodes.degrees.tolist() == [0] * 5
    of_record = FitRecord(y=record.y, indptr=np.array([0, 1, 2, 2, 2, 2]), indices=np.array([1, 2], dtype=np.int32))
    assert ReportNodes.of(model, of_record).degrees.tolist() == [1, 2, 1, 0, 0]
