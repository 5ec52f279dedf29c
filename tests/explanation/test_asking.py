"""Arguments of ``explain``, and which reasons are listed."""

from dataclasses import replace

import numpy as np
import pytest
from tests.explanation.conftest import fitted, small_data

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.estimator.classifier import GraphClassifier


def test_a_node_or_a_row_is_needed(data):
    model = fitted("feat")
    for arguments in ({}, {"node": "n1", "X": data.X[[0]]}):
        with pytest.raises(DataError, match="either a node"):
            model.explain(**arguments)


def test_unknown_nodes_classes_and_counts():
    model = fitted("lp")
    with pytest.raises(DataError, match="node 'nobody': not in the graph"):
        model.explain("nobody")
    with pytest.raises(ParameterError, match="there is no class 'oak'; the classes are ash, beech, cedar"):
        model.explain("n1", label="oak")
    with pytest.raises(ParameterError, match="top must be an integer >= 1, got 0"):
        model.explain("n1", top=0)


def test_a_class_may_be_given_as_text():
    model = pl.Feat().fit([[1.0, 0.0], [0.0, 1.0]], [7, 8])
    assert model.explain(0, label="8").label == 8


def test_columns_without_names_are_numbers():
    model = pl.Feat().fit(np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0]]), ["a", "b"])
    found = model.explain(0)
    assert sorted(reason.name for reason in found.features.reasons) == [1, 2]
    assert "column 1" in repr(found)


def test_so_many_for_and_so_many_against():
    found = fitted("ssgc").explain("n42", top=2)
    everything = fitted("ssgc").explain("n42", top=1000)
    for group in found.groups:
        whole = next(other for other in everything.groups if other.kind == group.kind)
        assert len(whole.reasons) == whole.n_reasons == group.n_reasons
        assert group.supporting == whole.supporting[:2]
        assert group.opposing == whole.opposing[:2]
        assert sum(reason.contribution for reason in whole.reasons) == pytest.approx(group.total)


def test_data_of_another_fit_is_rejected():
    model, data = fitted("lp"), small_data()
    other = data.without([3])
    with pytest.raises(DataError, match="other nodes or classes"):
        model.explain("n1", data=other)
    with pytest.raises(DataError, match="the data has 59 features"):
        fitted("feat").explain("n1", data=replace(data, X=data.X[:, :59], feature_names=None))


def test_an_unfitted_model_explains_nothing():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        pl.Feat().explain(0)


def test_a_method_that_says_nothing_about_its_scores(data):
    """The base classes answer for it: by predictions of neighbours, or by features that are left out."""

    class Silent(pl.ModifiedAdsorption):
        _explain = GraphClassifier._explain

    with pytest.warns(pl.PlanetoidWarning, match="nothing about 4 of 120"):
        model = Silent().fit(None, data.y, graph=data.graph)
    found = model.explain("n42")
    row = data.ids.row("n42")
    p, adjacency = model.label_distributions_, data.graph.to_scipy()
    codes = [list(model.classes_).index(label) for label in (found.label, found.runner_up)]
    odds = np.log(p[:, codes[0]]) - np.log(p[:, codes[1]])
    assert found.score == pytest.approx(odds[row])
    assert found.neighbours.total == pytest.approx(odds[adjacency[[row]].indices].mean())
    assert found.neighbours.base is None


def test_a_folded_model_asks_for_data(data):
    model = fitted("planetoid-g")
    matrix = data.graph.to_scipy()
    matrix.resize((121, 121))
    matrix = matrix.tolil()
    matrix[0, 120] = matrix[120, 0] = 1.0
    graph = pl.Graph.from_scipy(matrix.tocsr(), nodes=[*data.node_ids, "new"])
    folded = model.fold_in(graph)
    with pytest.raises(DataError, match="PlanetoidG explains a node by the data"):
        folded.explain("new")
