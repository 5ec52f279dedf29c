"""Methods on a graph within scikit-learn's tools."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

import planetoid as pl
from planetoid.errors import DataError
from planetoid.model_selection import NodeClassifier


@pytest.fixture(scope="module")
def data():
    made = pl.datasets.make_citation(300, 3, 60, seed=1)
    return pl.Dataset(name="named", graph=made.graph, X=made.X, y=made.y, classes=made.classes)


@pytest.fixture
def labelled(data):
    rows = np.arange(0, 300, 5)
    return data.node_ids[rows], np.array(["a", "b", "c"])[data.y[rows]]


pytestmark = pytest.mark.filterwarnings("ignore:LabelPropagation can say nothing about")
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.mark.parametrize("method", [pl.LabelPropagation(), pl.PropagatedFeatures(), pl.Feat()], ids=lambda m: str(m))
def test_cross_validation_scores_held_out_labels_on_the_whole_graph(data, labelled, method):
    nodes, y = labelled
    scores = cross_val_score(NodeClassifier(method, data), nodes, y, cv=FOLDS, error_score="raise")
    by_hand = []
    for train, test in FOLDS.split(nodes, y):
        known = dict(zip(nodes[train].tolist(), y[train].tolist(), strict=True))
        graph = None if method.uses_graph == "never" else data.graph
        X = None if method.uses_features == "never" else data.X
        fitted = clone(method).fit(X, known, graph=graph)
        rows = data.ids.known_rows(nodes[test])
        by_hand.append((fitted.predict()[rows] == y[test]).mean())
    assert scores.tolist() == by_hand


def test_labels_that_are_held_out_are_not_seen(data, labelled):
    nodes, y = labelled
    one = NodeClassifier(pl.LabelPropagation(), data).fit(nodes[:30], y[:30])
    assert (one.estimator_.predict(nodes=nodes[:30].tolist()) == y[:30]).all()
    other = NodeClassifier(pl.LabelPropagation(), data).fit(nodes[:30].reshape(-1, 1), y[:30])
    np.testing.assert_array_equal(one.predict_proba(nodes), other.predict_proba(nodes.reshape(-1, 1)))


def test_a_grid_search_in_a_pipeline(data, labelled):
    nodes, y = labelled
    steps = Pipeline([("nothing", "passthrough"), ("model", NodeClassifier(pl.PropagatedFeatures(), data))])
    search = GridSearchCV(steps, {"model__estimator__C": [1e-6, 10.0]}, cv=FOLDS, error_score="raise").fit(nodes, y)
    assert search.best_params_ == {"model__estimator__C": 10.0}
    assert search.score(nodes, y) > 0.8


def test_calibration_by_scikit_learn(data, labelled):
    nodes, y = labelled
    model = CalibratedClassifierCV(NodeClassifier(pl.LabelPropagation(), data), cv=FOLDS).fit(nodes, y)
    probabilities = model.predict_proba(data.node_ids)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_clones_share_the_data(data):
    model = NodeClassifier(pl.LabelPropagation(), data)
    assert clone(model).data is data
    assert clone(model).estimator is not model.estimator


@pytest.mark.parametrize("method", [pl.Planetoid(training=pl.Consistency(steps=20)), pl.Feat(), pl.LabelPropagation()])
def test_fitted_methods_can_be_copied_and_pickled(data, labelled, method):
    nodes, y = labelled
    known = dict(zip(nodes.tolist(), y.tolist(), strict=True))
    fitted = clone(method).fit(
        None if method.uses_features == "never" else data.X,
        known,
        graph=None if method.uses_graph == "never" else data.graph,
    )
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    for again in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted)), joblib.load(file)):
        np.testing.assert_array_equal(again.predict_proba(), fitted.predict_proba())
        if method.inductive:
            np.testing.assert_array_equal(again.predict_proba(data.X[:5]), fitted.predict_proba(data.X[:5]))


def test_what_is_not_a_list_of_nodes_is_refused(data):
    model = NodeClassifier(pl.LabelPropagation(), data)
    with pytest.raises(DataError, match="one node id per row"):
        model.fit(np.zeros((3, 2)), [0, 1, 2])
    with pytest.raises(DataError, match="2 labels for 3 nodes"):
        model.fit(data.node_ids[:3], [0, 1])
    with pytest.raises(DataError, match="1000000"):
        model.fit([0, 1, 1000000], [0, 1, 0])
