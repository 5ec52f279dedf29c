"""``Unreached``: nodes about which the view that predictions are made from says nothing.

Where predictions are made from the graph alone: a node without edges, or in a part of the graph without labels, has a
place in an embedding of the graph that says nothing about its class. Its features do: a network on features is
distilled from the predictions for the other nodes, and what it says is averaged over the contexts of a node.

Where predictions are made from each node's own features: a node without features. What is predicted for the nodes
around it is averaged instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows
from planetoid.data.types import Probabilities
from planetoid.graph.adjacency import reached_from
from planetoid.io.model_files import Tensors
from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.student import DistilledLayers, class_probabilities, distil

__all__ = ["Unreached", "by_features_where_unreached"]


class Unreached(NamedTuple):
    """Which nodes the view says nothing about, and what features say about all nodes."""

    reached: npt.NDArray[np.bool_]  # (node): whether it says something
    predictions: ContextPredictions

    @classmethod
    def of(
        cls,
        data: Dataset,
        X: Rows,
        adjacency: sparse.csr_array,
        probabilities: Probabilities,
        *,
        seed: int,
        n_threads: int,
    ) -> Unreached | None:
        """Learn from the nodes that labels reach; None if these are all, or if no labelled node has features."""
        reached = reached_from(adjacency, data.labelled)
        if reached.all() or not data.has_features[data.labelled].any():
            return None
        rows = np.flatnonzero(reached)
        layers = distil(
            X[rows], probabilities[rows], np.searchsorted(rows, data.labelled), data.y[data.labelled], seed=seed,
            n_threads=n_threads,
        )  # fmt: skip
        return cls(reached, ContextPredictions.of(layers, sparse.csr_array(X)))

    @classmethod
    def without_features(
        cls,
        layers: DistilledLayers,
        described: npt.NDArray[np.bool_],
        adjacency: sparse.csr_array,
        probabilities: Probabilities,
    ) -> Unreached | None:
        """Return the predictions for nodes with features, in the place of others; None if there are no edges."""
        if adjacency.nnz == 0:
            return None
        own = np.where(described[:, None], probabilities, 0.0).astype(np.float32)
        return cls(described, ContextPredictions(layers, own))

    def replaced_in(self, probabilities: Probabilities, contexts: NodeContexts, prior: Probabilities) -> Probabilities:
        """Return the probabilities, with others for nodes that the view says nothing about; without any, the prior."""
        by_features = self.predictions.mean(contexts, np.broadcast_to(prior, probabilities.shape))
        return np.where(self.reached[:, None], probabilities, by_features)

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        tensors: Tensors = {"unreached.reached": self.reached.astype(np.uint8), "unreached.own": self.predictions.own}
        return tensors | self.predictions.layers.tensors("unreached")

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> Unreached:
        """Restore what :meth:`tensors` returned."""
        layers = DistilledLayers.of_tensors(tensors, "unreached")
        return cls(tensors["unreached.reached"] > 0, ContextPredictions(layers, tensors["unreached.own"]))


def by_features_where_unreached(
    probabilities: Probabilities,
    adjacency: sparse.csr_array,
    reached: npt.NDArray[np.bool_] | None,
    layers: DistilledLayers,
    x: sparse.csr_array,
) -> Probabilities:
    """Return the probabilities of new nodes, the last of a graph, by rows x where no label reaches them.

    ``reached`` says which of the fitted nodes labels reach; None is all of them.
    """
    n_new = len(probabilities)
    n_fitted = adjacency.shape[0] - n_new
    sources = np.arange(n_fitted) if reached is None else np.flatnonzero(reached)
    unreached = ~reached_from(adjacency, sources)[n_fitted:] & (np.diff(x.indptr) > 0)
    if unreached.any():
        probabilities = probabilities.copy()
        probabilities[unreached] = class_probabilities(layers, x[unreached])
    return probabilities
