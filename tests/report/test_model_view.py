"""The same view of a fitted estimator and of its saved arrays."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import planetoid as pl
from planetoid.engine.contexts import Contexts
from planetoid.io.model_files import read_model
from planetoid.report import write_report
from planetoid.report.model_view import ModelView, _flat


def saved_arrays(path, embedding):
    """Return a saved model by its arrays, without the class that computed them."""
    document, tensors, ids = read_model(path)
    return SimpleNamespace(
        class_name=document["class"],
        document=document,
        method=SimpleNamespace(embedding=embedding),
        classes=np.array(document["classes"]["labels"], dtype=document["classes"]["dtype"]),
        node_ids=ids,
        probabilities=tensors["attributes.label_distributions_"],
        embedding=tensors.get("attributes.embedding_"),
    )


def test_a_report_on_saved_arrays_is_the_report_on_the_model(cited, cited_page, tmp_path):
    model, record, truth = cited
    model.save(tmp_path / "model")
    saved = saved_arrays(tmp_path / "model", embedding=True)
    write_report(tmp_path / "r.html", saved, record=record, truth=truth, title="Papers & <fields>")
    assert (tmp_path / "r.html").read_bytes() == cited_page.read_bytes()


def test_a_saved_model_without_embedding(tmp_path):
    model = pl.LabelPropagation().fit(y={"a": "x", "c": "y"}, graph=[("a", "b"), ("b", "c")])
    model.save(tmp_path / "model")
    view, saved = ModelView.of(model), ModelView.of(saved_arrays(tmp_path / "model", embedding=False))
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
