"""GCN against dense matrices, its training and its surroundings."""

import numpy as np
import pytest
import torch
from scipy import sparse

import planetoid as pl
from planetoid.graph.adjacency import normalized_adjacency
from planetoid.training.gcn_loss import GraphConvolution, GraphConvolutionLoss


@pytest.fixture(scope="module")
def citation():
    data = pl.datasets.make_citation(300, seed=3)
    return data, data.split("random", per_class=10, n_val=60, n_test=150, seed=0)


def network(dropout=0.0, seed=0):
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((15, 15)) < 0.3, 1)
    A = normalized_adjacency(sparse.csr_array((dense + dense.T).astype(np.float32)))
    X = sparse.csr_array((rng.random((15, 8)) < 0.5) * rng.random((15, 8)), dtype=np.float32)
    return GraphConvolution(A, X, 4, 3, dropout, seed)


def test_scores_and_gradients_are_those_of_dense_matrices():
    gcn = network()
    A, X = torch.tensor(gcn.A.toarray()), torch.tensor(gcn.X.toarray())
    W1, W2 = (torch.tensor(weight.detach().numpy(), requires_grad=True) for weight in (gcn.first, gcn.second))
    expected = A @ torch.relu(A @ X @ W1) @ W2
    hidden, scores = gcn()
    torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(hidden, torch.relu(A @ X @ W1), rtol=1e-4, atol=1e-5)
    scores.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(gcn.first.grad, W1.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(gcn.second.grad, W2.grad, rtol=1e-4, atol=1e-5)


def test_dropout_of_features_keeps_rows_apart():
    gcn = network(dropout=0.5)
    dropped = gcn._dropped(gcn.random.at(1)).toarray()
    whole = gcn.X.toarray()
    kept = dropped != 0
    assert 0 < kept.sum() < (whole != 0).sum()
    np.testing.assert_allclose(dropped[kept], 2 * whole[kept], rtol=1e-6)


def test_only_the_first_layer_decays(citation):
    data, _ = citation
    X = sparse.csr_array(data.X)
    gcn = GraphConvolution(sparse.csr_array(sparse.eye_array(data.n_nodes, dtype=np.float32)), X, 4, 3, 0.0, 0)
    loss = GraphConvolutionLoss(gcn, data, 0.01, 5.0)
    before = gcn.first.detach().norm(), gcn.second.detach().norm()
    for parameter in gcn.parameters():
        parameter.grad = torch.zeros_like(parameter)
    loss.apply()
    assert gcn.first.detach().norm() < before[0]
    assert gcn.second.detach().norm() == before[1]


def test_it_is_better_than_features_alone(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = pl.GCN().fit(data.X, y, graph=data.graph)
    feat = pl.Feat().fit(data.X, y)
    right = [(one.predict()[split.test] == data.y[split.test]).mean() for one in (model, feat)]
    assert right[0] > right[1] + 0.05
    assert model.embedding_.shape == (data.n_nodes, 16)


def test_validation_labels_keep_the_best_parameters(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = pl.GCN(epochs=60).fit(data.X, y, graph=data.graph, validation=split.val_labels(data.y))
    best = max(record["val_accuracy"] for record in model.history_)
    assert (model.predict()[split.val] == data.y[split.val]).mean() == pytest.approx(best)
