"""A small graph of three communities, and a quick ``Planetoid``, for the tests of the models."""

import numpy as np
import pytest

import planetoid as pl

FAST = {"training__steps": 60, "training__warmup": 20, "training__teaching": 40, "student": False}


class Small:
    """Communities of 12 nodes with words of their own; four labels in each."""

    def __init__(self, seed=3, size=12, n_classes=3):
        rng = np.random.default_rng(seed)
        self.truth = np.repeat(np.arange(n_classes), size)
        n = len(self.truth)
        same = self.truth[:, None] == self.truth[None, :]
        edge = np.triu(rng.random((n, n)) < np.where(same, 0.5, 0.02), 1)
        edge[np.arange(n - 1), np.arange(1, n)] = self.truth[1:] == self.truth[:-1]
        self.edges = np.nonzero(edge)
        self.graph = pl.Graph.from_edges(*self.edges, nodes=n)
        chance = np.where(np.repeat(np.arange(n_classes + 1), 4)[None] == self.truth[:, None], 0.8, 0.1)
        self.X = (rng.random(chance.shape) < chance).astype(np.float32)
        self.X[np.arange(n), 4 * self.truth] = 1.0
        self.labelled = np.flatnonzero(np.arange(n) % size < 4)
        self.y = pl.mask_labels(self.truth, self.labelled)
        self.validation = pl.mask_labels(self.truth, np.flatnonzero(np.arange(n) % size >= 8))
        self.n_nodes = n


@pytest.fixture(scope="session")
def small():
    return Small()


def planetoid(**parameters):
    return pl.Planetoid(dimension=16).set_params(**(FAST | parameters))


@pytest.fixture(scope="module")
def citation():
    data = pl.datasets.make_citation(600, seed=3)
    return data, data.split("random", per_class=10, n_val=60, n_test=300, seed=0)


def own_and_similar(own, known, x, rows, share, *, without_itself=False):
    """The means of own values and of those of the 30 most similar known rows, in dense matrices by hand."""
    frequency = (rows.toarray() != 0).sum(axis=0)
    rarity = np.log((rows.toarray() != 0).any(axis=1).sum() / np.maximum(frequency, 1))
    one, other = (matrix.toarray().astype(float) * rarity for matrix in (x, rows))
    one, other = (matrix / np.maximum(np.linalg.norm(matrix, axis=1), 1e-300)[:, None] for matrix in (one, other))
    similarity = one @ other.T
    if without_itself:
        np.fill_diagonal(similarity, 0.0)
    found = own.copy()
    for row, values in enumerate(similarity):
        nearest = np.argsort(-values, kind="stable")[:30]
        nearest = nearest[values[nearest] > 0]
        if len(nearest):
            found[row] = (1 - share) * own[row] + share * known[nearest].mean(axis=0)
    return found


def pooled(model, adjacency, network, own):
    """The predictions of a network and the mean of own predictions over contexts, in dense matrices by hand."""
    A = adjacency.toarray().astype(float)
    degrees = A.sum(axis=1)
    steps = 0.7 * A / np.maximum(degrees, 1e-300)[:, None]
    visits = sum(np.linalg.matrix_power(steps, k) for k in range(11))
    importance = (degrees / A[A > 0].mean() + 1) ** -model.neighbourhood.degree_power * own.any(axis=1)
    mean = visits @ (importance[:, None] * own) / (visits @ importance)[:, None]
    w = model.propagation_weight_
    assert 0 < w < 1
    logs = (1 - w) * np.log(network) + w * np.log(mean)
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
