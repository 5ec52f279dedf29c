"""PropagatedFeatures against the dense matrices that it never forms."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import planetoid as pl
from planetoid.engine import filters
from planetoid.engine.filters import Filter
from planetoid.errors import ParameterError
from planetoid.graph.adjacency import normalized_adjacency

VARIANTS = ("ssgc", "sgc")


def dense_filter(matrix, variant, K, alpha):
    """S, written out as in the papers; the self-loops have the mean edge weight."""
    looped = matrix.astype(float) + matrix[matrix > 0].mean(dtype=float) * np.eye(len(matrix))
    root = 1 / np.sqrt(looped.sum(axis=1))
    hat = root[:, None] * looped * root[None, :]
    powers = [np.linalg.matrix_power(hat, k) for k in range(1, K + 1)]
    if variant == "sgc":
        return powers[-1]
    return np.mean([(1 - alpha) * power + alpha * np.eye(len(matrix)) for power in powers], axis=0)


def random_features(n, n_features, seed):
    rng = np.random.default_rng(seed)
    return (rng.random((n, n_features)) * (rng.random((n, n_features)) < 0.3)).astype(np.float32)


@pytest.mark.parametrize("n_features", [4, 30])  # fewer and more than the nine labels
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_equals_softmax_regression_on_dense_propagated_features(
    kind, variant, n_features, random_weighted_graph, few_labels
):
    matrix, y, X = random_weighted_graph(60, 1), few_labels(60, 3, 1), random_features(60, n_features, 1)
    model = pl.PropagatedFeatures(variant=variant, K=3, alpha=0.2, C=2.0, row_normalize="l2")
    found = model.fit(kind(X), y, graph=sparse.csr_array(matrix)).predict_proba()

    rows = dense_filter(matrix, variant, 3, 0.2) @ normalize(X)
    rows /= np.sqrt((rows[y >= 0] ** 2).sum(axis=1).mean())
    solver = LogisticRegression(C=2.0, tol=1e-8, max_iter=10_000).fit(rows[y >= 0], y[y >= 0])
    np.testing.assert_allclose(found, solver.predict_proba(rows), atol=1e-4)
    np.testing.assert_array_equal(model.predict(), solver.predict(rows))


def test_two_classes(random_weighted_graph, few_labels):
    matrix, y, X = random_weighted_graph(40, 2), few_labels(40, 2, 2), random_features(40, 20, 2)
    found = pl.PropagatedFeatures(K=2, C=1.0, row_normalize=None).fit(X, y, graph=sparse.csr_array(matrix))
    rows = dense_filter(matrix, "ssgc", 2, 0.1) @ X
    rows /= np.sqrt((rows[y >= 0] ** 2).sum(axis=1).mean())
    solver = LogisticRegression(C=1.0, tol=1e-8, max_iter=10_000).fit(rows[y >= 0], y[y >= 0])
    np.testing.assert_allclose(found.predict_proba(), solver.predict_proba(rows), atol=1e-4)
    assert found.coef_.shape == (1, 20)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_labelled", [5, 25])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_by_nodes_and_by_features(kind, n_labelled, variant, monkeypatch, random_weighted_graph):
    """Both ways, in blocks that do not divide the number of columns."""
    monkeypatch.setattr(filters, "BLOCK", 4)
    matrix, X = random_weighted_graph(30, 5), random_features(30, 15, 5)
    nodes = np.random.default_rng(0).permutation(30)[:n_labelled]
    filter_ = Filter(normalized_adjacency(sparse.csr_array(matrix)), variant, 4, 0.3)
    expected = dense_filter(matrix, variant, 4, 0.3) @ X
    np.testing.assert_allclose(filter_.rows(kind(X), nodes), expected[nodes], atol=1e-6)
    np.testing.assert_allclose(filter_(X), expected, atol=1e-6)


def test_normalized_adjacency_by_hand():
    """Edges of weight 1 and 3 and self-loops of their mean, 2: the degrees are 3, 6 and 5."""
    matrix = np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]], dtype=np.float32)
    expected = np.array(
        [
            [2 / 3, 1 / np.sqrt(18), 0],
            [1 / np.sqrt(18), 2 / 6, 3 / np.sqrt(30)],
            [0, 3 / np.sqrt(30), 2 / 5],
        ]
    )
    np.testing.assert_allclose(normalized_adjacency(sparse.csr_array(matrix)).toarray(), expected, rtol=1e-6)
    unweighted = normalized_adjacency(sparse.csr_array(np.array([[0, 1.0], [1.0, 0]], dtype=np.float32)))
    np.testing.assert_allclose(unweighted.toarray(), [[0.5, 0.5], [0.5, 0.5]])


def test_the_unit_of_weights_does_not_matter(random_weighted_graph, few_labels):
    matrix, y, X = random_weighted_graph(40, 3), few_labels(40, 3, 3), random_features(40, 10, 3)
    found = [
        pl.PropagatedFeatures().fit(X, y, graph=sparse.csr_array(unit * matrix)).predict_proba() for unit in (1.0, 1e-3)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)


def test_a_directed_edge_counts_in_both_directions(few_labels):
    rng = np.random.default_rng(4)
    edges, y, X = rng.integers(0, 30, (2, 60)), few_labels(30, 2, 4), random_features(30, 8, 4)
    directed = pl.Graph.from_edges(*edges, directed=True, nodes=30)
    both_ways = directed.to_scipy() + directed.to_scipy().T
    found = pl.PropagatedFeatures().fit(X, y, graph=directed).predict_proba()
    np.testing.assert_array_equal(found, pl.PropagatedFeatures().fit(X, y, graph=both_ways).predict_proba())


def test_an_isolated_node_keeps_its_own_features(few_labels):
    graph = pl.Graph.from_edges(np.arange(28), np.arange(1, 29), nodes=30)
    y, X = few_labels(29, 3, 6), random_features(30, 12, 6)
    model = pl.PropagatedFeatures(row_normalize=None, calibrate=False).fit(X, np.append(y, -1), graph=graph)
    scores = X[29] @ model.coef_.T + model.intercept_
    expected = np.exp(scores - scores.max())
    np.testing.assert_allclose(model.predict_proba()[29], expected / expected.sum(), atol=1e-5)


def test_automatic_penalty_depends_on_the_labels_per_class(random_weighted_graph, few_labels):
    matrix, y, X = sparse.csr_array(random_weighted_graph(60, 8)), few_labels(60, 3, 8), random_features(60, 30, 8)
    found = pl.PropagatedFeatures(calibrate=False).fit(X, y, graph=matrix).predict_proba()
    explicit = pl.PropagatedFeatures(C=0.3 * 3, calibrate=False).fit(X, y, graph=matrix).predict_proba()
    np.testing.assert_array_equal(found, explicit)


def test_features_are_never_densified():
    """20,000 nodes x 20,000 features are 1.6 GB as dense float32; the peak has to stay far below."""
    n = 20_000
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (np.ones(5 * n, dtype=np.float32), (np.repeat(np.arange(n), 5), rng.integers(0, n, 5 * n))), shape=(n, n)
    )
    y = np.full(n, -1)
    y[:30] = np.arange(30) % 3
    graph = pl.Graph.from_edges(rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n), nodes=n)
    tracemalloc.start()
    pl.PropagatedFeatures(K=2).fit(X, y, graph=graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20


def test_better_than_features_alone_on_real_data():
    data = pl.datasets.load("cora-bundled")
    split = data.split("random", seed=0)
    y = pl.mask_labels(data.y, split.train)

    def accuracy(model, **given):
        return (model.fit(data.X, y, **given).predict()[split.test] == data.y[split.test]).mean()

    assert accuracy(pl.PropagatedFeatures(), graph=data.graph) > accuracy(pl.Feat()) + 0.15


@pytest.mark.parametrize(
    ("name", "value"),
    [("variant", "gcn"), ("K", 0), ("alpha", 1.0), ("C", 0.0), ("C", "best"), ("row_normalize", "l3")],
)
def test_invalid_parameters(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be .*, got {value!r}"):
        pl.PropagatedFeatures(**{name: value}).fit(np.eye(2), [0, 1], graph=[(0, 1)])
