"""Small graphs of communities, with features, for tests of views."""

import numpy as np
from scipy import sparse


def blocks(n=240, n_classes=3, *, within=0.1, between=0.005, informative=True, seed=0):
    """Return a graph of communities, features with words of the class, and the classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    same = truth[:, None] == truth[None]
    dense = np.triu(rng.random((n, n)) < np.where(same, within, between), 1)
    adjacency = sparse.csr_array((dense + dense.T).astype(np.float32))
    topics = truth if informative else rng.permutation(truth)
    words = rng.random((n, 60)) < np.where((np.arange(60) % n_classes)[None] == topics[:, None], 0.35, 0.15)
    X = words / np.sqrt(np.maximum(words.sum(axis=1, keepdims=True), 1))
    return sparse.csr_array(X, dtype=np.float32), adjacency, truth


def mixed_groups(n=1200, n_classes=3, *, size=30, pure=0.75, seed=0):
    """Return a graph of dense groups that are partly of one class, features with words of the class, and classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    place = np.where(rng.random(n) < pure, truth + rng.random(n), n_classes * rng.random(n))
    group = np.argsort(np.argsort(place)) // size
    dense = np.triu((group[:, None] == group[None]) & (rng.random((n, n)) < 0.4), 1)
    X, _, _ = blocks(n, n_classes, seed=seed)
    return X, sparse.csr_array((dense + dense.T).astype(np.float32)), truth


def labelled_of(truth, per_class):
    return np.sort(np.concatenate([np.flatnonzero(truth == k)[:per_class] for k in np.unique(truth)]))
