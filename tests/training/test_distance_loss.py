"""The squared distance within walks: its value by hand, which pairs are drawn, and its gradient."""

import numpy as np
import pytest
import torch
from scipy import sparse, stats
from tests.engine.test_sampler import exact_walk_pairs, weighted_graph
from tests.training.finite_differences import check_gradient

import planetoid as pl
from planetoid.baselines.smooth_network import SmoothNetwork
from planetoid.training.batches import FeatureRows
from planetoid.training.distance_loss import PairDistanceLoss, WalkPairs, squared_distance
from planetoid.training.randomness import StepRandom

EMBEDDINGS = ("output", "hidden", "auxiliary")
EDGES = pl.Contexts(q=2, d=2)  # whose pairs are the edges


def new_pairs(graph, contexts=EDGES, features=None):
    has_features = np.ones(graph.n_nodes, bool) if features is None else np.asarray(features, bool)
    return WalkPairs(graph, has_features, contexts, seed=0)


def new_network(embedding):
    return SmoothNetwork(
        6, 3, layers=1, width=4, activation="tanh", dropout=0.0, embedding=embedding, dimension=2, random=StepRandom(0)
    )


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_gradient(embedding, as_sparse, margin):
    """Against finite differences, in double precision, on the same pairs each time."""
    rng = np.random.default_rng(0)
    X = (rng.random((30, 6)) < 0.4) * rng.random((30, 6))
    graph = pl.Graph.from_edges(np.arange(30), (np.arange(30) + 3) % 30, rng.random(30) + 0.1)
    network = new_network(embedding).double()
    features = FeatureRows(sparse.csr_array(X) if as_sparse else X)

    def loss():
        return PairDistanceLoss(new_pairs(graph), features, network.embed, batch_size=8, margin=margin, seed=1).loss()

    used = [p for name, p in network.named_parameters() if embedding == "output" or not name.startswith("output")]
    check_gradient(loss, used)


def test_value_by_hand():
    """Two nodes whose outputs are softmax(1, 0) and softmax(0, 1), and one edge between them."""
    network = SmoothNetwork(
        2, 2, layers=0, width=1, activation="relu", dropout=0.0, embedding="output", dimension=1, random=StepRandom(0)
    )
    with torch.no_grad():
        network.output.weight.copy_(torch.eye(2))
    features = FeatureRows(np.eye(2, dtype=np.float32))
    p = np.e / (1 + np.e)
    distance = 2 * (2 * p - 1) ** 2
    graph = pl.Graph.from_edges([0], [1])
    near = PairDistanceLoss(new_pairs(graph), features, network.embed, batch_size=10, margin=0.0, seed=0).loss()
    assert float(near.detach()) == pytest.approx(distance, rel=1e-5)
    # a random pair is the two nodes, or one node twice, whose distance of 0 lacks the whole margin
    one, _ = new_pairs(graph).draw(1000)
    alike = (np.random.default_rng(0).integers(0, 2, 1000) == one).mean()
    both = PairDistanceLoss(new_pairs(graph), features, network.embed, batch_size=1000, margin=0.2, seed=0).loss()
    assert distance > 0.2
    assert float(both.detach()) == pytest.approx(distance + 0.2 * alike, rel=1e-5)


def test_without_a_margin_no_random_pairs_are_drawn():
    pairs, features = new_pairs(pl.Graph.from_edges([0], [1])), FeatureRows(np.eye(2, dtype=np.float32))
    loss = PairDistanceLoss(pairs, features, lambda x: x, batch_size=5, margin=0.0, seed=0)
    loss.loss()
    assert loss.generator.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_random_pairs_have_features():
    """Nodes 0 to 3 have none; a random node is at a squared distance of 16 from any other, so 4 short of the margin."""
    features = FeatureRows(np.diag([0, 0, 0, 0, 8**0.5, 8**0.5, 8**0.5]).astype(np.float32))
    pairs = new_pairs(pl.Graph.from_edges([4, 5, 6], [5, 6, 4], nodes=7), features=np.arange(7) >= 4)
    loss = PairDistanceLoss(pairs, features, lambda x: x, batch_size=300, margin=20.0, seed=0).loss()
    draws = np.random.default_rng(0).integers(0, 3, 300) + 4
    one, _ = new_pairs(pl.Graph.from_edges([4, 5, 6], [5, 6, 4], nodes=7), features=np.arange(7) >= 4).draw(300)
    assert float(loss) == pytest.approx(16 + np.where(draws == one, 20, 4).mean(), rel=1e-5)


def test_squared_distance():
    assert squared_distance(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).tolist() == [25.0]


@pytest.mark.parametrize("features", [[1, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1]], ids=["all", "some"])
def test_pairs_are_those_of_the_walks_whose_nodes_have_features(features):
    """Against the exact distribution of Algorithm 1's positive pairs, restricted to nodes with features."""
    graph, has = weighted_graph(), np.asarray(features, bool)
    pairs = new_pairs(graph, pl.Contexts(q=5, d=3, r1=0.1, self_pairs=True), features)
    expected = exact_walk_pairs(graph, 5, 3, self_pairs=False) * np.outer(has, has) * (1 - np.eye(6))
    assert pairs.share == pytest.approx(expected.sum(), abs=0.02)
    counts = np.zeros((6, 6))
    for _ in range(4):  # one after the other, never the same again
        one, other = pairs.draw(10_000)
        assert len(one) == 10_000
        np.add.at(counts, (one, other), 1)
    assert (counts[expected == 0] == 0).all()
    expected *= 40_000 / expected.sum()
    assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3


def test_rows_of_a_bipartite_graph_are_drawn_together():
    """Lists 0 to 3 have features, the items 4 and 5 that join them do not; no edge joins two lists."""
    graph = pl.Graph.from_edges([0, 1, 2, 3], [4, 4, 5, 5])
    one, other = new_pairs(graph, pl.Contexts(q=10, d=3), np.arange(6) < 4).draw(1000)
    assert set(zip((one // 2).tolist(), (other // 2).tolist(), strict=True)) == {(0, 0), (1, 1)}
    assert (one != other).all()
    assert new_pairs(graph, EDGES, np.arange(6) < 4).share == 0
    assert new_pairs(pl.Graph.from_edges([], [], nodes=6)).share == 0
