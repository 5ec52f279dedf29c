"""The graph as :class:`~planetoid.Planetoid` sees it: made from features if need be, or in the place of features."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows, scale_rows
from planetoid.engine.twins import find_twins
from planetoid.errors import PlanetoidWarning
from planetoid.graph import Graph
from planetoid.graph.adjacency import symmetric_adjacency
from planetoid.labels import UNLABELLED
from planetoid.models.hops import Hops

__all__ = ["MANY_CLASSES", "as_seen_by", "beside_spectrum", "connected", "graph_features"]

GRAPH_DIMENSION = 64  # of the embedding that stands in for features
MANY_CLASSES = 64  # from which on each has few labels and little room in an embedding
NEIGHBOURS, MOST_NODES = 10, 100_000  # of the graph that is made where there are features and no edges


def connected(data: Dataset, X: Rows | None, n_jobs: int | None) -> sparse.csr_array:
    """Return the edges as a symmetric matrix; without any, those of nearest neighbours."""
    graph = data.graph
    if graph.n_edges == 0 and X is not None and 2 <= data.n_nodes <= MOST_NODES:
        from planetoid.graph.construct import knn_graph

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanetoidWarning)  # of rows without features
            graph = knn_graph(X, min(NEIGHBOURS, data.n_nodes - 1), n_jobs=n_jobs)
    return symmetric_adjacency(graph).astype(np.float32)


def graph_features(
    data: Dataset, adjacency: sparse.csr_array, *, seed: int, n_jobs: int | None, verbose: int
) -> sparse.csr_array:
    """Return a skip-gram embedding of the graph, of unit length; ``adjacency`` is what :func:`connected` returned.

    Nodes with the same neighbours have one embedding, if there are many. A directed edge counts in both directions.
    """
    from planetoid.baselines.graph_embedding import GraphEmbedding

    method = GraphEmbedding(dimension=GRAPH_DIMENSION, random_state=seed, n_jobs=n_jobs, verbose=verbose)
    twins = find_twins(adjacency)
    if twins is None:
        as_given = data.graph.n_edges and not data.graph.directed
        known = data if as_given else replace(data, graph=Graph.from_scipy(adjacency))
        return sparse.csr_array(scale_rows(method.embed(known), "l2"))
    # Walks between groups of nodes are those of the graph if the weight of two groups is that between all their nodes.
    size = sparse.diags_array(twins.size.astype(np.float32))
    groups = Graph.from_scipy(sparse.csr_array(size @ twins.matrix))
    merged = Dataset(data.name, groups, None, np.full(groups.n_nodes, UNLABELLED, np.int32), data.classes)
    return sparse.csr_array(scale_rows(method.embed(merged), "l2")[twins.group])


def beside_spectrum(
    x: sparse.csr_array, adjacency: sparse.csr_array, n_classes: int, *, seed: int, hops: Hops | None = None
) -> sparse.csr_array:
    """Return an embedding beside the place of each node in the spectrum of the graph (:mod:`planetoid.models.hops`).

    Eigenvectors still tell communities that are too faint for walks. Many classes would not fit into as few of them:
    there, and in graphs that are too small or too large, the embedding remains as it is. ``hops`` of that graph and
    seed, if they are known, save the time to find the spectrum.
    """
    if n_classes >= MANY_CLASSES:
        return x
    hops = hops or Hops.of(None, adjacency, seed=seed)
    if hops is None:
        return x
    both = sparse.csr_array(sparse.hstack([x, hops.places()]), dtype=np.float32)
    return sparse.csr_array(scale_rows(both, "l2"))


def as_seen_by(view: str, data: Dataset, adjacency: sparse.csr_array) -> Dataset:
    """Return the data that predictions by a view are made from."""
    if view == "graph":
        return replace(data, X=None, graph=Graph.from_scipy(adjacency))
    if view == "features":
        return replace(data, graph=Graph.from_scipy(sparse.csr_array(adjacency.shape, dtype=np.float32)))
    return data if data.graph.n_edges else replace(data, graph=Graph.from_scipy(adjacency))
