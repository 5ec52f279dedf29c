"""L_u through an encoder: its value by hand, its gradient against finite differences, alone and in a weighted sum."""

import numpy as np
import pytest
import torch
from tests.training.finite_differences import check_gradient, numbers

import planetoid as pl
from planetoid.engine.sampler import ContextSampler
from planetoid.models.inductive_network import InductiveNetwork
from planetoid.training.batches import FeatureRows
from planetoid.training.context_loss import EncoderContextLoss, context_loss_on_device
from planetoid.training.layers import SparseParameter
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.randomness import StepRandom

ROWS, FEATURES, DIMENSION, CLASSES = 6, 5, 4, 3
Y = torch.arange(ROWS) % CLASSES
NETWORK = pl.Network(k=1, l=1, width=None, activation="softmax", auxiliary_losses=True)


def new_network(**encoder):
    layers = pl.Encoder(width=6, activation="tanh").replace(**encoder)
    return InductiveNetwork(FEATURES, DIMENSION, CLASSES, layers, NETWORK, StepRandom(2)).double()


def new_loss(network, w, *, n_pretrain=0):
    graph = pl.Graph.from_edges(range(ROWS), [1, 2, 3, 4, 5, 0])
    contexts = pl.Contexts(r1=0.5, r2=0.7, q=4, d=3, self_pairs=True)
    return EncoderContextLoss(
        ContextSampler(graph, contexts, np.array([0, 1, 0, 1, -1, -1])),
        FeatureRows(np.random.default_rng(0).normal(size=(ROWS, FEATURES))),
        np.ones(ROWS, dtype=bool),
        network.encode,
        w,
        NamedOptimizer("sgd", (network.encoder.parameters(), 0.1)),
        NamedOptimizer("sgd", ([w], 0.1)),
        n_pretrain=n_pretrain,
        walks=8,
        random=StepRandom(0),
    )


@pytest.mark.parametrize("l1", [1, 2])
@pytest.mark.parametrize("activation", ["tanh", "relu", "linear"])
@pytest.mark.parametrize("kind", [torch.nn.Parameter, SparseParameter])
def test_value_and_gradient(l1, activation, kind):
    network, w = new_network(l1=l1, activation=activation), kind(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w)
    batch = loss.draw(0)
    assert set(batch.pairs.gamma) == {-1, 1}
    by_hand, total = 0.0, 0.0
    e = network.encode(torch.from_numpy(loss.features.X), None)
    for i, c, gamma, weight in zip(*batch.pairs, strict=True):
        by_hand -= float(weight) * torch.nn.functional.logsigmoid(int(gamma) * (w[c] @ e[i])).item()
        total += float(weight)
    assert loss.loss(batch, None).item() == pytest.approx(by_hand / total, rel=1e-6)
    check_gradient(lambda: loss.loss(batch, None), [w, *network.encoder.parameters()])
    assert w.grad.is_sparse == (kind is SparseParameter)


def test_the_loss_on_a_device_is_the_same():
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w)
    batch = loss.draw(0)
    e_rows = network.encode(batch.x, None)[torch.from_numpy(batch.centre)]
    gamma, share = torch.from_numpy(batch.pairs.gamma.astype(float)), torch.from_numpy(batch.share)
    on_device = context_loss_on_device(e_rows, w[torch.from_numpy(batch.pairs.c)], gamma, share)
    torch.testing.assert_close(on_device, loss.loss(batch, None), rtol=1e-6, atol=0)


def test_gradient_of_a_weighted_sum():
    """L_s + lambda L_u, in what the two share and in what they do not."""
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w)
    x, batch = torch.from_numpy(loss.features.X), loss.draw(0)
    check_gradient(
        lambda: network.head.loss(x, network.encode(x, None), Y, None) + 0.3 * loss.loss(batch, None),
        [w, *network.parameters()],
    )


def test_add_gradient_adds_to_that_of_the_supervised_loss():
    """In a weighted sum the encoder holds the gradient of the sum; only w takes its step here."""
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w, n_pretrain=5)
    x = torch.from_numpy(loss.features.X)
    network.head.loss(x, network.encode(x, None), Y, None).backward()
    value = loss.add_gradient(2, 0.3)
    actual = [p.grad.clone() for p in network.encoder.parameters()]
    network.zero_grad()
    batch = loss.draw(7)  # joint steps follow those of pre-training
    assert value == loss.loss(batch, None).item()
    (network.head.loss(x, network.encode(x, None), Y, None) + 0.3 * loss.loss(batch, None)).backward()
    for gradient, p in zip(actual, network.encoder.parameters(), strict=True):
        torch.testing.assert_close(gradient, p.grad)
    before = [p.detach().clone() for p in (w, *network.encoder.parameters())]
    loss.apply()
    moved = [not torch.equal(p, old) for p, old in zip((w, *network.encoder.parameters()), before, strict=True)]
    assert moved == [True] + [False] * (len(moved) - 1)


def test_a_step_alone_moves_the_encoder_too():
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w)
    before = [p.detach().clone() for p in (w, *network.encoder.parameters())]
    loss.step(0)
    assert all(not torch.equal(p, old) for p, old in zip((w, *network.encoder.parameters()), before, strict=True))


def test_training_in_pieces_is_the_same():
    """A batch is a function of its number, so that pre-training can stop and resume anywhere."""
    weights = []
    for pieces in ([(0, 4)], [(0, 1), (1, 4)]):
        network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
        loss = new_loss(network, w, n_pretrain=4)
        for first, last in pieces:
            loss.pretrain(first, last)
        weights.append(w)
    assert torch.equal(*weights)


def test_nodes_without_features_are_never_i():
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = new_loss(network, w)
    loss.has_features = np.arange(ROWS) % 2 == 0
    pairs = [loss.draw(number).pairs for number in range(5)]
    assert set(np.concatenate([one.i for one in pairs])) == {0, 2, 4}
    assert set(np.concatenate([one.c for one in pairs])) == set(range(ROWS))
    loss.has_features = np.zeros(ROWS, dtype=bool)
    assert loss.step(0) == 0.0
