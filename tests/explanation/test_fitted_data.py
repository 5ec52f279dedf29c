"""Data of a fit as arrays and back."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError
from planetoid.explanation.fitted_data import data_tensors, is_small, restored_data

IDS = ["a", "b", "c", "d"]


def graph(**policy):
    return pl.Graph.from_edges(["a", "b", "c"], ["b", "c", "c"], [1.0, 2.5, 1.0], nodes=IDS, **policy)


@pytest.mark.parametrize("dense", [True, False, None])
@pytest.mark.parametrize("policy", [{}, {"directed": True}, {"self_loops": "keep"}])
def test_there_and_back(dense, policy):
    X = None if dense is None else np.array([[0, 2], [1, 0], [0, 0], [3, 4]], np.float32)
    if dense is False:
        from scipy import sparse

        X = sparse.csr_array(X)
    data = pl.Dataset("d", graph(**policy), X, np.array([0, -1, 1, -1]), ["x", "y"])
    tensors = data_tensors(data) | {"other": np.zeros(1)}
    found = restored_data(tensors, data.ids, data.classes)
    assert list(tensors) == ["other"]
    assert found.graph == data.graph
    assert (found.graph.directed, found.graph.n_edges) == (data.graph.directed, data.graph.n_edges)
    np.testing.assert_array_equal(found.y, data.y)
    if X is None:
        assert found.X is None
    else:
        assert type(found.X) is type(data.X)
        np.testing.assert_array_equal(found.X if dense else found.X.toarray(), X if dense else X.toarray())


def test_nothing_was_saved():
    assert restored_data({"other": np.zeros(1)}, pl.Graph.of([(0, 1)]).ids, np.array(["x", "y"])) is None


def test_damaged_data_is_rejected():
    data = pl.Dataset("d", graph(), None, np.array([0, -1, 1, -1]), ["x", "y"])
    with pytest.raises(DataError, match="does not fit its nodes"):
        restored_data({**data_tensors(data), "data.y": np.zeros(3, np.int32)}, data.ids, data.classes)
    outside = np.full_like(data.graph.indices, 9)
    with pytest.raises(DataError, match="an index must be from 0 to 3"):
        restored_data({**data_tensors(data), "data.indices": outside}, data.ids, data.classes)


def test_a_model_can_be_saved_without_data(tmp_path):
    model = pl.LabelPropagation().fit(y={"a": "x", "c": "y", "d": "x"}, graph=graph())
    with pytest.raises(DataError, match="which this model does not hold"):
        saved_and_loaded(model, tmp_path / "without", data=False).explain("b")
    assert saved_and_loaded(model, tmp_path / "with").explain("b").to_dict() == model.explain("b").to_dict()


def saved_and_loaded(model, folder, **options):
    model.save(folder, **options)
    return pl.load(folder)


def test_large_data_is_not_saved(monkeypatch):
    data = pl.Dataset("d", graph(), np.zeros((4, 1000), np.float32), np.array([0, -1, 1, -1]), ["x", "y"])
    assert is_small(data)
    monkeypatch.setattr("planetoid.explanation.fitted_data.MOST_BYTES", 16_000)
    assert not is_small(data)
