"""The graph as Planetoid sees it: embeddings of graphs in which many nodes have the same neighbours."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.models import graph_inputs
from planetoid.models.graph_inputs import MANY_CLASSES, beside_spectrum, connected, graph_features


def two_stars(n_leaves: int = 40, *, directed: bool = False) -> Dataset:
    """Return two connected hubs, each with leaves."""
    leaves = np.arange(2, 2 + 2 * n_leaves)
    graph = pl.Graph.from_edges(np.append(leaves % 2, 0), np.append(leaves, 1), directed=directed)
    return Dataset(
        "stars", graph, None, np.where(np.arange(len(leaves) + 2) < 4, [0, 1] * (n_leaves + 1), -1), ["a", "b"]
    )


def embedded(data: Dataset) -> np.ndarray:
    return graph_features(data, connected(data, None, None), seed=0, n_jobs=None, verbose=0).toarray()


def test_nodes_with_the_same_neighbours_have_one_embedding():
    data = two_stars()
    x = embedded(data)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-5)
    assert len(np.unique(x.round(6), axis=0)) == 4
    at = {node: row for row, node in enumerate(data.node_ids)}
    even, odd = ([at[leaf] for leaf in range(2 + side, 82, 2)] for side in (0, 1))
    assert (x[even] == x[even[0]]).all()
    assert (x[odd] == x[odd[0]]).all()
    assert x[even[0]] @ x[at[0]] > x[even[0]] @ x[at[1]]


@pytest.mark.parametrize("directed", [False, True])
def test_walks_between_groups_are_those_between_nodes(monkeypatch, directed):
    """The weights of the smaller graph give the probabilities that a walk goes from group to group."""
    seen = []

    def embed(self, data):
        seen.append(data.graph)
        return np.eye(data.n_nodes, 64, dtype=np.float32)

    monkeypatch.setattr(pl.GraphEmbedding, "embed", embed)
    data = two_stars(directed=directed)
    adjacency = connected(data, None, None)
    graph_inputs.graph_features(data, adjacency, seed=0, n_jobs=None, verbose=0)
    weights = seen[0].to_scipy().toarray()
    np.testing.assert_allclose(weights, weights.T)
    hubs = np.flatnonzero(weights.sum(axis=1) > 40)
    steps = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(steps[hubs].ravel()), [0, 0, 0, 0, 1 / 41, 1 / 41, 40 / 41, 40 / 41])


def test_other_graphs_are_embedded_as_they_are():
    n = 30
    ring = sparse.coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    data = Dataset("ring", pl.Graph.from_scipy(sparse.csr_array(ring + ring.T)), None, np.arange(n) % 2, ["a", "b"])
    assert len(np.unique(embedded(data), axis=0)) == n


def test_the_spectrum_tells_communities_that_an_embedding_does_not():
    """Two communities; the embedding is noise, and the place in the spectrum is not."""
    random = np.random.default_rng(0)
    community = np.arange(200) % 2
    chance = np.where(community[:, None] == community, 0.1, 0.01)
    matrix = sparse.csr_array(np.triu(random.random((200, 200)) < chance, 1).astype(np.float32))
    adjacency = sparse.csr_array(matrix + matrix.T)
    directions = random.normal(size=(200, 8)).astype(np.float32)
    noise = sparse.csr_array(directions / np.linalg.norm(directions, axis=1, keepdims=True))
    both = beside_spectrum(noise, adjacency, 2, seed=0)
    np.testing.assert_allclose(np.linalg.norm(both.toarray(), axis=1), 1.0, rtol=1e-5)
    assert both.shape[1] > noise.shape[1]
    added = both.toarray()[:, noise.shape[1] :]
    np.testing.assert_allclose(np.linalg.norm(added, axis=1), np.sqrt(0.5), rtol=1e-5)
    alike, same = added @ added.T, community[:, None] == community
    assert alike[same].mean() > 2 * alike[~same].mean()
    assert beside_spectrum(noise, adjacency, MANY_CLASSES, seed=0) is noise
