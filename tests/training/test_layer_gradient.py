"""Compiled steps of L_u through one layer against the same steps by autograd."""

import numpy as np
import pytest
import torch
from scipy import sparse

import planetoid as pl
from planetoid.engine.sampler import ContextSampler
from planetoid.models.inductive_network import InductiveNetwork
from planetoid.training import layers, optimizers
from planetoid.training.batches import FeatureRows
from planetoid.training.context_loss import EncoderContextLoss
from planetoid.training.layer_gradient import LayerGradient
from planetoid.training.layers import SparseParameter
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.randomness import StepRandom

NODES, FEATURES, DIMENSION = 30, 12, 8
NETWORK = pl.Network(k=0, l=0)


def rows():
    X = sparse.random_array((NODES, FEATURES), density=0.3, rng=np.random.default_rng(0), dtype=np.float32).tocsr()
    X.data -= np.float32(0.4)
    return X


def new_loss(activation, optimizer, kind, compiled):
    """Return L_u and what it trains: W, b and w."""
    X, encoder = rows(), pl.Encoder(activation=activation)
    network = InductiveNetwork(FEATURES, DIMENSION, 3, encoder, NETWORK, StepRandom(2), sparse_features=True)
    weight, bias = network.only_layer.layers[0].weight, network.only_layer.layers[0].bias
    generator = torch.Generator().manual_seed(3)
    w = kind(torch.randn(NODES, DIMENSION, generator=generator))
    with torch.no_grad():
        bias += 0.3 * torch.randn(DIMENSION, generator=generator)
    pair = [NamedOptimizer(optimizer, (given, 0.1)) for given in ([weight, bias], [w])]
    graph = pl.Graph.from_edges(range(NODES), [*range(1, NODES), 0])
    loss = EncoderContextLoss(
        ContextSampler(graph, pl.Contexts(r1=0.5, r2=1.0, q=4, d=3, self_pairs=True)),
        FeatureRows(X),
        np.diff(X.indptr) > 0,
        network.encode,
        w,
        *pair,
        n_pretrain=3,
        walks=6,
        random=StepRandom(0),
        compiled=LayerGradient(network.only_layer, w, sgd_rate=0.1 if optimizer == "sgd" else None)
        if compiled
        else None,
    )
    return loss, {"weight": weight, "bias": bias, "w": w}


@pytest.mark.parametrize("activation", ["relu", "tanh", "linear"])
@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
@pytest.mark.parametrize("kind", [torch.nn.Parameter, SparseParameter])  # the second for w and for W
def test_compiled_steps_are_those_of_autograd(activation, optimizer, kind, monkeypatch):
    monkeypatch.setattr(layers, "SPARSE_GRADIENT_FROM", 0 if kind is SparseParameter else 10**9)
    ends, values = [], []
    for compiled in (False, True):
        loss, trained = new_loss(activation, optimizer, kind, compiled)
        before = {name: one.detach().clone() for name, one in trained.items()}
        values.append([loss.pretrain(0, 3), loss.step(0)])
        ends.append(trained)
        assert all((trained[name] != before[name]).any() for name in trained)
    assert values[1] == pytest.approx(values[0], rel=1e-5)
    for name, expected in ends[0].items():
        np.testing.assert_allclose(ends[1][name].detach(), expected.detach(), rtol=1e-4, atol=1e-5, err_msg=name)


def test_memory_of_gradients_that_is_kept_changes_no_bit(monkeypatch):
    ends = []
    for kept_from in (0, 10**9):
        monkeypatch.setattr(optimizers, "KEPT_FROM", kept_from)
        loss, trained = new_loss("relu", "adam", torch.nn.Parameter, True)
        loss.pretrain(0, 3)
        ends.append(trained)
    assert all(torch.equal(*(end[name] for end in ends)) for name in ends[0])


def test_plain_sgd_moves_only_rows_that_occurred():
    loss, trained = new_loss("relu", "sgd", torch.nn.Parameter, True)
    before = trained["w"].detach().clone()
    loss.step(0)
    moved = np.flatnonzero((trained["w"] != before).any(dim=1).numpy())
    assert set(moved) <= set(loss.draw(3).pairs.c.tolist()) < set(range(NODES))
    assert trained["w"].grad is None


def test_a_weighted_sum_adds_to_the_gradient_that_is_there():
    """In a sum with L_s the gradients of both are added up, so that autograd computes them."""
    loss, trained = new_loss("relu", "sgd", torch.nn.Parameter, True)
    plain, expected = new_loss("relu", "sgd", torch.nn.Parameter, False)
    for one, parameters in ((loss, trained), (plain, expected)):
        for parameter in parameters.values():
            parameter.grad = torch.ones_like(parameter)
        one.add_gradient(0, 0.5)
    for name in trained:
        assert torch.equal(trained[name].grad, expected[name].grad)
        assert not torch.equal(trained[name].grad, torch.ones_like(trained[name]))
