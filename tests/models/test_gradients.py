"""Every loss against finite differences, in double precision."""

import itertools

import numpy as np
import pytest
import torch

import planetoid as pl
from planetoid.engine import ContextSampler
from planetoid.models.inductive_network import InductiveNetwork
from planetoid.training import FeatureRows, SparseBatch, StepRandom
from planetoid.training.losses import NetworkContext
from planetoid.training.network import Head

ROWS, FEATURES, DIMENSION, CLASSES = 6, 5, 4, 3
Y = torch.arange(ROWS) % CLASSES


def numbers(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)) + 0.05


def head_options(**others):
    chosen = {"layers_x": 1, "layers_e": 1, "width": None, "activation": "softmax", "dropout": 0.0}
    return {**chosen, "auxiliary_losses": True, "normalize_embedding": True, **others}


def check(loss, tensors):
    """Compare the gradient of ``loss()`` with central differences, in every entry of every tensor."""
    for tensor in tensors:
        tensor.grad = None
    loss().backward()
    for tensor in tensors:
        flat, step = tensor.data.view(-1), 1e-6
        expected = torch.empty_like(flat)
        for k in range(len(flat)):
            value = flat[k].item()
            with torch.no_grad():
                flat[k] = value + step
                above = float(loss())
                flat[k] = value - step
                below = float(loss())
                flat[k] = value
            expected[k] = (above - below) / (2 * step)
        found = tensor.grad.to_dense() if tensor.grad.is_sparse else tensor.grad
        torch.testing.assert_close(found.reshape(-1), expected, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "tanh", "softmax", "linear"])
@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize(("auxiliary", "width"), [(False, None), (True, None), (True, 4)])
def test_supervised_loss(activation, layers, auxiliary, width):
    options = head_options(
        activation=activation, layers_x=layers, layers_e=layers, auxiliary_losses=auxiliary, width=width
    )
    head = Head(FEATURES, DIMENSION, CLASSES, **options, random=StepRandom(1)).double()
    for number, bias in enumerate(p for name, p in head.named_parameters() if name.endswith("bias")):
        bias.data = 0.3 * numbers(*bias.shape, seed=number)  # off the kink that ReLU has at zero
    x, e = numbers(ROWS, FEATURES), numbers(ROWS, DIMENSION, seed=1).requires_grad_()
    n_losses = len(head(x, e)[1])
    assert n_losses == (2 * layers if auxiliary else 0)
    used = [p for name, p in head.named_parameters() if auxiliary or "auxiliary" not in name]
    check(lambda: head.loss(x, e, Y, None), [*used, e])


@pytest.mark.parametrize(("n_features", "dimension"), [(FEATURES, 0), (0, DIMENSION)])
def test_one_side_alone(n_features, dimension):
    head = Head(n_features, dimension, CLASSES, **head_options(), random=StepRandom(1)).double()
    x, e = numbers(ROWS, FEATURES) if n_features else None, numbers(ROWS, DIMENSION) if dimension else None
    check(lambda: head.loss(x, e, Y, None), list(head.parameters()))


def test_loss_is_what_the_paper_prints():
    """By hand: one softmax layer over [h(x), h(e)], and the mean of -log p."""
    head = Head(
        FEATURES,
        DIMENSION,
        CLASSES,
        **head_options(activation="relu", width=4, auxiliary_losses=False, normalize_embedding=False),
        random=StepRandom(1),
    ).double()
    x, e = numbers(ROWS, FEATURES), numbers(ROWS, DIMENSION, seed=1)
    h = [torch.relu(rows @ head.branches[k].layers[0].weight) for k, rows in (("x", x), ("e", e))]
    w = torch.cat([head.outputs["x"].weight, head.outputs["e"].weight])
    scores = torch.cat(h, dim=1) @ w
    expected = -(scores[torch.arange(ROWS), Y] - torch.log(scores.exp().sum(dim=1))).mean()
    torch.testing.assert_close(head.loss(x, e, Y, None), expected)


def network(**others):
    return InductiveNetwork(
        FEATURES,
        CLASSES,
        encoder=None,
        dimension=DIMENSION,
        hidden=6,
        head=head_options(),
        random=StepRandom(2),
        **{"layers_1": 1, "embedding_activation": "tanh", **others},
    ).double()


