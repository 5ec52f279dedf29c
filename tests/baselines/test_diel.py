"""Diel: its walks against the dense solution, its parts alone, and recall on synthetic lists."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import planetoid as pl
from planetoid.baselines.diel import walk_scores
from planetoid.errors import ParameterError, PlanetoidWarning


def test_walks_equal_the_dense_solution(random_weighted_graph, few_labels):
    """V = (1 - d) (I - d A D^-1)^-1 R, divided by the degrees."""
    matrix, y = random_weighted_graph(60, 2), few_labels(60, 3, 2)
    degrees = matrix.sum(axis=0, dtype=float)
    restart = np.zeros((60, 3))
    restart[y >= 0, y[y >= 0]] = 1 / 3  # three labels per class
    walk = 0.3 * np.linalg.solve(np.eye(60) - 0.7 * matrix / degrees[None, :], restart)
    np.testing.assert_allclose(walk.sum(axis=0), 1.0)
    found = walk_scores(sparse.csr_array(matrix), y, 3, damping=0.7)
    np.testing.assert_allclose(found, walk / degrees[:, None], atol=1e-9)


@pytest.fixture(scope="module")
def lists():
    return pl.datasets.make_coordinate_lists(scale=0.02, purity=0.88, seed=5)


@pytest.fixture(scope="module")
def few_lists():
    return pl.datasets.make_coordinate_lists(scale=0.002, seed=5)


def test_better_than_propagation_alone_and_the_classifier_alone(lists):
    with pytest.warns(PlanetoidWarning, match="can say nothing about"):
        propagated = pl.LabelPropagation().fit(y=lists.y, graph=lists.graph).predict_proba()
    by_lists = max(lists.recall_at_k(lists.item_scores(propagated, how)) for how in ("max", "mean"))
    classifier = pl.Diel(growth=0).fit(lists.X, lists.y, graph=lists.graph).scores_
    by_features = max(lists.recall_at_k(lists.item_scores(classifier, how)) for how in ("max", "mean"))
    model = pl.Diel().fit(lists.X, lists.y, graph=lists.graph)
    both = lists.recall_at_k(model.scores_[lists.n_lists :])
    assert both > by_lists + 0.1
    assert both > by_features + 0.02
    assert both == pytest.approx(lists.recall_at_k(lists.item_scores(model.scores_, "mean")), abs=1e-3)


def test_without_growth_it_is_the_svm_on_the_labels(few_lists):
    model = pl.Diel(growth=0, tol=1e-8, max_iter=100_000).fit(few_lists.X, few_lists.y, graph=few_lists.graph)
    rows = np.flatnonzero(few_lists.y >= 0)
    X = sparse.csr_matrix(normalize(few_lists.X))
    svm = LinearSVC(loss="hinge", tol=1e-8, max_iter=100_000).fit(X[rows], few_lists.y[rows])
    assert model.n_examples_ == len(rows)
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-3)


def test_growth_counts_and_keeps_the_labels(few_lists):
    model = pl.Diel(growth=3).fit(few_lists.X, few_lists.y, graph=few_lists.graph)
    assert model.n_examples_ == 4 * (few_lists.y >= 0).sum()


def test_items_have_the_weighted_mean_of_their_lists_and_are_ranked():
    """Lists a-d have features, items p, q, r have none; r is in no list."""
    nodes = ["a", "b", "c", "d", "p", "q", "r"]
    graph = pl.Graph.from_edges(list("abccd"), list("ppqpq"), [1.0, 1.0, 2.0, 3.0, 1.0], nodes=nodes)
    X = np.zeros((7, 2), dtype=np.float32)
    X[[0, 1], 0] = X[[2, 3], 1] = 1.0
    model = pl.Diel(growth=0)
    with pytest.warns(PlanetoidWarning, match="nothing about 1 of 7 nodes"):
        model.fit(X, {"a": "left", "b": "left", "c": "right", "d": "right"}, graph=graph)
    s = model.scores_
    np.testing.assert_allclose(s[4], (s[0] + s[1] + 3 * s[2]) / 5)
    np.testing.assert_allclose(s[5], (2 * s[2] + s[3]) / 3)
    assert np.isnan(s[6]).all()
    items, classes, scores = model.rank(10)
    assert (items[0], classes[0]) == ("q", "right")
    assert set(items) == {"p", "q"}
    assert len(items) == 4
    assert (np.diff(scores) <= 0).all()
    items, classes, _ = model.rank(1, nodes=["a", "p"])
    assert (items[0], classes[0]) == ("a", "left")


def test_warns_when_the_svm_did_not_converge(few_lists):
    with pytest.warns(PlanetoidWarning, match="the SVM did not converge"):
        pl.Diel(max_iter=1, tol=1e-12, C=100).fit(few_lists.X, few_lists.y, graph=few_lists.graph)


@pytest.mark.parametrize(("name", "value"), [("growth", -1), ("damping", 1), ("C", 0), ("row_normalize", "l3")])
def test_invalid_parameters(name, value, few_lists):
    with pytest.raises(ParameterError, match=f"{name} must be .*, got {value!r}"):
        pl.Diel(**{name: value}).fit(few_lists.X, few_lists.y, graph=few_lists.graph)
