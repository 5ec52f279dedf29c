"""Methods on a graph within scikit-learn's tools."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

import planetoid as pl
from planetoid.errors import DataError
from planetoid.model_selection import LabelledNodesKFold, NodeClassifier


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


def test_folds_of_labelled_nodes_hide_labels_and_keep_nodes(data):
    y = pl.mask_labels(np.array(["a", "b", "c"], dtype=object)[data.y], np.arange(0, 300, 5))
    folds = list(LabelledNodesKFold(4).split(data.node_ids, y))
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested.tolist()) == list(range(0, 300, 5))
    for train, test in folds:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(300))
        per_class = [sum(y[row] == label for row in test) for label in "abc"]
        whole = [sum(label == one for one in y) for label in "abc"]
        assert all(abs(part - count / 4) < 1 for part, count in zip(per_class, whole, strict=True))


def test_cross_validation_by_folds_of_labelled_nodes(data):
    y = pl.mask_labels(data.y, np.arange(0, 300, 5))
    folds = LabelledNodesKFold(4, random_state=3)
    model = NodeClassifier(pl.PropagatedFeatures(), data)
    scores = cross_val_score(model, data.node_ids, y, cv=folds, error_score="raise")
    by_hand = []
    for train, test in folds.split(None, y):
        fitted = pl.PropagatedFeatures().fit(data.X, pl.mask_labels(y, train), graph=data.graph)
        by_hand.append((fitted.predict()[test] == y[test]).mean())
    assert scores.tolist() == by_hand


def test_folds_of_labelled_nodes_are_drawn_by_the_seed():
    y = np.arange(60) % 3
    one, same, other = (
        [test.tolist() for _, test in LabelledNodesKFold(3, random_state=seed).split(None, y)] for seed in (0, 0, 1)
    )
    assert one == same
    assert one != other
    in_order = [test.tolist() for _, test in LabelledNodesKFold(3, shuffle=False).split(None, y)]
    assert in_order[0] == list(range(20))[: len(in_order[0])]
    assert LabelledNodesKFold(3).get_n_splits() == 3
    assert clone(LabelledNodesKFold(7)).n_splits == 7


def test_too_few_labels_for_the_folds():
    with pytest.raises(DataError, match="2 labels are too few for n_splits=5"):
        list(LabelledNodesKFold().split(None, [0, 1, -1, None]))


def test_a_pipeline_passes_the_graph_to_its_last_step(data):
    """New rows are prepared by the steps before, as those of the fit were."""
    y = pl.mask_labels(data.y, np.arange(0, 300, 5))
    steps = Pipeline([("words", TfidfTransformer()), ("model", pl.ManifoldRegularization())])
    found = steps.fit(data.X, y, model__graph=data.graph).predict(data.X[:20])
    prepared = TfidfTransformer().fit_transform(data.X)
    by_hand = pl.ManifoldRegularization().fit(prepared, y, graph=data.graph).predict(prepared[:20])
    assert found.tolist() == by_hand.tolist()


def test_node_classifiers_are_shown_as_html(data):
    assert "NodeClassifier" in NodeClassifier(pl.LabelPropagation(), data)._repr_html_()


def test_what_is_not_a_list_of_nodes_is_refused(data):
    model = NodeClassifier(pl.LabelPropagation(), data)
    with pytest.raises(DataError, match="one node id per row"):
        model.fit(np.zeros((3, 2)), [0, 1, 2])
    with pytest.raises(DataError, match="2 labels for 3 nodes"):
        model.fit(data.node_ids[:3], [0, 1])
    with pytest.raises(DataError, match="1000000"):
        model.fit([0, 1, 1000000], [0, 1, 0])