def context_of(net, w):
    graph = pl.Graph.from_edges(range(ROWS), [1, 2, 3, 4, 5, 0])
    labels = np.array([0, 1, 0, 1, -1, -1])
    sampler = ContextSampler(graph, labels, r1=0.5, r2=0.7, q=4, d=3, seed=0)
    task = NetworkContext.__new__(NetworkContext)
    task.features = FeatureRows(np.random.default_rng(0).normal(size=(ROWS, FEATURES)))
    task.embed, task.w, task.random = net.embed_rows, w, StepRandom(0)
    return task, sampler.draw_walks(8)


@pytest.mark.parametrize("layers_1", [1, 2])
@pytest.mark.parametrize("activation", ["tanh", "relu", "linear"])
def test_context_loss_of_a_network(layers_1, activation):
    net = network(layers_1=layers_1, embedding_activation=activation)
    w = torch.nn.Parameter(numbers(ROWS, DIMENSION))
    task, pairs = context_of(net, w)
    assert set(pairs.gamma) == {-1, 1}
    by_hand, total = 0.0, 0.0
    e = net.encode(torch.from_numpy(task.features.X), None)
    for i, c, gamma, weight in zip(*pairs, strict=True):
        by_hand -= float(weight) * torch.nn.functional.logsigmoid(int(gamma) * (w[c] @ e[i])).item()
        total += float(weight)
    assert task.loss(pairs, None).item() == pytest.approx(by_hand / total, rel=1e-6)
    check(lambda: task.loss(pairs, None), [w, *net.encoder.parameters()])


def test_summed_loss():
    """L_s + lambda L_u, in what the two share and in what they do not."""
    net, w = network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    task, pairs = context_of(net, w)
    x = torch.from_numpy(task.features.X)
    used = list(net.parameters())
    check(lambda: net.head.loss(x, net.encode(x, None), Y, None) + 0.3 * task.loss(pairs, None), [w, *used])


def test_summed_step_has_both_gradients():
    """What lies on the encoder when L_s takes its step is the gradient of the sum."""
    net, w = network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    task, pairs = context_of(net, w)
    x = torch.from_numpy(task.features.X)

    class Quiet:
        def zero_grad(self):
            w.grad = None

        def step(self):
            """Leave the gradient to be looked at."""

    task.of_contexts, task.n_pretrain = Quiet(), 0
    task._pairs = lambda number: pairs
    task.random.at = lambda step: None
    supervised = net.head.loss(x, net.encode(x, None), Y, None)
    supervised.backward()
    task.summed_step(0, 0.3)
    found = [p.grad.clone() for p in net.encoder.parameters()]
    net.zero_grad()
    (net.head.loss(x, net.encode(x, None), Y, None) + 0.3 * task.loss(pairs, None)).backward()
    for one, p in zip(found, net.encoder.parameters(), strict=True):
        torch.testing.assert_close(one, p.grad)


@pytest.mark.parametrize("layers", [0, 1])
def test_sparse_batches_have_the_gradient_of_dense_ones(layers, monkeypatch):
    from planetoid.training import layers as module

    monkeypatch.setattr(module, "SPARSE_GRADIENT_FROM", 2)
    x = numbers(ROWS, FEATURES) * (numbers(ROWS, FEATURES, seed=3) > 0)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), (x != 0).sum(dim=1).cumsum(0)[:-1]])
    batch = SparseBatch(x.nonzero()[:, 1], offsets, x[x != 0])
    e = numbers(ROWS, DIMENSION)
    found = []
    for rows, thin in ((x, False), (batch, True)):
        head = Head(
            FEATURES, DIMENSION, CLASSES, **head_options(layers_x=layers), random=StepRandom(1), sparse_features=thin
        ).double()
        head.loss(rows, e, Y, None).backward()
        gradients = {name: p.grad for name, p in head.named_parameters()}
        assert any(g.is_sparse for g in gradients.values()) == thin
        found.append({name: g.to_dense() if g.is_sparse else g for name, g in gradients.items()})
    for name, gradient in found[0].items():
        torch.testing.assert_close(found[1][name], gradient)


def test_dropout_keeps_the_mean_and_is_of_the_step():
    random = StepRandom(7)
    mask = random.at(3).keep_mask(torch.Size([400, 500]), 0.3)
    assert mask.unique().tolist() == pytest.approx([0.0, 1 / 0.7])
    assert float(mask.mean()) == pytest.approx(1.0, abs=0.01)
    assert torch.equal(mask, random.at(3).keep_mask(torch.Size([400, 500]), 0.3))
    seen = [tuple(random.at(step).permutation(20, 5).tolist()) for step in range(20)]
    assert all(len(set(one)) == 5 for one in seen)
    assert all(a != b for a, b in itertools.pairwise(seen))
