"""The squared distance along edges: its value by hand, which edges are drawn, and its gradient."""

import numpy as np
import pytest
import torch
from scipy import sparse, stats
from tests.training.finite_differences import check_gradient

import planetoid as pl
from planetoid.baselines.smooth_network import SmoothNetwork
from planetoid.training.batches import FeatureRows
from planetoid.training.distance_loss import EdgeSampler, PairDistanceLoss, squared_distance
from planetoid.training.randomness import StepRandom

EMBEDDINGS = ("output", "hidden", "auxiliary")


def new_network(embedding):
    return SmoothNetwork(
        6, 3, layers=1, width=4, activation="tanh", dropout=0.0, embedding=embedding, dimension=2, random=StepRandom(0)
    )


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_gradient(embedding, as_sparse, margin):
    """Against finite differences, in double precision, on the same edges each time."""
    rng = np.random.default_rng(0)
    X = (rng.random((30, 6)) < 0.4) * rng.random((30, 6))
    graph = pl.Graph.from_edges(np.arange(30), (np.arange(30) + 3) % 30, rng.random(30) + 0.1)
    network = new_network(embedding).double()
    features = FeatureRows(sparse.csr_array(X) if as_sparse else X)

    def loss():
        return PairDistanceLoss(EdgeSampler(graph), features, network.embed, batch_size=8, margin=margin, seed=1).loss()

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
    edges = EdgeSampler(pl.Graph.from_edges([0], [1]))
    near = PairDistanceLoss(edges, features, network.embed, batch_size=10, margin=0.0, seed=0).loss()
    assert float(near.detach()) == pytest.approx(distance, rel=1e-5)
    # a random pair is the two nodes, or one node twice, whose distance of 0 lacks the whole margin
    generator = np.random.default_rng(0)
    source, _ = edges.draw(1000, generator)
    alike = (generator.integers(0, 2, 1000) == source).mean()
    both = PairDistanceLoss(edges, features, network.embed, batch_size=1000, margin=0.2, seed=0).loss()
    assert distance > 0.2
    assert float(both.detach()) == pytest.approx(distance + 0.2 * alike, rel=1e-5)


def test_without_a_margin_no_random_pairs_are_drawn():
    edges, features = EdgeSampler(pl.Graph.from_edges([0], [1])), FeatureRows(np.eye(2, dtype=np.float32))
    loss = PairDistanceLoss(edges, features, lambda x: x, batch_size=5, margin=0.0, seed=0)
    loss.loss()
    generator = np.random.default_rng(0)
    edges.draw(5, generator)
    assert loss.generator.bit_generator.state == generator.bit_generator.state


def test_squared_distance():
    assert squared_distance(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).tolist() == [25.0]


def test_edges_are_drawn_by_weight():
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    graph = pl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights)
    source, target = EdgeSampler(graph).draw(40_000, np.random.default_rng(1))
    matrix = graph.to_scipy().toarray().astype(float)
    counts = np.zeros((4, 4))
    np.add.at(counts, (source, target), 1)
    assert (counts[matrix == 0] == 0).all()
    expected = matrix[matrix > 0] / matrix.sum() * 40_000
    assert stats.chisquare(counts[matrix > 0], expected).pvalue > 1e-3
