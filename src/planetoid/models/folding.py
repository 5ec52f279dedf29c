"""Folding in: embeddings for nodes that were added to a graph, with everything fitted frozen."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.data.checks import align_features
from planetoid.data.dataset import Features
from planetoid.data.types import Probabilities
from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.graph import Graph
from planetoid.training.modules import choose_device
from planetoid.utils.seeds import new_seed

if TYPE_CHECKING:
    import torch

    from planetoid.data.types import FeaturesLike, GraphLike
    from planetoid.models.table_model import TableModel

    Model = TypeVar("Model", bound=TableModel)

__all__ = ["fold_in"]

Rows = npt.NDArray[np.int64]


class Tables(NamedTuple):
    """Embeddings and context parameters, a row per node."""

    e: npt.NDArray[np.float32]
    w: npt.NDArray[np.float32]


def fold_in(model: Model, graph: GraphLike, X: FeaturesLike | None) -> Model:
    """Return a copy of a fitted model that covers the nodes of ``graph``; see ``PlanetoidT.fold_in``."""
    whole = Graph.of(graph)
    features = _check_features(model, whole, X)
    fitted_row = model.node_ids_.rows(whole.node_ids)  # -1 for new nodes
    missing = len(model.node_ids_) - int((fitted_row >= 0).sum())
    if missing:
        raise DataError(
            f"the graph lacks {missing:,} of the {len(model.node_ids_):,} nodes that the model was fitted on",
            hint="fold_in takes the whole graph, fitted nodes and new ones",
        )
    order = np.concatenate([np.flatnonzero(fitted_row >= 0), np.flatnonzero(fitted_row < 0)])  # fitted nodes first
    learned = _learn_tables(model, whole, fitted_row, order)
    folded = copy.copy(model)
    folded.node_ids_ = whole.ids
    folded.embedding_, folded.context_ = np.empty_like(learned.e), np.empty_like(learned.w)
    folded.embedding_[order], folded.context_[order] = learned.e, learned.w
    folded.label_distributions_ = _distributions(folded, model.label_distributions_, whole, features, fitted_row)
    return folded


def _check_features(model: TableModel, graph: Graph, X: FeaturesLike | None) -> Features | None:
    name = type(model).__name__
    if model.uses_features == "never":
        if X is not None:
            warn(PlanetoidWarning(f"{name} does not use features: X is ignored"))
        return None
    if X is None:
        raise DataError(f"{name} learns from features: fold_in needs X, one row per node of the graph")
    features: Features = align_features(X, graph.ids)
    if features.shape[1] != model.n_features_in_:
        raise DataError(f"X has {features.shape[1]} features, but the model was fitted on {model.n_features_in_}")
    return features


def _learn_tables(model: TableModel, graph: Graph, fitted_row: Rows, order: Rows) -> Tables:
    """Learn the new rows of e and w by context steps; rows are in ``order``."""
    from planetoid.engine.skipgram import SkipGram, new_tables

    n_fitted, seed, plan = int((fitted_row >= 0).sum()), new_seed(model.random_state), model.training
    tables = Tables(*new_tables(graph.n_nodes, model.dimension, seed))
    for table, fitted in ((tables.e, model.embedding_), (tables.w, model.context_)):
        table[:n_fitted] = fitted[fitted_row[order[:n_fitted]]]
    tables.e[n_fitted:][~graph.connected()[order[n_fitted:]]] = 0.0
    if n_fitted == graph.n_nodes or graph.n_edges == 0:
        return tables
    from planetoid.engine.sampler import ContextSampler

    sampler = ContextSampler(graph.subgraph(graph.node_ids[order]), model.contexts.replace(r2=1.0), seed=seed)
    skipgram = SkipGram(
        sampler, tables.e, tables.w, learning_rate=plan.context_learning_rate, frozen=n_fitted, batch_size=plan.N2,
        n_jobs=model.n_jobs,
    )  # fmt: skip
    total = skipgram.n_batches(plan.pretrain * graph.n_nodes)
    skipgram.train(0, total, total)
    return tables


def _distributions(
    folded: TableModel, fitted: Probabilities, graph: Graph, features: Features | None, fitted_row: Rows
) -> Probabilities:
    """Keep the distributions of fitted nodes; predict those of new ones."""
    is_fitted, new = fitted_row >= 0, np.flatnonzero(fitted_row < 0)
    distributions = np.empty((graph.n_nodes, len(folded.classes_)), dtype=fitted.dtype)
    distributions[is_fitted] = fitted[fitted_row[is_fitted]]
    if len(new):
        raw = _predict(folded, None if features is None else features[new], new)
        distributions[new] = folded.calibration_.apply(raw)
    isolated = new[~graph.connected()[new]] if features is None else new[:0]
    if len(isolated):
        distributions[isolated] = fitted.mean(axis=0)
        warn(
            PlanetoidWarning(
                f"{len(isolated):,} of {len(new):,} new nodes have no edge, so nothing is known about them; "
                "they get the mean of the fitted distributions"
            )
        )
    distributions.flags.writeable = False
    return distributions


def _predict(folded: TableModel, X: Features | None, new: Rows) -> npt.NDArray[np.float32]:
    import torch

    from planetoid.training.batches import FeatureRows
    from planetoid.training.prediction import predict_in_batches
    from planetoid.training.randomness import one_thread

    device = choose_device(folded.device)
    features = None if X is None else FeatureRows(folded._scale(X), device)
    e = folded.embedding_[new]

    def predict(rows: slice) -> torch.Tensor:
        x = None if features is None else features.batch(rows)
        return folded.head_.log_probabilities(x, torch.from_numpy(e[rows]).to(device)).exp()

    with one_thread():
        return predict_in_batches(predict, len(new))
