"""A small graph with named nodes and words, three classes, and models of all methods fitted to it once."""

from functools import cache

import numpy as np
import pytest

import planetoid as pl

SMALL = {
    "graphemb": {"dimension": 16, "pretrain": 100},
    "planetoid-t": {"dimension": 16, "training__pretrain": 100},
    "planetoid-g": {"dimension": 16, "training__pretrain": 100},
    "planetoid-i": {"dimension": 16, "training__pretrain": 10},
    "semiemb": {"steps": 60, "width": 16},
    "gcn": {"epochs": 60},
}
CLASSES = np.array(["ash", "beech", "cedar"], dtype=object)
PER_CLASS = 6  # labels


@cache
def small_data():
    """120 nodes ``n0``, ``n1``, ..., the last of them isolated and unlabelled, with words ``w0``, ``w1``, ..."""
    made = pl.datasets.make_citation(119, 3, 60, homophily=0.9, mean_degree=6.0, words_per_node=8, seed=4)
    matrix = made.graph.to_scipy()
    matrix.resize((120, 120))
    ids = [f"n{k}" for k in range(120)]
    graph = pl.Graph.from_scipy(matrix, nodes=ids)
    X = made.X.copy()
    X.resize((120, 60))
    X = X.tolil()
    X[119] = X[0]
    rows = np.concatenate([np.flatnonzero(made.y == k)[:PER_CLASS] for k in range(3)])
    y = np.full(120, -1, np.int32)
    y[rows] = made.y[rows]
    names = np.array([f"w{k}" for k in range(60)], dtype=object)
    return pl.Dataset("small", graph, X.tocsr().astype(np.float32), y, CLASSES, feature_names=names)


def fit(method, data, **parameters):
    model = pl.METHODS[method]().set_params(**SMALL.get(method, {}), **parameters)
    import warnings

    from planetoid.errors import PlanetoidWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)  # of the isolated node
        return model.fit(data)


@cache
def fitted(method):
    return fit(method, small_data())


@pytest.fixture(scope="session")
def data():
    return small_data()
