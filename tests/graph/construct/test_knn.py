"""knn_graph against its definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.graph.construct import knn_graph

generator = np.random.default_rng(0)
DENSE = generator.normal(size=(60, 5))
WORDS = sparse.random_array((80, 40), density=0.15, rng=1, format="csr", dtype=np.float32)
WORDS = WORDS[np.diff(WORDS.indptr) > 0]


def dense_distances(X, metric):
    X = X.toarray() if sparse.issparse(X) else X
    if metric == "cosine":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def reference(X, k, metric, mode):
    """The definition, by an n x n table."""
    distance = dense_distances(X, metric)
    np.fill_diagonal(distance, np.inf)
    near = np.zeros_like(distance, dtype=bool)
    np.put_along_axis(near, np.argsort(distance, axis=1)[:, :k], True, axis=1)
    if metric == "cosine":
        near &= distance < np.sqrt(2) - 1e-6
    return near | near.T if mode == "union" else near & near.T


@pytest.mark.parametrize("X", [DENSE, WORDS], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("mode", ["union", "mutual"])
def test_against_the_definition(X, metric, mode):
    graph = knn_graph(X, 4, metric=metric, mode=mode)
    assert np.array_equal(graph.to_scipy().toarray() > 0, reference(X, 4, metric, mode))
    assert graph.weights is None


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_weights_by_similarity(metric):
    found = knn_graph(DENSE, 3, metric=metric, weights="similarity").to_scipy().toarray()
    distance = dense_distances(DENSE, metric)
    expected = 1 - distance**2 / 2 if metric == "cosine" else 1 / (1 + distance)
    edges = reference(DENSE, 3, metric, "union")
    assert np.allclose(found, np.where(edges, expected, 0), atol=1e-6)


def test_weights_by_heat():
    distance = dense_distances(DENSE, "euclidean")
    edges = reference(DENSE, 3, "euclidean", "union")
    for bandwidth in (0.7, None):
        found = knn_graph(DENSE, 3, metric="euclidean", weights="heat", bandwidth=bandwidth).to_scipy().toarray()
        width = bandwidth or np.median(np.sort(distance, axis=1)[:, 3])
        assert np.allclose(found, np.where(edges, np.exp(-(distance**2) / (2 * width**2)), 0), atol=1e-6)


def test_orthogonal_rows_are_not_connected():
    X = np.array([[1.0, 0, 0], [2.0, 0, 0], [0, 1.0, 0], [0, 3.0, 0], [0, 0, 1.0]])
    graph = knn_graph(X, 3)
    assert [graph.neighbors(node).tolist() for node in range(5)] == [[1], [0], [3], [2], []]


def test_rows_of_zeros_stay_isolated():
    for form in (np.asarray, sparse.csr_array):
        X = form(np.array([[1.0, 0], [0, 0], [1, 0.5], [0, 0]]))
        with pytest.warns(PlanetoidWarning, match=r"^2 rows of zeros have no direction and stay isolated$"):
            graph = knn_graph(X, 2)
        assert graph.degrees.tolist() == [1, 0, 1, 0]
    with pytest.warns(PlanetoidWarning, match="3 rows of zeros"):
        assert knn_graph(np.zeros((3, 2)), 1).n_edges == 0


def test_equal_rows_are_connected_but_no_row_with_itself():
    X = np.repeat(DENSE[:5], 4, axis=0)
    graph = knn_graph(X, 3, metric="euclidean", weights="heat")
    assert (graph.to_scipy().diagonal() == 0).all()
    assert (graph.components() == graph.components()[::4].repeat(4)).all()
    assert graph.degrees.tolist() == [3] * 20


def test_node_ids():
    frame = pd.DataFrame(DENSE[:10], index=[f"n{k}" for k in range(10)])
    assert knn_graph(frame, 2).node_ids.tolist() == list(frame.index)
    assert knn_graph(DENSE[:3], 1, nodes="abc").node_ids.tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match="2 node ids for 3 rows"):
        knn_graph(DENSE[:3], 1, nodes="ab")


def test_memory_is_not_quadratic(monkeypatch):
    """A sparse input is never made dense, and no n x n table is allocated."""
    import tracemalloc

    n = 8000
    X = sparse.random_array((n, 2000), density=0.01, rng=2, format="csr", dtype=np.float32)
    monkeypatch.setattr(type(X), "toarray", None)
    knn_graph(X[:50], 3)  # imports
    tracemalloc.start()
    knn_graph(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be an integer from 1 to 59, got 0"),
        ({"k": 60}, "k must be an integer from 1 to 59, got 60"),
        ({"metric": "manhattan"}, "metric must be 'cosine' or 'euclidean', got 'manhattan'"),
        ({"mode": "both"}, "mode must be 'union' or 'mutual', got 'both'"),
        ({"weights": "distance"}, "weights must be 'similarity', 'heat' or None, got 'distance'"),
        ({"bandwidth": 1.0}, "bandwidth requires weights='heat', got None"),
        ({"weights": "heat", "bandwidth": 0}, "bandwidth must be a number > 0 or None, got 0"),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0 or None, got 0"),
    ],
)
def test_invalid_parameters(options, message):
    with pytest.raises(ParameterError) as caught:
        knn_graph(DENSE, **options)
    assert str(caught.value) == f"knn_graph: {message}"


def test_invalid_features():
    for X in ([[1.0, np.nan], [0, 1]], [["a", "b"], ["c", "d"]], [1.0, 2.0]):
        with pytest.raises(DataError, match=r"^invalid X: "):
            knn_graph(X, 1)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 100))
def test_mutual_is_within_union(n, k, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    k = min(k, n - 1)
    union, mutual = (knn_graph(X, k, metric="euclidean", mode=mode) for mode in ("union", "mutual"))
    assert (union.degrees >= k).all()
    assert (mutual.degrees <= k).all()
    assert ((mutual.to_scipy() - union.to_scipy()) > 0).nnz == 0
