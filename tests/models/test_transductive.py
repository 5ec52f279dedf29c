"""Planetoid-T and -G: embeddings of nodes without features and of isolated nodes."""

import numpy as np

import planetoid as pl

QUICK = {"dimension": 8, "training__pretrain": 40, "training__steps": 60}


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
