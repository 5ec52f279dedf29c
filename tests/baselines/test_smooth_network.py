"""Networks with a penalty along edges: what g is, their limit without the penalty, and the effect of the penalty."""

import numpy as np
import pytest
import torch
from scipy import sparse

import planetoid as pl
from planetoid.baselines.smooth_network import WALKS, SmoothNetwork, SmoothTraining, embed, predict, train
from planetoid.data.dataset import Dataset
from planetoid.errors import PlanetoidWarning
from planetoid.training.batches import FeatureRows
from planetoid.training.distance_loss import PairDistanceLoss, WalkPairs
from planetoid.training.randomness import StepRandom

EMBEDDINGS = ("output", "hidden", "auxiliary")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = ((rng.random((30, 6)) < 0.4) * rng.random((30, 6))).astype(np.float32)
    X[:, 0] += 0.1
    y = np.where(np.arange(30) < 9, np.arange(30) % 3, -1)
    graph = pl.Graph.from_edges(np.arange(30), (np.arange(30) + 3) % 30, rng.random(30) + 0.1)
    return Dataset("small", graph, X, y, np.arange(3))


def new_network(embedding, activation="tanh", width=4):
    return SmoothNetwork(
        6,
        3,
        layers=1,
        width=width,
        activation=activation,
        dropout=0.0,
        embedding=embedding,
        dimension=2,
        random=StepRandom(0),
    )


def plan(**changes):
    chosen = {"penalty": 0.0, "margin": 1.0, "steps": 30, "n_labelled": 20, "n_pairs": 20, "learning_rate": 0.01}
    return SmoothTraining(**{**chosen, "weight_decay": 5e-4, "seed": 0, "name": "test", **changes})


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_sparse_and_dense_rows_are_the_same(embedding, data):
    X, network = data.X, new_network(embedding)
    dense, compressed = FeatureRows(X).batch(slice(0, 30)), FeatureRows(sparse.csr_array(X)).batch(slice(0, 30))
    torch.testing.assert_close(network.logits(dense), network.logits(compressed))
    torch.testing.assert_close(network.embed(dense), network.embed(compressed))


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_without_the_penalty_it_is_the_plain_network(embedding, data):
    """Trained step by step here, on the same batches, without any graph."""
    network, features = new_network(embedding, "relu", 8), FeatureRows(data.X)
    train(network, features, data, plan())

    generator = StepRandom(0)
    weights = [_uniform(6, 8, generator), torch.zeros(8), _uniform(8, 3, generator), torch.zeros(3)]
    weights = [weight.requires_grad_() for weight in weights]
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-4)
    rows, targets = torch.from_numpy(data.X), torch.from_numpy(data.y[:9].copy()).long()

    def logits(x):
        return torch.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]

    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits(rows[:9]), targets).backward()
        optimizer.step()
    expected = torch.softmax(logits(rows), dim=1).detach().numpy()
    np.testing.assert_allclose(predict(network, features), expected, atol=1e-5)


@pytest.mark.parametrize("penalty", [0.3, 4.0])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_every_step_is_on_the_loss_plus_the_penalty_times_the_loss_of_pairs(embedding, penalty, data):
    """Trained step by step here: Adam on the gradient of the sum, by autograd, on the same batches and pairs."""
    features, changes = FeatureRows(data.X), {"penalty": penalty, "margin": 0.5, "steps": 5}
    network, other = (new_network(embedding, width=8) for _ in range(2))
    train(network, features, data, plan(**changes))
    pairs = WalkPairs(data.graph, data.has_features, WALKS, seed=0)
    of_pairs = PairDistanceLoss(pairs, features, other.embed, batch_size=20, margin=0.5, seed=0)
    optimizer = torch.optim.Adam(other.parameters(), lr=0.01, weight_decay=5e-4)
    rows, targets = torch.from_numpy(data.X[:9]), torch.from_numpy(data.y[:9].copy()).long()
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(other.logits(rows), targets) + penalty * of_pairs.loss()
        loss.backward()
        optimizer.step()
    found, expected = dict(network.named_parameters()), dict(other.named_parameters())
    for name in found:
        if name != "auxiliary.bias":  # distances do not depend on it
            torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-6)


