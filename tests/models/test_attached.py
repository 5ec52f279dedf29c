"""New nodes with edges to fitted ones."""

import numpy as np
import pytest
from scipy import sparse
from tests.models.conftest import own_and_similar, planetoid, pooled

import planetoid as pl
from planetoid.models.context_network import ContextNetwork
from planetoid.models.student import class_probabilities


@pytest.fixture(scope="module")
def grown(citation):
    """A model without the last 60 nodes, these nodes, and their edges by row number."""
    data, split = citation
    n = data.n_nodes - 60
    matrix = data.graph.to_scipy()
    y = pl.mask_labels(data.y, split.train[split.train < n])[:n]
    graph = pl.Graph.from_scipy(sparse.csr_array(matrix[:n, :n]))
    model = planetoid(student=True, view="neighbourhood").fit(data.X[:n], y, graph=graph)
    source, target = sparse.triu(matrix).nonzero()
    edges = [(int(a), int(b)) for a, b in zip(source, target, strict=True) if max(a, b) >= n]
    return model, n, edges


def test_new_nodes_with_edges_are_as_if_they_had_been_there(citation, grown):
    data, _ = citation
    model, n, edges = grown
    found = model.predict_proba(data.X[n:], edges=edges)
    matrix = data.graph.to_scipy().astype(np.float32)
    inputs = sparse.csr_array(model._inputs.scaled(data.X))
    contexts = model._network.contexts._replace(adjacency=matrix)
    whole = ContextNetwork.of(model._network.layers, contexts, inputs)
    predictions = model._context_predictions
    alone = class_probabilities(predictions.layers, inputs)
    of_new = own_and_similar(alone[n:], alone[:n], inputs[n:], inputs[:n], predictions.similar.share)
    own = np.vstack([predictions.own, of_new])
    network = np.exp(whole.log_probabilities(whole.embedding()))
    expected = model.calibration_.apply(pooled(model, matrix, network, own)[n:])
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    truth = data.y[n:]
    labels = model.predict(data.X[n:], edges=edges)
    assert (labels == truth).mean() >= (model.predict(data.X[n:]) == truth).mean()


def test_ids_of_new_nodes(citation, grown):
    import pandas as pd

    data, _ = citation
    model, n, edges = grown
    expected = model.predict_proba(data.X[n:], edges=edges)
    named = [tuple(f"new {node}" if node >= n else node for node in edge) for edge in edges]
    ids = [f"new {row}" for row in range(n, data.n_nodes)]
    np.testing.assert_array_equal(model.predict_proba(data.X[n:], edges=named, ids=ids), expected)
    frame = pd.DataFrame(data.X[n:].toarray(), index=ids)
    np.testing.assert_allclose(model.predict_proba(frame, edges=named), expected, rtol=1e-5)
    heavier = [(*edge, 1.0) for edge in edges]
    np.testing.assert_array_equal(model.predict_proba(data.X[n:], edges=heavier), expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_edges_in_a_data_frame(citation, grown, library):
    frames = pytest.importorskip(library)
    data, _ = citation
    model, n, edges = grown
    weighted = [(a, b, 1.0 + a % 3) for a, b in edges]
    for some, columns in ((edges, ["a", "b"]), (weighted, ["a", "b", "weight"])):
        table = frames.DataFrame(dict(zip(columns, zip(*some, strict=True), strict=True)))
        expected = model.predict_proba(data.X[n:], edges=some)
        np.testing.assert_array_equal(model.predict_proba(data.X[n:], edges=table), expected)


def test_new_nodes_without_features(grown):
    model = grown[0]
    probabilities = model.predict_proba(edges=[("one", 3), ("two", 4), ("two", "one")])
    assert probabilities.shape[0] == 2
    alone = model.predict_proba(edges=[("one", 3)])
    own = model.predict_proba(nodes=[3])
    assert alone.argmax() == own.argmax()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [(0, 1)]}, "joins two fitted nodes"),
        ({"edges": [("a", 1, -1.0)]}, "must be positive"),
        ({"edges": [("a",)]}, "must be a pair"),
        ({"edges": [("a", 1)], "nodes": [0]}, "not both"),
        ({"edges": [("a", 1)], "ids": ["a", "a"]}, "must differ"),
        ({"edges": [("a", 1)], "ids": [0]}, "is fitted already"),
    ],
)
def test_edges_that_make_no_sense(grown, arguments, message):
    with pytest.raises(pl.errors.DataError, match=message):
        grown[0].predict_proba(**arguments)


def test_unknown_and_missing_ids(citation, grown):
    data, _ = citation
    model, n, _ = grown
    with pytest.raises(pl.errors.DataError, match="node 'nobody': not in the graph"):
        model.predict_proba(data.X[n : n + 1], edges=[("nobody", 1)])
    with pytest.raises(pl.errors.DataError, match="1 ids for 2 rows"):
        model.predict_proba(data.X[n : n + 2], edges=[("a", 1)], ids=["a"])


def test_a_new_node_of_a_graph_without_features_starts_from_the_mean_of_its_neighbours(citation):
    data, split = citation
    model = planetoid().fit(None, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert model.view_ == "graph"
    n, neighbours = data.n_nodes, [3, 8]
    adjacency = sparse.lil_array((n + 1, n + 1), dtype=np.float32)
    adjacency[:n, :n] = model._network.contexts.adjacency
    adjacency[n, neighbours] = adjacency[neighbours, n] = 1.0
    start = model._network.projected[neighbours].mean(axis=0, keepdims=True)
    whole = model._network.extended(sparse.csr_array(adjacency), start)
    own = np.vstack([model._context_predictions.own, np.zeros((1, data.n_classes))])
    network = np.exp(whole.log_probabilities(whole.embedding()))
    expected = model.calibration_.apply(pooled(model, sparse.csr_array(adjacency), network, own)[n:])
    found = model.predict_proba(edges=[(n, node) for node in neighbours])
    np.testing.assert_allclose(found, expected, rtol=2e-4)
    whole = model._network.extended(sparse.csr_array(adjacency), 0 * start)
    network = np.exp(whole.log_probabilities(whole.embedding()))
    without = model.calibration_.apply(pooled(model, sparse.csr_array(adjacency), network, own)[n:])
    assert np.abs(without / expected - 1).max() > 2e-3  # ten times the tolerance
