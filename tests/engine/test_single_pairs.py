"""Training on one pair per walk: the steps that Algorithm 2 prints, on the pairs that Algorithm 1 prints."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn.functional import logsigmoid

import planetoid as pl
from planetoid.engine import Contexts, ContextSampler, SkipGram
from planetoid.engine.on_device import DeviceSkipGram

PRINTED = Contexts(r1=5 / 6, r2=0.7, q=10, d=3, self_pairs=True, single_pairs=True)


@pytest.fixture
def sampler():
    generator = np.random.default_rng(0)
    graph = pl.Graph.from_edges(generator.integers(0, 40, 90), generator.integers(0, 40, 90), nodes=40)
    return ContextSampler(graph, PRINTED, np.arange(40) % 4 - 1, seed=3)


def new_tables(n_nodes=40):
    generator = np.random.default_rng(1)
    return [generator.normal(0, 1, (n_nodes, 6)).astype(np.float32) for _ in range(2)]


def sgd_by_autograd(sampler, n_batches, size, rates, frozen=0):
    """SGD on the mean loss of each batch, at a learning rate of ``size`` times that of a pair, in double precision."""
    e, w = (torch.from_numpy(table).double().requires_grad_() for table in new_tables(sampler.graph.n_nodes))
    losses = []
    for number in range(n_batches):
        pairs = sampler.draw(size, number * size)
        i, c, gamma = (torch.from_numpy(part.astype(np.int64)) for part in (pairs.i, pairs.c, pairs.gamma))
        loss = -logsigmoid(gamma * (e[i] * w[c]).sum(dim=1)).mean()
        of_e, of_w = torch.autograd.grad(loss, (e, w))
        of_e[:frozen], of_w[:frozen] = 0, 0
        with torch.no_grad():
            e -= size * rates[number] * of_e
            w -= size * rates[number] * of_w
        losses.append(float(loss.detach()))
    return e.detach().numpy(), w.detach().numpy(), np.mean(losses)


@pytest.mark.parametrize("frozen", [0, 15])
def test_a_step_is_sgd_on_the_mean_loss_of_n2_pairs(sampler, frozen):
    e, w = new_tables()
    skipgram = SkipGram(sampler, e, w, learning_rate=0.3, final_rate=0.1, batch_size=25, frozen=frozen)
    loss = skipgram.train(0, 4, 4)
    expected = sgd_by_autograd(sampler, 4, 25, [0.3, 0.25, 0.2, 0.15], frozen)
    np.testing.assert_allclose(e, expected[0], atol=1e-5)
    np.testing.assert_allclose(w, expected[1], atol=1e-5)
    assert loss == pytest.approx(expected[2], rel=1e-5)


def test_rows_of_one_pair_and_rows_of_several_take_the_same_step():
    """Rows of one pair change at once, those of several after the last score: both occur in these batches."""
    ends = np.random.default_rng(2).integers(0, 3000, (2, 5000))
    sampler = ContextSampler(pl.Graph.from_edges(*ends, nodes=3000), PRINTED.replace(r2=1.0), seed=1)
    pairs = sampler.draw(200)
    for rows in (pairs.i, pairs.c):
        assert 150 < len(np.unique(rows)) < 200
    e, w = new_tables(n_nodes=3000)
    SkipGram(sampler, e, w, learning_rate=0.3, final_rate=0.3, batch_size=200, frozen=500).train(0, 3, 3)
    expected = sgd_by_autograd(sampler, 3, 200, [0.3] * 3, frozen=500)
    np.testing.assert_allclose(e, expected[0], atol=1e-5)
    np.testing.assert_allclose(w, expected[1], atol=1e-5)


def test_training_in_pieces_is_training_at_once(sampler):
    tables = [new_tables(), new_tables()]
    for (e, w), bounds in zip(tables, [(0, 7), (0, 2, 3, 7)], strict=True):
        skipgram = SkipGram(sampler, e, w, batch_size=10)
        for first, last in pairwise(bounds):
            skipgram.train(first, last, 7)
    np.testing.assert_array_equal(tables[0], tables[1])


def test_torch_takes_the_same_step(sampler):
    e, w = new_tables()
    SkipGram(sampler, e, w, learning_rate=0.01, batch_size=30).train(0, 3, 3)
    on_device = [torch.from_numpy(table) for table in new_tables()]
    DeviceSkipGram(sampler, *on_device, learning_rate=0.01, batch_size=30).train(0, 3, 3)
    np.testing.assert_allclose(on_device[0].numpy(), e, atol=1e-5)
    np.testing.assert_allclose(on_device[1].numpy(), w, atol=1e-5)


def test_pairs_are_counted_one_by_one(sampler):
    skipgram = SkipGram(sampler, *new_tables(), batch_size=30)
    assert (skipgram.n_slots, skipgram.n_batches(300), skipgram.pairs_per_batch) == (30, 10, 30.0)
    assert len(skipgram.pairs_of(2).i) == 30
    whole_walks = ContextSampler(sampler.graph, PRINTED.replace(single_pairs=False), np.arange(40) % 4 - 1)
    pairs = SkipGram(whole_walks, *new_tables(), batch_size=30)
    assert pairs.pairs_per_batch == pairs.n_slots * 44  # 10 pairs with j = k, 18 and 16 at distances 1 and 2


def test_a_batch_of_an_encoder_is_one_pair_per_walk_too(sampler):
    np.testing.assert_array_equal(sampler.draw_batch(50, 7).c, sampler.draw(50, 7).c)
    whole_walks = ContextSampler(sampler.graph, PRINTED.replace(single_pairs=False, r2=1.0))
    np.testing.assert_array_equal(whole_walks.draw_batch(5, 7).c, whole_walks.draw_walks(5, 7).c)
