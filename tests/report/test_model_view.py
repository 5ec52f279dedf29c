"""The same view of a fitted estimator and of its saved arrays."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import planetoid as pl
from planetoid.engine.contexts import Contexts
from planetoid.persistence import SavedModel
from planetoid.report import write_report
from planetoid.report.model_view import ModelView, _flat


def test_a_report_on_saved_arrays_is_the_report_on_the_model(cited, cited_page, tmp_path):
    model, record, truth = cited
    model.save(tmp_path / "model")
    saved = SavedModel(tmp_path / "model")
    write_report(tmp_path / "r.html", saved, record=record, truth=truth, title="Papers & <fields>")
    assert (tmp_path / "r.html").read_bytes() == cited_page.read_bytes()


def test_a_saved_model_without_embedding(tmp_path):
    model = pl.LabelPropagation().fit(y={"a": "x", "c": "y"}, graph=[("a", "b"), ("b", "c")])
    model.save(tmp_path / "model")
    view, saved = ModelView.of(model), ModelView.of(SavedModel(tmp_path / "model"))
    assert view.embedding is saved.embedding is None
    assert view.history is saved.history is None
    assert view.parameters == saved.parameters
    assert view.class_name == saved.class_name == "LabelPropagation"
    assert np.array_equal(view.probabilities, saved.probabilities)
    assert view.n_nodes == saved.n_nodes == 3


def test_parameters_of_parameter_objects_are_flattened_alike_from_objects_and_from_json():
    contexts = Contexts(q=7)
    assert _flat({"contexts": contexts, "dimension": 8}) == _flat({"contexts": contexts.get_params(), "dimension": 8})
    assert _flat({"contexts": contexts})["contexts.q"] == 7


def test_a_model_that_is_not_fitted_is_an_error(tmp_path):
    with pytest.raises(NotFittedError):
        write_report(tmp_path / "r.html", pl.LabelPropagation())
