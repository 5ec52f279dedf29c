"""L_s over batches of labelled nodes: which nodes are in a batch, and the steps of embeddings."""

import numpy as np
import pytest
import torch

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.training.batches import FeatureRows
from planetoid.training.network import Head
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.randomness import StepRandom
from planetoid.training.supervised_loss import EmbeddingTable, SupervisedLoss, TableClassifier


class Watched(torch.nn.Module):
    """A linear classifier that remembers the rows it was asked about."""

    def __init__(self, n_features):
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.zeros(n_features, 3)), []

    def loss(self, rows, x, y, random):
        self.seen.append(rows.tolist())
        return torch.nn.functional.cross_entropy(x @ self.weight, y)

    def log_probabilities(self, rows, x):
        return torch.log_softmax(x @ self.weight, dim=1)


@pytest.fixture
def data(small):
    return Dataset("small", small.graph, small.X, small.y, np.arange(3), validation=small.validation)


def new_loss(data, classifier, **options):
    optimizer = NamedOptimizer("sgd", (classifier.parameters(), 0.1))
    return SupervisedLoss(data, FeatureRows(data.X), classifier, [optimizer], random=StepRandom(0), **options)


def test_batches_are_drawn_from_the_labelled_nodes(data, small):
    classifier = Watched(data.n_features)
    loss = new_loss(data, classifier, batch_size=5)
    for number in (0, 1, 0):
        loss.step(number)
    first, second, again = classifier.seen
    assert first == again != second  # a function of the number alone
    for rows in (first, second):
        assert len(set(rows)) == 5
        assert set(rows) <= set(small.labelled)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_batch_of_all_labelled_nodes(data, small, shuffle):
    classifier = Watched(data.n_features)
    loss = new_loss(data, classifier, batch_size=500, shuffle=shuffle)
    loss.step(0)
    assert sorted(classifier.seen[0]) == small.labelled.tolist()
    assert (classifier.seen[0] == small.labelled.tolist()) != shuffle


def test_validation_metrics_by_hand(data, small):
    classifier = Watched(data.n_features)
    loss = new_loss(data, classifier, batch_size=500)
    for number in range(30):
        loss.step(number)
    rows = np.flatnonzero(small.validation >= 0)
    scores = small.X[rows] @ classifier.weight.detach().numpy()
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = small.validation[rows]
    assert loss.evaluate() == {
        "val_accuracy": pytest.approx((scores.argmax(axis=1) == truth).mean()),
        "val_loss": pytest.approx(-np.log(probabilities[np.arange(len(rows)), truth]).mean(), rel=1e-5),
    }
    unlabelled = Dataset("small", small.graph, small.X, small.y, np.arange(3))
    assert new_loss(unlabelled, classifier, batch_size=5).evaluate() == {}


def test_embeddings_of_labelled_nodes_take_plain_sgd_steps(data, small):
    """e <- e - rate * gradient of L_s, in the rows of the batch and in no others."""
    e = torch.from_numpy(np.random.default_rng(0).normal(size=(data.n_nodes, 4)).astype(np.float32))
    before = e.clone()
    head = Head(0, 4, 3, pl.Network(k=0, l=0, normalize_embedding=False), StepRandom(1))
    table = EmbeddingTable(e, 0.5)
    loss = SupervisedLoss(data, None, TableClassifier(head, table), [table], batch_size=500, random=StepRandom(0))
    rows = torch.from_numpy(small.labelled)
    tracked = before[rows].requires_grad_()
    head.loss(None, tracked, torch.from_numpy(small.y[small.labelled].astype(np.int64)), None).backward()
    loss.step(0)
    torch.testing.assert_close(e[rows], before[rows] - 0.5 * tracked.grad)
    others = np.setdiff1d(np.arange(data.n_nodes), small.labelled)
    assert torch.equal(e[others], before[others])


def new_table_loss(data, e, **options):
    head = Head(0, 4, 3, pl.Network(k=0, l=0, normalize_embedding=False), StepRandom(1))
    table = EmbeddingTable(e, 0.5)
    return SupervisedLoss(
        data, None, TableClassifier(head, table), [table], batch_size=500, random=StepRandom(0), **options
    )


def random_embeddings(data):
    return torch.from_numpy(np.random.default_rng(0).normal(size=(data.n_nodes, 4)).astype(np.float32))


def test_a_weight_scales_the_gradient(data, small):
    """In a weighted sum the step is that of the weighted loss; the value is that of the loss itself."""
    moves, values = [], []
    for weight in (1.0, 0.25):
        e = random_embeddings(data)
        loss = new_table_loss(data, e)
        loss.zero_grad()
        values.append(loss.add_gradient(0, weight))
        loss.apply()
        moves.append(e - random_embeddings(data))
    torch.testing.assert_close(moves[1], 0.25 * moves[0])
    assert moves[0].abs().max() > 0.01
    assert values[0] == values[1]


def test_only_the_given_rows_are_learned_from(data, small):
    e = random_embeddings(data)
    new_table_loss(data, e, rows=small.labelled[:3]).step(0)
    moved = (e != random_embeddings(data)).any(dim=1)
    assert np.flatnonzero(moved.numpy()).tolist() == small.labelled[:3].tolist()


def test_embeddings_return_to_a_state(data):
    e = random_embeddings(data)
    loss = new_table_loss(data, e)
    state = {name: value.clone() for name, value in loss.state().items()}
    loss.step(0)
    assert not torch.equal(e, random_embeddings(data))
    loss.restore(state)
    assert torch.equal(e, random_embeddings(data))
