"""Planetoid-T and -G: what each kind of step does to the embeddings, and nodes without features or edges."""

import numpy as np
import pytest
import torch

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.skipgram import SkipGram, new_tables
from planetoid.training.network import Head
from planetoid.training.randomness import StepRandom

QUICK = {"dimension": 8, "training__pretrain": 40, "training__steps": 60}


def fitted(cls, small, **training):
    plan = pl.Training(pretrain=0, N2=100, joint_learning_rate=0.1, optimizer="sgd", weight_decay=0.0).replace(
        **training
    )
    contexts = pl.Contexts(r1=0.5, r2=0.7, q=5, d=3)
    model = cls(
        dimension=8, network=pl.Network(k=0, l=0, dropout=0.0), contexts=contexts, training=plan, random_state=3
    )
    return model.fit(None if cls is pl.PlanetoidG else small.X, small.y, graph=small.graph)


@pytest.mark.parametrize("cls", [pl.PlanetoidT, pl.PlanetoidG])
def test_joint_context_steps_move_the_embeddings(cls, small):
    """Without supervised steps on e, the tables are those of skip-gram training at the joint rate, bit for bit."""
    model = fitted(cls, small, steps=4, T2=1.5, embedding_learning_rate=0.0)
    e, w = new_tables(small.n_nodes, 8, 3)
    before = e.copy()
    sampler = ContextSampler(small.graph, model.contexts, small.y, seed=3)
    skipgram = SkipGram(sampler, e, w, learning_rate=0.1, final_rate=0.1)
    assert skipgram.n_batches(100) > 1
    skipgram.train(0, 6 * skipgram.n_batches(100), 1)
    np.testing.assert_array_equal(model.embedding_, e)
    np.testing.assert_array_equal(model.context_, w)
    assert np.abs(model.embedding_ - before).max() > 0.01
    without = fitted(cls, small, steps=4, T2=0.0, embedding_learning_rate=0.0)
    np.testing.assert_array_equal(without.embedding_, before)


@pytest.mark.parametrize("cls", [pl.PlanetoidT, pl.PlanetoidG])
def test_lambda_is_the_weight_of_the_context_loss(cls, small):
    model = fitted(cls, small, steps=2, lambda_=0.3, embedding_learning_rate=0.0)
    e, w = new_tables(small.n_nodes, 8, 3)
    skipgram = SkipGram(
        ContextSampler(small.graph, model.contexts, small.y, seed=3), e, w, learning_rate=0.03, final_rate=0.03
    )
    skipgram.train(0, 2 * skipgram.n_batches(100), 1)
    np.testing.assert_array_equal(model.embedding_, e)
    np.testing.assert_array_equal(model.context_, w)


@pytest.mark.parametrize(("cls", "factor"), [(pl.PlanetoidT, 1.0), (pl.PlanetoidI, 0.5), (pl.PlanetoidG, 0.25)])
def test_automatic_weight_decay_falls_with_the_number_of_classes(cls, factor, small):
    for n_classes, expected in ((2, 0.05), (10, 0.01), (100, 0.0001)):
        data = Dataset("small", small.graph, None, small.y % 2, np.arange(n_classes))
        assert cls()._weight_decay(data) == pytest.approx(factor * expected)
        assert cls().set_params(training__weight_decay=0.3)._weight_decay(data) == 0.3


@pytest.mark.parametrize("cls", [pl.PlanetoidT, pl.PlanetoidG])
def test_a_supervised_step_moves_the_embeddings_down_the_gradient(cls, small):
    """One step on L_s alone: e - rate * gradient by autograd, and the likelihood of the labels rises."""
    model = fitted(cls, small, steps=1, T1=1.0, T2=0.0, embedding_learning_rate=0.5, N1=1000)
    before = torch.from_numpy(new_tables(small.n_nodes, 8, 3)[0])
    x = None if cls is pl.PlanetoidG else torch.from_numpy(model._scale(small.X))
    head = Head(0 if x is None else x.shape[1], 8, 3, model.network, StepRandom(3))
    rows = torch.from_numpy(small.labelled)
    labels = torch.from_numpy(small.y[small.labelled].astype(np.int64))
    e = before[rows].requires_grad_()
    loss = head.loss(None if x is None else x[rows], e, labels, None)
    loss.backward()
    expected = before.clone()
    expected[rows] -= 0.5 * e.grad
    torch.testing.assert_close(torch.from_numpy(model.embedding_), expected, rtol=1e-5, atol=1e-7)
    assert (expected - before).abs().max() > 1e-3


def test_nodes_without_features_are_labelled_by_their_embedding(small):
    bare = np.flatnonzero(np.arange(small.n_nodes) % 12 >= 9)
    X = small.X.copy()
    X[bare] = 0.0
    model = pl.PlanetoidT().set_params(**QUICK).fit(X, small.y, graph=small.graph)
    assert (model.predict()[bare] == small.truth[bare]).all()
    assert np.linalg.norm(model.embedding_[bare], axis=1).min() > 0.1


def test_isolated_nodes_are_labelled_by_their_features(small):
    graph = small.graph.with_nodes(small.n_nodes + 3)
    X = np.vstack([small.X, small.X[[0, 12, 24]]])
    model = pl.PlanetoidT().set_params(**QUICK).fit(X, np.append(small.y, [-1] * 3), graph=graph)
    assert model.predict()[-3:].tolist() == [0, 1, 2]
    assert not model.embedding_[-3:].any()


def test_g_is_no_t():
    """Siblings: neither takes a parameter of the other's for granted."""
    assert not issubclass(pl.PlanetoidG, pl.PlanetoidT)
    assert set(pl.PlanetoidT().get_params(deep=False)) - set(pl.PlanetoidG().get_params(deep=False)) == {
        "row_normalize"
    }
