"""Graphs in which joined nodes differ in a regular way."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.models.hops import DIMENSION, Hops, _normalized, _regularized

N, N_CLASSES, N_LABELLED = 400, 5, 100
QUICK = {"random_state": 0, "training__steps": 100}


def ring(random, y, share=0.9, degree=8):
    """Return edges from each class to the next; some lead anywhere."""
    sources = np.repeat(np.arange(len(y)), degree // 2)
    anywhere = random.integers(0, N_CLASSES, len(sources))
    wanted = np.where(random.random(len(sources)) < share, (y[sources] + 1) % N_CLASSES, anywhere)
    targets = [random.choice(np.flatnonzero(y == k)) for k in wanted]
    return [(int(i), int(j)) for i, j in zip(sources, targets, strict=True) if i != j]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    y = random.integers(0, N_CLASSES, N)
    X = (0.4 * np.eye(N_CLASSES)[y] @ random.normal(size=(N_CLASSES, 20)) + random.normal(size=(N, 20))).astype("f4")
    return X, y, ring(random, y)


@pytest.fixture(scope="module")
def graph(data):
    return pl.Graph.of(data[2], nodes=range(N))


@pytest.fixture(scope="module")
def fitted(data, graph):
    X, y, _ = data
    return pl.Planetoid().set_params(**QUICK).fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)


def accuracy(model, y):
    return (model.predict()[N_LABELLED:] == y[N_LABELLED:]).mean()


def test_the_view_is_chosen_and_better_than_all_others(data, graph, fitted):
    X, y, _ = data
    assert fitted.view_ == "hops"
    for view in ("features", "neighbourhood", "graph"):
        other = pl.Planetoid(view=view).set_params(**QUICK).fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
        assert accuracy(fitted, y) > accuracy(other, y) + 0.1
    assert accuracy(fitted, y) > 0.85


def test_without_features(data, graph):
    y = data[1]
    model = pl.Planetoid().set_params(**QUICK).fit(None, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    assert model.view_ == "hops"
    assert accuracy(model, y) > 0.8
    propagated = pl.LabelPropagation().fit(None, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    assert accuracy(propagated, y) < 0.5


def test_it_is_not_chosen_where_joined_nodes_are_alike():
    data = pl.datasets.make_citation(400, seed=0)
    split = data.split("random", per_class=20, n_val=0, n_test=100, seed=0)
    model = pl.Planetoid().set_params(**QUICK)
    assert model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph).view_ != "hops"


def test_few_labels_do_not_choose_it(data, graph):
    X, y, _ = data
    few = np.concatenate([np.flatnonzero(y == k)[:1] for k in range(N_CLASSES)])
    assert pl.Planetoid().set_params(**QUICK).fit(X, pl.mask_labels(y, few), graph=graph).view_ != "hops"


def adjacency_of(edges, n):
    rows, columns = np.array(edges).T
    matrix = sparse.coo_array((np.ones(len(edges)), (rows, columns)), shape=(n, n))
    return sparse.csr_array(((matrix + matrix.T) > 0).astype(np.float32))


@pytest.fixture(scope="module")
def parts(data):
    X, _, edges = data
    A = adjacency_of(edges, N)
    return Hops.of(X, A, seed=0), X, A


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def test_rows_are_the_stated_blocks(parts):
    hops, X, A = parts
    dense = A.toarray().astype(np.float64)
    degrees = dense.sum(axis=1)
    step = dense / np.sqrt(np.outer(degrees, degrees))
    more = degrees + degrees.mean()
    values, vectors = np.linalg.eigh(dense / np.sqrt(np.outer(more, more)))
    largest = np.argsort(-np.abs(values))[:DIMENSION]
    place = unit(vectors[:, largest] * values[largest] ** 2)
    found = hops.rows(A).toarray()
    blocks = np.hstack([unit(X), unit(step @ X), unit(step @ step @ X)])
    np.testing.assert_allclose(found[:, : blocks.shape[1]], blocks, atol=1e-5)
    own = found[:, blocks.shape[1] :]  # the same up to the order and the signs of eigenvectors
    np.testing.assert_allclose(own @ own.T, place @ place.T, atol=0.02)


def test_rows_of_some_nodes(parts):
    hops, _, A = parts
    some = np.array([3, 17, 200])
    np.testing.assert_allclose(hops.rows(A, some).toarray(), hops.rows(A).toarray()[some], atol=1e-6)


def test_new_nodes_have_the_rows_of_the_larger_graph(data):
    """The features of new nodes are as if they had been there; their place is by the places of their neighbours."""
    X, _, edges = data
    A, n_old = adjacency_of(edges, N), N - 20
    old = Hops.of(X[:n_old], sparse.csr_array(A[:n_old, :n_old]), seed=0)
    found = old.extended(A, sparse.csr_array(X[n_old:])).toarray()
    whole = Hops.of(X, A, seed=0).rows(A).toarray()[n_old:]
    n_blocks = 3 * X.shape[1]
    np.testing.assert_allclose(found[:, :n_blocks], whole[:, :n_blocks], atol=1e-5)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.norm(found[:, n_blocks:], axis=1), 1.0, atol=1e-5)


def test_reasons_add_up(parts):
    hops, X, A = parts
    weights = np.random.default_rng(1).normal(size=3 * X.shape[1] + len(hops.values))
    for row in (0, 5, 123):
        reasons = hops.reasons(A, row, weights)
        of_row = hops.rows(A).toarray()[row]
        np.testing.assert_allclose(reasons.neighbours.sum(), of_row @ weights, rtol=1e-4, atol=1e-4)
        of_blocks = of_row[: 3 * X.shape[1]] @ weights[: 3 * X.shape[1]]
        np.testing.assert_allclose(reasons.features.sum(), of_blocks, rtol=1e-4, atol=1e-4)
        two_steps = ((_normalized(A) @ _normalized(A))[[row]].toarray()[0] > 0) | (A[[row]].toarray()[0] > 0)
        two_steps[row] = True
        assert not reasons.neighbours[~two_steps].any()


def test_eigenvectors(parts):
    hops, _, A = parts
    residual = _regularized(A) @ hops.vectors - hops.vectors * hops.values
    assert np.abs(residual).max() < 1e-2
    assert (hops.values < 0).any()  # neighbours are unlike


def test_saved_models(fitted, data, tmp_path):
    X, y, _ = data
    fitted.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(), fitted.predict_proba())
    np.testing.assert_array_equal(loaded.predict_proba(X[:3] + 1), fitted.predict_proba(X[:3] + 1))
    new = [(1000, int(node)) for node in np.flatnonzero(y == 2)[:6]]
    arguments = {"edges": new, "ids": [1000]}
    np.testing.assert_array_equal(loaded.predict_proba(X[:1], **arguments), fitted.predict_proba(X[:1], **arguments))


def test_new_nodes_with_edges(fitted, data):
    """A node whose neighbours are of the classes k - 1 and k + 1 is of class k; by its neighbours alone too."""
    X, y, _ = data
    random = np.random.default_rng(5)
    truth = np.arange(40) % N_CLASSES
    edges = [
        (1000 + i, int(node))
        for i, k in enumerate(truth)
        for other in ((k - 1) % N_CLASSES, (k + 1) % N_CLASSES)
        for node in random.choice(np.flatnonzero(y == other), 4)
    ]
    centres = np.stack([X[y == k].mean(axis=0) for k in range(N_CLASSES)])
    ids = list(range(1000, 1040))
    assert (fitted.predict(centres[truth], edges=edges, ids=ids) == truth).mean() > 0.9
    assert (fitted.predict(edges=edges) == truth).mean() > 0.8


def test_the_result_does_not_depend_on_n_jobs(data, graph, fitted):
    X, y, _ = data
    again = pl.Planetoid(n_jobs=2).set_params(**QUICK).fit(X, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    np.testing.assert_array_equal(again.predict_proba(), fitted.predict_proba())


def test_reasons_of_a_prediction(fitted, data):
    """Neighbours are reasons, and parts of the score add up."""
    X, _, edges = data
    node = 150
    found = fitted.explain(node, top=3)
    neighbours = next(group for group in found.groups if group.kind == "neighbours")
    around = {j for i, j in edges if i == node} | {i for i, j in edges if j == node} | {node}
    assert any(reason.name in around for reason in neighbours.reasons)
    features = next(group for group in found.groups if group.kind == "features")
    assert {reason.name for reason in features.reasons} <= set(range(X.shape[1]))


def test_new_rows_by_their_features(fitted, data):
    X, y, _ = data
    centres = np.stack([X[y == k].mean(axis=0) for k in range(N_CLASSES)])
    assert (fitted.predict(centres * 2) == np.arange(N_CLASSES)).all()
    assert fitted.transform(centres).shape == (N_CLASSES, fitted.embedding_.shape[1])


def test_a_graph_that_is_too_small_is_refused():
    with pytest.raises(pl.PlanetoidError, match="needs a graph with edges and 64 to"):
        pl.Planetoid(view="hops").fit(None, {0: "a", 3: "b"}, graph=[(0, 1), (1, 2), (2, 3)])


def test_isolated_nodes(data):
    X, y, edges = data
    graph = pl.Graph.of(edges, nodes=range(N + 2))
    more = np.vstack([X, X[:2]])
    y = np.append(y, [-1, -1])
    model = pl.Planetoid(view="hops").set_params(**QUICK).fit(more, pl.mask_labels(y, range(N_LABELLED)), graph=graph)
    assert np.isfinite(model.predict_proba()).all()
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1.0, atol=1e-5)


def test_several_labels_per_node_are_refused(data, graph):
    Y = np.eye(N_CLASSES, dtype=int)[data[1]]
    with pytest.raises(pl.PlanetoidError, match="one label per node"):
        pl.Planetoid(view="hops").fit(data[0], Y, graph=graph)


def test_new_nodes_do_not_depend_on_each_other(fitted, data):
    X, y, _ = data
    edges = [(1000, int(node)) for node in np.flatnonzero(y == 2)[:6]]
    alone = fitted.predict_proba(X[:1], edges=edges, ids=[1000])
    many = fitted.predict_proba(np.repeat(X[:1], 500, axis=0), edges=edges, ids=range(1000, 1500))
    np.testing.assert_allclose(many[:1], alone, atol=1e-6)


def test_reasons_of_a_node_that_is_hardly_in_the_spectrum(parts):
    hops, X, A = parts
    vectors = hops.vectors.copy()
    vectors[5] = 1e-11
    hardly = hops._replace(vectors=vectors)
    weights = np.random.default_rng(1).normal(size=3 * X.shape[1] + len(hops.values))
    found = hardly.reasons(A, 5, weights).neighbours.sum()
    np.testing.assert_allclose(found, hardly.rows(A).toarray()[5] @ weights, rtol=1e-4, atol=1e-4)


def test_a_new_node_with_the_edges_of_a_fitted_one_has_its_place(parts):
    hops, _, A = parts
    node, n_places = 7, len(hops.values)
    neighbours = A[[node]].indices
    extended = sparse.lil_array((N + 1, N + 1), dtype=np.float32)
    extended[:N, :N] = A
    extended[N, neighbours] = extended[neighbours, N] = 1.0
    found = hops.extended(sparse.csr_array(extended), None).toarray()[0, -n_places:]
    assert found @ hops.rows(A).toarray()[node, -n_places:] > 0.98
