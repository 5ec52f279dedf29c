"""L_u through an encoder: its value by hand, its gradient against finite differences, alone and in a weighted sum."""

import numpy as np
import pytest
import torch
from tests.training.finite_differences import check_gradient, numbers

import planetoid as pl
from planetoid.engine.on_device import gradient_step
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.skipgram import SkipGram
from planetoid.models.inductive_network import InductiveNetwork
from planetoid.training.batches import FeatureRows
from planetoid.training.context_loss import EncoderContextLoss, TableContextLoss, context_loss_on_device
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


def new_table_loss(e, w, rate=0.05):
    graph = pl.Graph.from_edges(range(ROWS), [1, 2, 3, 4, 5, 0])
    sampler = ContextSampler(graph, pl.Contexts(r1=0.5, r2=0.7, q=4, d=3), np.array([0, 1, 0, 1, -1, -1]))
    skipgrams = (SkipGram(sampler, e.numpy(), w.numpy(), learning_rate=rate, final_rate=last) for last in (None, rate))
    return TableContextLoss(*skipgrams, w, pretrain=5, walks=20)


def random_tables():
    return tuple(numbers(ROWS, DIMENSION, seed=seed).detach().float().contiguous() for seed in (1, 2))


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_a_joint_step_moves_both_tables_by_the_gradient_of_its_pairs(weight):
    """e and w before and after: joint steps follow those of pre-training, at their own rate, times the weight."""
    e, w = random_tables()
    loss = new_table_loss(e, w)
    expected_e, expected_w = e.clone(), w.clone()
    first = loss.n_pretrain + 2 * loss.batches_per_step
    assert loss.n_pretrain > 0
    assert loss.batches_per_step > 1
    for number in range(first, first + loss.batches_per_step):
        gradient_step(expected_e, expected_w, loss.joint.pairs_of(number), 0.05 * weight)
    before = e.clone(), w.clone()
    loss.add_gradient(2, weight)
    torch.testing.assert_close(e, expected_e, rtol=0, atol=1e-5)
    torch.testing.assert_close(w, expected_w, rtol=0, atol=1e-5)
    assert min((e - before[0]).abs().max(), (w - before[1]).abs().max()) > 0.01  # far above the tolerance


def test_pretraining_moves_both_tables_at_a_falling_rate():
    e, w = random_tables()
    loss = new_table_loss(e, w)
    expected_e, expected_w = e.clone(), w.clone()
    for number in range(loss.n_pretrain):
        rate = 0.05 * (1 - 0.99 * number / loss.n_pretrain)
        gradient_step(expected_e, expected_w, loss.joint.pairs_of(number), rate)
    loss.pretrain(0, loss.n_pretrain)
    torch.testing.assert_close(e, expected_e, rtol=0, atol=1e-4)
    torch.testing.assert_close(w, expected_w, rtol=0, atol=1e-4)


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


def test_tables_can_take_their_label_pairs_first():
    """Of 10 batches the first 3 move labelled nodes alone, the others follow walks; joint steps mix both."""
    graph, y = pl.Graph.from_edges(range(40), [*range(1, 40), 0]), np.where(np.arange(40) < 4, np.arange(40) % 2, -1)
    e, w = (numbers(40, DIMENSION, seed=seed).detach().float().contiguous() for seed in (1, 2))
    samplers = [ContextSampler(graph, pl.Contexts(r1=0.5, r2=r2, q=4, d=3), y) for r2 in (1.0, 0.7, 0.0)]
    walks, joint, labels = (SkipGram(sampler, e.numpy(), w.numpy()) for sampler in samplers)
    loss = TableContextLoss(walks, joint, w, pretrain=10 * walks.n_slots / 40, walks=20, labels=labels, label_share=0.3)
    assert (loss.n_pretrain, loss.n_on_labels) == (10, 3)
    before = e.clone()
    expected, calls = [], []
    for skipgram, name in ((walks, "walks"), (labels, "labels")):
        train = skipgram.train
        skipgram.train = lambda *given, train=train, name=name: calls.append((name, *given)) or train(*given)
    expected.append(loss.pretrain(0, 2))
    assert set(np.flatnonzero((e != before).any(dim=1).numpy())) <= set(range(4))
    assert not torch.equal(e, before)
    loss.pretrain(2, 6)
    loss.pretrain(6, 10)
    assert calls == [("labels", 0, 2, 10), ("labels", 2, 3, 10), ("walks", 3, 6, 10), ("walks", 6, 10, 10)]
    assert (e[4:] != before[4:]).any()


def test_an_encoder_can_take_its_label_pairs_first():
    graph, y = pl.Graph.from_edges(range(ROWS), [1, 2, 3, 4, 5, 0]), np.array([0, 1, 0, 1, -1, -1])
    joint, walks, labels = (ContextSampler(graph, pl.Contexts(r1=0.5, r2=r2, q=4, d=3), y) for r2 in (0.5, 1.0, 0.0))
    network, w = new_network(), torch.nn.Parameter(numbers(ROWS, DIMENSION))
    loss = EncoderContextLoss(
        joint,
        FeatureRows(np.ones((ROWS, FEATURES))),
        np.ones(ROWS, dtype=bool),
        network.encode,
        w,
        NamedOptimizer("sgd", (network.encoder.parameters(), 0.1)),
        NamedOptimizer("sgd", ([w], 0.1)),
        n_pretrain=10,
        walks=8,
        random=StepRandom(0),
        pretraining=walks,
        labels=labels,
        label_share=0.4,
    )
    expected = {0: labels, 3: labels, 4: walks, 9: walks, 10: joint}
    for number, sampler in expected.items():
        np.testing.assert_array_equal(loss.draw(number).pairs.c, sampler.draw_walks(8, 8 * number).c)
    assert loss.draw(3).pairs.i.max() < 4


def test_a_batch_of_single_pairs_has_about_n2_pairs_of_nodes_with_features():
    """Every second node of a ring has features: 20 pairs take 40 walks, of which those with features are kept."""
    graph, has_features = pl.Graph.from_edges(range(40), [*range(1, 40), 0]), np.arange(40) % 2 == 0
    contexts = pl.Contexts(r1=0.5, r2=1.0, q=4, d=3, self_pairs=True, single_pairs=True)
    network, w = new_network(), torch.nn.Parameter(numbers(40, DIMENSION))
    loss = EncoderContextLoss(
        ContextSampler(graph, contexts),
        FeatureRows(np.ones((40, FEATURES))),
        has_features,
        network.encode,
        w,
        NamedOptimizer("sgd", (network.encoder.parameters(), 0.1)),
        NamedOptimizer("sgd", ([w], 0.1)),
        n_pretrain=0,
        walks=20,
        random=StepRandom(0),
    )
    assert abs(loss.walks - 40) <= 3
    assert loss.pairs_per_step == 20
    pairs = loss.draw(3).pairs
    assert 10 <= len(pairs.i) <= 30
    assert has_features[pairs.i].all()
    drawn = loss.sampler.draw(loss.walks, 3 * loss.walks)
    np.testing.assert_array_equal(pairs.c, drawn.c[has_features[drawn.i]])
