"""``ContextNetwork``: the network of :class:`~planetoid.Planetoid`, whose input is the mean over a node's contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_softmax

from planetoid.io.model_files import Tensors
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.saved_layers import layers_of, tensors_of
from planetoid.training.settings import Neighbourhood
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    from planetoid.engine.consistency import Layers

__all__ = ["ContextNetwork"]

Matrix = npt.NDArray[np.float32]


class ContextNetwork(NamedTuple):
    """Embeddings ``e_i = relu(sum_c p_c x_c W1 + b1)`` of the nodes i of a graph, and scores ``e_i W2 + b2``."""

    layers: Layers
    contexts: NodeContexts
    projected: Matrix  # (node, unit): x W1

    @classmethod
    def of(cls, layers: Layers, contexts: NodeContexts, x: sparse.csr_array) -> ContextNetwork:
        """Return the network for the nodes whose inputs are the rows of x."""
        return cls(layers, contexts, np.asarray(x @ layers.W1, dtype=np.float32))

    def embedding(self) -> Matrix:
        """Return the embedding of every node."""
        return np.asarray(np.maximum(self.contexts.mean(self.projected) + self.layers.b1, 0), dtype=np.float32)

    def log_probabilities(self, embedding: Matrix) -> Matrix:
        """Return the logarithms of the class probabilities of embedded nodes."""
        return np.asarray(log_softmax(embedding @ self.layers.W2 + self.layers.b2, axis=1))

    def weighted(self, weight: np.float32) -> ContextNetwork:
        """Return the network with its scores multiplied."""
        return self._replace(layers=self.layers._replace(W2=weight * self.layers.W2, b2=weight * self.layers.b2))

    def extended(self, adjacency: sparse.csr_array, projected: Matrix) -> ContextNetwork:
        """Return the network on a graph in which new nodes follow; ``projected`` is that of the new ones."""
        contexts = self.contexts._replace(adjacency=adjacency)
        return self._replace(contexts=contexts, projected=np.vstack([self.projected, projected]))

    def tensors(self) -> Tensors:
        """Return everything as arrays, but for the parameters of the contexts."""
        adjacency = self.contexts.adjacency
        graph = {"graph.indptr": adjacency.indptr, "graph.indices": adjacency.indices, "graph.data": adjacency.data}
        return tensors_of(self.layers, "layers") | graph | {"projected": self.projected}

    @classmethod
    def of_tensors(
        cls, tensors: Tensors, n_nodes: int, neighbourhood: Neighbourhood, view: str, restart: float
    ) -> ContextNetwork:
        """Restore what :meth:`tensors` returned."""
        parts = tensors["graph.data"], tensors["graph.indices"], tensors["graph.indptr"]
        adjacency = sparse.csr_array(parts, shape=(n_nodes, n_nodes))
        check_sparse_format(adjacency)
        contexts = NodeContexts.of(adjacency, neighbourhood, view, restart=restart)
        return cls(layers_of(tensors, "layers"), contexts, tensors["projected"])
