"""A small graph of three communities for the tests of the models."""

import numpy as np
import pytest

import planetoid as pl


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
