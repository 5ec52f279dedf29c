"""Nodes that were added to a graph get labels, and nothing old moves."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import planetoid as pl
from planetoid.errors import DataError, PlanetoidWarning


@pytest.fixture(scope="module", params=["PlanetoidT", "PlanetoidG"])
def case(request, small):
    """A model of the graph without one node in six, and what folding the rest in gives."""
    held = np.arange(small.n_nodes) % 12 >= 10
    kept = np.flatnonzero(~held)
    ids = np.array([f"n{k}" for k in range(small.n_nodes)], dtype=object)
    whole = pl.Graph.from_edges(ids[small.edges[0]], ids[small.edges[1]], nodes=ids)
    by_features = request.param == "PlanetoidT"
    model = getattr(pl, request.param)(dimension=16).set_params(training__pretrain=100, training__steps=60)
    X = small.X if by_features else None
    model.fit(small.X[kept] if by_features else None, small.y[kept], graph=whole.subgraph(ids[kept]))
    return model, whole, X, ids, kept, held


def test_new_nodes_get_the_right_labels_and_old_ones_stay(case, small):
    model, whole, X, ids, kept, held = case
    before = {name: getattr(model, name).copy() for name in ("embedding_", "context_", "label_distributions_")}
    folded = model.fold_in(whole, X)
    assert (folded.predict()[held] == small.truth[held]).all()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)
        np.testing.assert_array_equal(getattr(folded, name)[kept], value)
    np.testing.assert_allclose(folded.predict_proba().sum(axis=1), 1, atol=1e-5)
    assert folded.predict(nodes=ids[[10, 34]]).tolist() == [0, 2]
    assert len(model.node_ids_) == len(kept)


def test_order_of_nodes_and_threads_do_not_matter(case, small):
    model, whole, X, ids, _, _ = case
    order = np.random.default_rng(0).permutation(small.n_nodes)
    expected = model.fold_in(whole, X)
    turned = model.fold_in(whole.subgraph(ids[order]), None if X is None else X[order])
    assert (turned.predict(nodes=ids) == expected.predict()).mean() > 0.95
    shared = model.set_params(n_jobs=2).fold_in(whole, X)
    model.set_params(n_jobs=1)
    np.testing.assert_array_equal(shared.embedding_, expected.embedding_)


def test_a_folded_model_is_saved_loaded_and_folded_again(case, tmp_path):
    model, whole, X, _ids, _kept, _ = case
    model.save(tmp_path / "old")
    folded = pl.load(tmp_path / "old").fold_in(whole, X)
    np.testing.assert_array_equal(folded.embedding_, model.fold_in(whole, X).embedding_)
    folded.save(tmp_path / "new")
    again = pl.load(tmp_path / "new").fold_in(whole, X)
    np.testing.assert_array_equal(again.label_distributions_, folded.label_distributions_)
    assert again.node_ids_ == folded.node_ids_


def test_new_nodes_without_edges(case, small):
    model, whole, X, ids, _kept, _ = case
    more = whole.with_nodes([*ids, "alone"])
    if X is None:
        with pytest.warns(PlanetoidWarning, match="1 of 7 new nodes have no edge"):
            folded = model.fold_in(more)
    else:
        folded = model.fold_in(more, np.vstack([X, small.X[0]]))
        assert folded.predict(nodes=["alone"]).tolist() == [0]
    assert np.isfinite(folded.predict_proba()).all()


def test_mistakes(case, small):
    model, whole, X, ids, kept, _ = case
    with pytest.raises(NotFittedError):
        type(model)().fold_in(whole, X)
    with pytest.raises(DataError, match="the graph lacks 1 of the 30 nodes"):
        model.fold_in(whole.subgraph(ids[kept[1:]]), None if X is None else X[kept[1:]])
    if X is None:
        with pytest.warns(PlanetoidWarning, match="X is ignored"):
            model.fold_in(whole, small.X)
        return
    with pytest.raises(DataError, match="fold_in needs X"):
        model.fold_in(whole)
    with pytest.raises(DataError, match="X has 15 features"):
        model.fold_in(whole, X[:, 1:])
