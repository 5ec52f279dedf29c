"""Small random problems that the tests of several methods share."""

import numpy as np
import pytest


def _random_weighted_graph(n, seed, density=0.1):
    """A connected symmetric matrix: a ring and random chords."""
    rng = np.random.default_rng(seed)
    chords = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    ring = np.zeros((n, n))
    ring[np.arange(n), (np.arange(n) + 1) % n] = 0.1 + rng.random(n)
    matrix = np.maximum(chords, np.triu(ring + ring.T, 1)).astype(np.float32)
    return matrix + matrix.T


def _few_labels(n, n_classes, seed):
    """Three labels per class at random nodes, -1 elsewhere."""
    rng = np.random.default_rng(seed)
    y = np.full(n, -1)
    y[rng.choice(n, 3 * n_classes, replace=False)] = np.tile(np.arange(n_classes), 3)
    return y


@pytest.fixture
def random_weighted_graph():
    return _random_weighted_graph


@pytest.fixture
def few_labels():
    return _few_labels
