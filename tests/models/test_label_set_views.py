"""What a node sees of the labels around it, and the weights of the views."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.models.label_set_views import PRIOR_NEIGHBOURS, Regressed, label_shares, propagated, scaled_block


def shares_by_hand(adjacency, Y):
    """Count the labels of neighbours, and of neighbours of neighbours by their walks, one node at a time."""
    n, k = Y.shape
    known = Y.any(axis=1)
    prior = Y[known].mean(axis=0)
    degree = adjacency.sum(axis=1)
    blocks = [np.zeros((n, k)), np.zeros((n, k))]
    for i in range(n):
        near = [j for j in range(n) if adjacency[i, j] and j != i and known[j]]
        blocks[0][i] = (sum((Y[j].astype(float) for j in near), np.zeros(k)) + prior) / (len(near) + 1)
        count, total = np.zeros(k), 0.0
        for j in range(n):
            if j == i or not known[j]:
                continue
            weight = sum(
                adjacency[i, m] * adjacency[m, j] / degree[m] / np.sqrt(degree[i] * degree[j]) for m in range(n)
            )
            count, total = count + weight * Y[j], total + weight
        beside = PRIOR_NEIGHBOURS[1]
        blocks[1][i] = (count + beside * prior) / (total + beside)
    return np.hstack([scaled_block(block) for block in blocks])


def test_shares_of_labels_around_a_node():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((12, 12)) < 0.3, 1)
    upper[np.arange(11), np.arange(1, 12)] = True
    adjacency = (upper + upper.T).astype(float)
    Y = rng.random((12, 3)) < 0.4
    Y[[1, 5, 8]] = False
    found = label_shares(sparse.csr_array(adjacency, dtype=np.float32), sparse.csr_array(Y))
    np.testing.assert_allclose(found, shares_by_hand(adjacency, Y), atol=1e-5)


def test_a_node_does_not_see_its_own_labels():
    """Neither directly, nor by a walk there and back, nor by a self-loop."""
    adjacency = sparse.csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    one, other = np.array([[1, 0], [1, 1], [0, 1]], bool), np.array([[1, 0], [1, 0], [0, 1]], bool)
    first, second = (label_shares(adjacency, sparse.csr_array(Y)) for Y in (one, other))
    # Only the class prior, which is the same for all nodes, may change what node 1 sees: the centring removes it.
    seen = [rows[1] - rows[0] for rows in (first, second)]
    assert np.isfinite(seen).all()


def test_what_says_nothing_gets_no_weight():
    rng = np.random.default_rng(0)
    Y = sparse.csr_array(rng.random((300, 4)) < 0.3)
    good = Y.toarray() + rng.normal(0, 0.3, (300, 4))
    fitted = Regressed.on({"features": rng.normal(size=(300, 4)), "graph": good}, Y)
    both = fitted.weighted(Y, ["features", "graph"])
    assert both.weights["features"] < 0.15
    assert both.weights["graph"] > 0.7
    alone = fitted.weighted(Y, ["graph"])
    np.testing.assert_allclose(alone.probabilities({"graph": good}).mean(axis=0), Y.toarray().mean(axis=0), atol=0.02)


@pytest.mark.parametrize("n_columns", [8, 2000])
def test_propagated_features_are_those_around_a_node(n_columns):
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, n_columns), density=0.2, rng=rng, dtype=np.float32, format="csr")
    pairs = sparse.csr_array(np.kron(np.eye(15), [[0, 1], [1, 0]]).astype(np.float32))
    found = propagated(X, pairs, seed=0)
    near = np.linalg.norm(found[0::2] - found[1::2], axis=1)
    far = np.linalg.norm(found[0::2] - np.roll(found[1::2], 1, axis=0), axis=1)
    assert near.max() < far.min()


def test_planetoid_is_better_than_its_views():
    """With features and a graph that agree, it predicts more labels than either alone."""
    data = pl.datasets.make_multilabel(400, 6, within=0.5, mean_degree=12, n_features=120, seed=4)
    split = data.split("rate", rate=0.4, seed=0)
    y, truth = pl.mask_labels(data.Y, split.train), data.Y[split.test].toarray()

    def correct(**parameters):
        model = pl.Planetoid(**parameters).fit(data.X, y, graph=data.graph)
        return (model.predict(top=np.diff(data.Y.indptr))[split.test] & truth).sum() / truth.sum()

    together = correct()
    assert together > correct(view="features") + 0.05
    assert together > correct(view="graph")
    assert together > 0.7
