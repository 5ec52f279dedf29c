"""Nodes that no label reaches are labelled by their features, also where predictions are from the graph alone."""

import numpy as np
import pytest

import planetoid as pl

N_REACHED, N_UNREACHED, N_LABELLED = 150, 60, 30
NEW = range(1000, 1000 + N_UNREACHED)
QUICK = {"view": "graph", "random_state": 0, "training__steps": 100}


def planetoid(**parameters):
    return pl.Planetoid().set_params(**QUICK, **parameters)


def within(first, last, y, random):
    """Return edges among some nodes, most of them between nodes of the same class."""
    sources = np.repeat(np.arange(first, last), 4)
    same = random.random(len(sources)) < 0.85
    targets = [
        random.choice(np.flatnonzero((y[first:last] == y[i]) == s)) + first for i, s in zip(sources, same, strict=True)
    ]
    return [(int(i), int(j)) for i, j in zip(sources, targets, strict=True) if i != j]


@pytest.fixture(scope="module", params=["no edges", "a part without labels"])
def case(request):
    """Three classes; the last nodes have no edges, or edges to each other only."""
    random = np.random.default_rng(0)
    n = N_REACHED + N_UNREACHED
    y = np.arange(n) % 3
    X = np.eye(3)[y] + random.normal(0, 0.4, (n, 3))
    edges = within(0, N_REACHED, y, random)
    more = within(N_REACHED, n, y, random) if request.param != "no edges" else []
    return X, y, edges, more


@pytest.fixture(scope="module")
def fitted(case):
    X, y, edges, more = case
    graph = pl.Graph.of(edges + more, nodes=range(len(y)))
    return planetoid().fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)


@pytest.fixture(scope="module")
def without_them(case):
    """Return a model of the nodes that labels reach."""
    X, y, edges, _ = case
    y = pl.mask_labels(y[:N_REACHED], range(N_LABELLED))
    return planetoid().fit(X[:N_REACHED], y, graph=pl.Graph.of(edges, nodes=range(N_REACHED)))


def accuracy(found, y):
    return (found == y[N_REACHED:]).mean()


def test_fitted_nodes(case, fitted):
    y = case[1]
    assert fitted.view_ == "graph"
    assert (fitted.predict()[:N_REACHED] == y[:N_REACHED]).mean() > 0.9
    assert accuracy(fitted.predict()[N_REACHED:], y) > 0.8


def test_a_saved_model_knows_them(fitted, tmp_path, case):
    X, y = case[:2]
    fitted.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(), fitted.predict_proba())
    edges = [(new, N_REACHED) for new in NEW]  # to a node that no label reaches
    found = loaded.predict_proba(X[N_REACHED:], edges=edges, ids=NEW)
    np.testing.assert_array_equal(found, fitted.predict_proba(X[N_REACHED:], edges=edges, ids=NEW))
    assert accuracy(found.argmax(axis=1), y) > 0.8


def test_new_nodes_without_edges_to_the_others(case, without_them):
    X, y, _, more = case
    model = without_them
    moved = [(i - N_REACHED + NEW[0], j - N_REACHED + NEW[0]) for i, j in more]
    assert accuracy(model.predict(X[N_REACHED:], edges=moved, ids=NEW), y) > 0.8
    assert accuracy(model.predict(X[N_REACHED:]), y) > 0.8


def test_new_nodes_with_an_edge_are_labelled_by_it(case, without_them):
    """Features say one class, the edges to labelled nodes another."""
    y, model = case[1], without_them
    to = [("new", int(node)) for node in np.flatnonzero(y[:N_LABELLED] == 1)]
    assert model.predict(np.eye(3)[[2]], edges=to, ids=["new"]).tolist() == [1]


def test_the_score_that_is_explained_is_that_of_the_prediction(case):
    X, y, edges, more = case
    graph = pl.Graph.of(edges + more, nodes=range(len(y)))
    model = planetoid(calibrate=False)
    model.fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    for node in (3, N_REACHED + 1, N_REACHED + 2):
        runner_up, best = np.sort(model.predict_proba(nodes=[node])[0])[-2:]
        assert model.explain(node).score == pytest.approx(np.log(best / runner_up), abs=1e-3)


def test_without_features_of_labelled_nodes_nothing_is_learned_from_features(case):
    X, y, edges, more = case
    X = X.copy()
    X[:N_LABELLED] = 0
    graph = pl.Graph.of(edges + more, nodes=range(len(y)))
    model = planetoid().fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    assert model._unreached is None


@pytest.fixture(scope="module")
def half():
    """Two of three nodes have features, and predictions are made from these."""
    random = np.random.default_rng(0)
    n = 300
    y = np.arange(n) % 3
    X = 3 * np.eye(3)[y] + random.normal(0, 0.5, (n, 3))
    X[100:] *= (random.random(200) < 0.5)[:, None]
    graph = pl.Graph.of(within(0, n, y, random), nodes=range(n))
    model = pl.Planetoid(view="features").set_params(random_state=0, training__steps=100)
    return model.fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph), X, y


class TestNodesWithoutFeatures:
    """Where predictions are made from each node's own features, the others have those of the nodes around them."""

    def test_fitted_nodes(self, half):
        model, X, y = half
        missing = ~X.any(axis=1)
        assert (model.predict()[missing] == y[missing]).mean() > 0.85
        assert (model.predict()[~missing] == y[~missing]).mean() > 0.95

    def test_new_nodes(self, half):
        model, _, y = half
        edges = [(1000 + k, int(node)) for k in range(3) for node in np.flatnonzero(y == k)[:5]]
        assert model.predict(edges=edges).tolist() == [0, 1, 2]
        some = np.array([[3.0, 0, 0], [0, 0, 0], [0, 0, 3.0]])
        assert model.predict(some, edges=edges, ids=[1000, 1001, 1002]).tolist() == [0, 1, 2]

    def test_saved_models(self, half, tmp_path):
        model, _, y = half
        model.save(tmp_path / "model")
        loaded = pl.load(tmp_path / "model")
        edges = [(1000, int(node)) for node in np.flatnonzero(y == 1)[:5]]
        np.testing.assert_array_equal(loaded.predict_proba(edges=edges), model.predict_proba(edges=edges))

    def test_reasons(self, half):
        model, X, _ = half
        node = int(np.flatnonzero(~X.any(axis=1))[0])
        neighbours = next(group for group in model.explain(node).groups if group.kind == "neighbours")
        assert neighbours.reasons
        assert node not in {reason.name for reason in neighbours.reasons}


@pytest.mark.parametrize("view", ["features", "graph"])
def test_reasons_of_a_node_that_nothing_is_known_about(view):
    """It has neither features nor edges, and gets the class prior."""
    random = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = 3 * np.eye(3)[y] + random.normal(0, 0.5, (150, 3))
    X[149] = 0
    graph = pl.Graph.of(within(0, 149, y, random), nodes=range(150))
    model = pl.Planetoid(view=view, calibrate=False).set_params(random_state=0, training__steps=50)
    model.fit(X, pl.mask_labels(y, range(40)), graph=graph)
    runner_up, best = np.sort(model.predict_proba(nodes=[149])[0])[-2:]
    found = model.explain(149)
    assert found.score == pytest.approx(np.log(best / runner_up), abs=1e-6)
    assert not any(group.reasons for group in found.groups)
    assert "nothing is known" in found.note
