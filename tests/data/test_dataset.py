from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.datasets import Dataset, Split
from planetoid.errors import DataError, ParameterError, PlanetoidWarning


@pytest.fixture
def small():
    graph = pl.Graph.from_edges(list("abcd"), list("bcde"))
    X = sparse.csr_array(np.eye(5, dtype=np.float32))
    split = Split(np.array([0, 2]), np.array([1]), np.array([3, 4]))
    return Dataset("small", graph, X, np.array([0, 1, 1, 0, -1]), ("no", "yes"), public=split)


def test_without_maps_rows_both_ways(small):
    part = small.without([1, 3])
    assert part.node_ids.tolist() == ["a", "c", "e"]
    assert part.graph.n_edges == 0
    assert part.y.tolist() == [0, 1, -1]
    assert part.X.toarray().argmax(axis=1).tolist() == [0, 2, 4]
    assert part.parent_rows.tolist() == [0, 2, 4]
    assert part.rows_from_parent([0, 1, 2, 3, 4]).tolist() == [0, -1, 1, -1, 2]
    assert part.public.train.tolist() == [0, 1]
    assert part.public.val.tolist() == []
    assert part.public.test.tolist() == [2]


def test_without_nothing_and_everything(small):
    assert small.without([]).graph == small.graph
    empty = small.without(range(5))
    assert empty.n_nodes == 0
    assert empty.rows_from_parent([0, 4]).tolist() == [-1, -1]


def test_rows_from_parent_needs_a_parent(small):
    with pytest.raises(ParameterError, match=r"without\(\)"):
        small.rows_from_parent([0])


def test_labels_cannot_be_changed(small):
    with pytest.raises(ValueError, match="read-only"):
        small.y[0] = 1
    with pytest.raises(AttributeError):
        small.name = "other"


def test_sizes_must_agree(small):
    with pytest.raises(DataError, match="5 nodes, but 4 labels and 5 feature rows"):
        Dataset("wrong", small.graph, small.X, np.zeros(4), ("a",))
    with pytest.raises(DataError, match=r"outside -1\.\.0"):
        Dataset("wrong", small.graph, None, np.ones(5), ("a",))


def test_validation_labels_of_labelled_nodes_are_ignored_with_a_warning(small):
    y = np.array([0, 1, -1, -1, -1])
    message = "2 validation labels are of labelled nodes and ignored; a label is either for training or for validation"
    with pytest.warns(PlanetoidWarning, match=message) as caught:
        data = replace(small, y=y, validation=np.array([0, 1, 1, -1, 0]))
    assert len(caught) == 1
    assert data.validation.tolist() == [-1, -1, 1, -1, 0]
    assert data.without([4]).validation.tolist() == [-1, -1, 1, -1]  # without a second warning
    with pytest.warns(PlanetoidWarning, match="1 validation label is of labelled nodes and ignored"):
        assert replace(small, y=y, validation=np.array([0, -1, -1, -1, -1])).validation is None


def test_a_validation_label_that_contradicts_the_label_is_an_error(small):
    with pytest.raises(
        DataError, match="node 'b': the validation label is 'no', but the label is 'yes'; remove one of"
    ):
        replace(small, validation=np.array([0, 0, -1, -1, -1]))


def test_kinds_of_split(small):
    assert small.split() is small.public
    assert len(small.split("rate", rate=0.5).train) == 2
    assert len(small.split("random", per_class=1, n_val=1, n_test=1).test) == 1
    with pytest.raises(ParameterError, match="requires rate"):
        small.split("rate")
    with pytest.raises(ParameterError, match="got 'best'"):
        small.split("best")


def test_a_method_can_be_fitted_on_what_is_left(small):
    part = small.without(small.public.test)
    model = pl.Feat().fit(part.X, pl.mask_labels(part.labels, part.public.train))
    assert model.predict(small.X[small.public.test]).shape == (2,)


def test_validation_nodes_are_the_rows_and_codes_of_validation_labels():
    data = pl.datasets.make_citation(40, n_classes=2, seed=0)
    assert [len(part) for part in data.validation_nodes] == [0, 0]
    held = data.hold_out(0.25, seed=1)
    rows, codes = held.validation_nodes
    assert rows.tolist() == [row for row in range(40) if held.validation[row] >= 0]
    assert codes.tolist() == data.y[rows].tolist()
