"""The classifier of Equations 4 and 5: its loss by hand, and its gradient against finite differences."""

import pytest
import torch
from tests.training.finite_differences import check_gradient, numbers

import planetoid as pl
from planetoid.training.batches import SparseBatch
from planetoid.training.network import Head
from planetoid.training.randomness import StepRandom

ROWS, FEATURES, DIMENSION, CLASSES = 6, 5, 4, 3
Y = torch.arange(ROWS) % CLASSES
NETWORK = pl.Network(k=1, l=1, width=None, activation="softmax", auxiliary_losses=True)


def new_head(n_features=FEATURES, dimension=DIMENSION, sparse_features=False, **changes):
    return Head(n_features, dimension, CLASSES, NETWORK.replace(**changes), StepRandom(1), sparse_features).double()


@pytest.mark.parametrize("activation", ["relu", "tanh", "softmax", "linear"])
@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize(("auxiliary", "width"), [(False, None), (True, None), (True, 4)])
def test_gradient_of_the_supervised_loss(activation, layers, auxiliary, width):
    head = new_head(activation=activation, k=layers, l=layers, auxiliary_losses=auxiliary, width=width)
    for number, bias in enumerate(p for name, p in head.named_parameters() if name.endswith("bias")):
        bias.data = 0.3 * numbers(*bias.shape, seed=number)  # off the kink that ReLU has at zero
    x, e = numbers(ROWS, FEATURES), numbers(ROWS, DIMENSION, seed=1).requires_grad_()
    n_losses = len(head(x, e)[1])
    assert n_losses == (2 * layers if auxiliary else 0)
    used = [p for name, p in head.named_parameters() if auxiliary or "auxiliary" not in name]
    check_gradient(lambda: head.loss(x, e, Y, None), [*used, e])


@pytest.mark.parametrize(("n_features", "dimension"), [(FEATURES, 0), (0, DIMENSION)])
def test_gradient_of_one_side_alone(n_features, dimension):
    head = new_head(n_features, dimension)
    x, e = numbers(ROWS, FEATURES) if n_features else None, numbers(ROWS, DIMENSION) if dimension else None
    check_gradient(lambda: head.loss(x, e, Y, None), list(head.parameters()))


def test_loss_is_what_the_paper_prints():
    """By hand: Equation 4 with one layer on x and one on e, and the mean of -log p."""
    head = new_head(activation="relu", width=4, auxiliary_losses=False, normalize_embedding=False)
    x, e = numbers(ROWS, FEATURES), numbers(ROWS, DIMENSION, seed=1)
    h = [torch.relu(rows @ head.branches[k].layers[0].weight) for k, rows in (("x", x), ("e", e))]
    w = torch.cat([head.outputs["x"].weight, head.outputs["e"].weight])
    scores = torch.cat(h, dim=1) @ w
    expected = -(scores[torch.arange(ROWS), Y] - torch.log(scores.exp().sum(dim=1))).mean()
    torch.testing.assert_close(head.loss(x, e, Y, None), expected)


@pytest.mark.parametrize("layers", [0, 1])
def test_sparse_batches_have_the_gradient_of_dense_ones(layers, monkeypatch):
    from planetoid.training import layers as module

    monkeypatch.setattr(module, "SPARSE_GRADIENT_FROM", 2)
    x = numbers(ROWS, FEATURES) * (numbers(ROWS, FEATURES, seed=3) > 0)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), (x != 0).sum(dim=1).cumsum(0)[:-1]])
    batch = SparseBatch(x.nonzero()[:, 1], offsets, x[x != 0])
    e = numbers(ROWS, DIMENSION)
    by_kind = []
    for rows, sparse in ((x, False), (batch, True)):
        head = new_head(sparse_features=sparse, k=layers)
        head.loss(rows, e, Y, None).backward()
        gradients = {name: p.grad for name, p in head.named_parameters()}
        assert any(g.is_sparse for g in gradients.values()) == sparse
        by_kind.append({name: g.to_dense() if g.is_sparse else g for name, g in gradients.items()})
    for name, gradient in by_kind[0].items():
        torch.testing.assert_close(by_kind[1][name], gradient)


@pytest.mark.parametrize("normalize", [True, False])
def test_embeddings_are_scaled_to_unit_length_if_asked(normalize):
    head = new_head(0, DIMENSION, k=0, l=0, normalize_embedding=normalize)
    e = torch.cat([numbers(ROWS, DIMENSION), torch.full((1, DIMENSION), 1e-4, dtype=torch.float64)])
    lengths = torch.linalg.norm(e, dim=1, keepdim=True)
    scaled = e / lengths.clamp(min=0.01) if normalize else e  # very short ones are not stretched to length 1
    expected = scaled @ head.outputs["e"].weight + head.outputs["e"].bias
    torch.testing.assert_close(head(None, e)[0], expected)


def test_several_labels_have_a_sigmoid_each():
    """L_s is the mean over nodes of the sum of the log-losses of all classes."""
    random = StepRandom(0)
    head = Head(3, 2, 4, pl.Network(k=0, l=0, dropout=0.0), random, multi_label=True)
    x, e = torch.randn(5, 3), torch.randn(5, 2)
    y = (torch.rand(5, 4) < 0.5).float()
    p = head.log_probabilities(x, e).exp()
    expected = -(y * p.log() + (1 - y) * (1 - p).log()).sum() / 5
    torch.testing.assert_close(head.loss(x, e, y, None), expected)


def test_a_softmax_over_the_classes_is_left_out_for_several_labels():
    random = StepRandom(0)
    head = Head(0, 3, 4, pl.Network(k=0, l=1, activation="softmax", width=None), random, multi_label=True)
    assert len(head.branches["e"].layers) == 0
    hidden = Head(0, 3, 4, pl.Network(k=0, l=1, activation="relu", width=6), random, multi_label=True)
    assert len(hidden.branches["e"].layers) == 1
