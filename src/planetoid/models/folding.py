"""Folding in: embeddings for nodes that were added to a graph, with everything old frozen."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.data.checks import align_features
from planetoid.engine import ContextSampler, SkipGram
from planetoid.engine.skipgram import new_tables
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.graph import Graph
from planetoid.models.base import choose_device

if TYPE_CHECKING:
    from planetoid.models.transductive import PlanetoidT

__all__ = ["fold_in"]

Rows = npt.NDArray[np.int64]


def fold_in(model: PlanetoidT, graph: Any, X: Any) -> Any:
    """Return a copy of a fitted model that covers the nodes of ``graph``; see ``PlanetoidT.fold_in``."""
    graph = Graph.of(graph)
    features = None
    if model.uses_features == "required":
        if X is None:
            raise DataError(
                f"{type(model).__name__} learns from features: fold_in needs X, one row a node of the graph"
            )
        features = align_features(X, graph.ids)
    elif X is not None:
        warnings.warn(f"{type(model).__name__} does without features: X is ignored", PlanetoidWarning, stacklevel=3)
    if features is not None and features.shape[1] != model.n_features_in_:
        raise DataError(f"X has {features.shape[1]} features, but the model was fitted on {model.n_features_in_}")
    place = model.node_ids_.rows(graph.node_ids)  # of each node in the fitted model, -1 where new
    missing = len(model.node_ids_) - int((place >= 0).sum())
    if missing:
        raise DataError(
            f"the graph lacks {missing:,} of the {len(model.node_ids_):,} nodes that the model was fitted on; "
            "fold_in takes the whole graph, old nodes and new"
        )
    order = np.concatenate([np.flatnonzero(place >= 0), np.flatnonzero(place < 0)])  # old nodes in front
    e, w = _tables(model, graph, place, order)
    folded = copy.copy(model)
    folded.node_ids_ = graph.ids
    folded.embedding_, folded.context_ = np.empty_like(e), np.empty_like(w)
    folded.embedding_[order], folded.context_[order] = e, w
    folded.label_distributions_ = _distributions(model, folded, graph, features, place)
    return folded


def _tables(model: PlanetoidT, graph: Graph, place: Rows, order: Rows) -> tuple[Any, Any]:
    """Learn the new rows of e and w by context steps; rows are in ``order``."""
    n_old = int((place >= 0).sum())
    e, w = new_tables(graph.n_nodes, model.dimension, model.random_state)
    e[:n_old], w[:n_old] = (table[place[order[:n_old]]] for table in (model.embedding_, model.context_))
    e[n_old:][~graph.connected()[order[n_old:]]] = 0.0
    if n_old == graph.n_nodes or graph.n_edges == 0:
        return e, w
    sampler = ContextSampler(
        graph.subgraph(graph.node_ids[order]),
        r1=model.r1,
        q=model.q,
        d=model.d,
        self_pairs=model.self_pairs,
        seed=model.random_state,
    )
    trainer = SkipGram(sampler, e, w, learning_rate=model.context_rate, frozen=n_old, n_jobs=model.n_jobs)
    total = trainer.n_batches(model.pretrain * graph.n_nodes)
    trainer.train(0, total, total)
    return e, w


def _distributions(model: PlanetoidT, folded: PlanetoidT, graph: Graph, features: Any, place: Rows) -> npt.NDArray[Any]:
    """Keep the distributions of old nodes; ask the classifier about the new ones."""
    from planetoid.training import FeatureRows, one_thread
    from planetoid.training.losses import predict_rows

    known, new = place >= 0, np.flatnonzero(place < 0)
    found = np.empty((graph.n_nodes, len(model.classes_)), dtype=model.label_distributions_.dtype)
    found[known] = model.label_distributions_[place[known]]
    if len(new):
        device = choose_device(model.device)
        rows = None if features is None else FeatureRows(model._scaled(features[new]), device)
        with one_thread():
            found[new] = predict_rows(model.head_, rows, folded.embedding_[new], device)
    alone = new[~graph.connected()[new]] if features is None else new[:0]
    if len(alone):
        found[alone] = model.label_distributions_.mean(axis=0)
        warnings.warn(
            f"{len(alone):,} of {len(new):,} new nodes have no edge, so nothing is known about them; "
            "they get the mean of the fitted distributions",
            PlanetoidWarning,
            stacklevel=4,
        )
    found.flags.writeable = False
    return found