def _uniform(n_inputs, n_outputs, random):
    bound = (6.0 / (n_inputs + n_outputs)) ** 0.5
    return torch.rand(n_inputs, n_outputs, generator=random.generator) * 2 * bound - bound


def test_the_penalty_brings_neighbours_together_and_the_margin_keeps_others_apart(data):
    source, target = np.repeat(np.arange(30), np.diff(data.graph.indptr)), data.graph.indices

    def spread(**changes):
        network, features = new_network("hidden", "relu", 8), FeatureRows(data.X)
        train(network, features, data, plan(steps=100, **changes))
        g = embed(network, features)
        near = ((g[source] - g[target]) ** 2).sum(axis=1).mean()
        return near, ((g[:, None] - g[None]) ** 2).sum(axis=2).mean()

    plain_near, plain_all = spread()
    collapsed_near, collapsed_all = spread(penalty=10.0, margin=0.0)
    assert collapsed_near < 0.1 * plain_near
    assert collapsed_all < 0.1 * plain_all  # without a margin all embeddings collapse
    near, all_pairs = spread(penalty=10.0)
    assert all_pairs > 10 * collapsed_all
    assert near / all_pairs < 0.95 * plain_near / plain_all


def test_the_best_parameters_on_validation_labels_are_returned(data):
    validation = np.where(np.arange(30) >= 20, np.arange(30) % 3, -1)
    held = Dataset("small", data.graph, data.X, data.y, np.arange(3), validation=validation)
    network, features = new_network("hidden", "relu", 8), FeatureRows(data.X)
    history = train(network, features, held, plan(steps=95, penalty=1.0, learning_rate=0.4))
    assert [record["step"] for record in history] == [*range(10, 91, 10), 95]
    assert set(history[0]) == {"step", "loss", "pair_loss", "val_accuracy", "val_loss"}
    best = max(record["val_accuracy"] for record in history)
    assert best > history[-1]["val_accuracy"]  # else the test shows nothing
    rows = validation >= 0
    assert (predict(network, features)[rows].argmax(axis=1) == validation[rows]).mean() == pytest.approx(best)


def test_lists_that_share_an_item_are_drawn_together(data):
    """Nodes 0 and 1 are labelled lists; 2 and 3 have no label, and words that no labelled list has, but items do."""
    graph = pl.Graph.from_edges([0, 2, 1, 3], [4, 4, 5, 5])
    X = np.vstack([np.eye(6, dtype=np.float32)[:4], np.zeros((2, 6), np.float32)])
    lists = Dataset("lists", graph, X, np.array([0, 1, -1, -1, -1, -1]), np.arange(2))
    network = SmoothNetwork(
        6, 2, layers=1, width=8, activation="relu", dropout=0.0, embedding="hidden", dimension=0, random=StepRandom(0)
    )
    train(network, FeatureRows(X), lists, plan(penalty=3.0, steps=100))
    assert predict(network, FeatureRows(X))[:4].argmax(axis=1).tolist() == [0, 1, 0, 1]


def test_a_graph_that_joins_no_two_nodes_with_features_is_reported(data):
    graph = pl.Graph.from_edges([0, 1], [2, 3], nodes=30)
    X = np.where(np.arange(30)[:, None] < 2, data.X, 0)
    lonely = Dataset("lonely", graph, X, np.where(np.arange(30) < 2, np.arange(30), -1), np.arange(3))
    with pytest.warns(PlanetoidWarning, match="test: no walk joins two nodes with features"):
        history = train(new_network("hidden"), FeatureRows(X), lonely, plan(penalty=1.0, steps=10))
    assert "pair_loss" not in history[-1]
