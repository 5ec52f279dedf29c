"""The adjacency matrix as methods use it: symmetric and normalised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

if TYPE_CHECKING:
    from planetoid.graph.core import Graph

__all__ = ["mean_weight", "normalized_adjacency", "reached_from", "strengths", "symmetric_adjacency"]


def symmetric_adjacency(graph: Graph) -> sparse.csr_array:
    """Return the weights as a symmetric matrix; a directed edge counts in both directions."""
    matrix = graph.to_scipy()
    return sparse.csr_array(matrix + matrix.T) if graph.directed else matrix


def strengths(adjacency: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Return the sum of the weights of each row, in float64 (``adjacency.sum`` adds in float32)."""
    return np.asarray(adjacency @ np.ones(adjacency.shape[1]))


def mean_weight(adjacency: sparse.csr_array) -> float:
    """Return the mean edge weight, 1 without edges: the weight of self-loops that does not depend on its unit."""
    return float(adjacency.data.mean(dtype=np.float64)) if adjacency.nnz else 1.0


def normalized_adjacency(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return ``D^-1/2 (A + w I) D^-1/2`` with the degrees D of ``A + w I`` and the mean edge weight w.

    In an unweighted graph w is 1; in a weighted one it makes the result independent of the unit of the weights.
    """
    loops = mean_weight(adjacency) * sparse.eye_array(adjacency.shape[0])
    looped = sparse.csr_array(adjacency.astype(np.float64) + loops)
    root = sparse.diags_array(1 / np.sqrt(strengths(looped)))
    return sparse.csr_array(root @ looped @ root, dtype=np.float32)


def reached_from(adjacency: sparse.csr_array, nodes: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return which nodes are connected to one of ``nodes``, directly or not, or are one of them.

    >>> path = sparse.csr_array(np.diag([1.0, 0.0, 1.0], 1))  # edges 0-1 and 2-3
    >>> reached_from(path, np.array([1])).tolist()
    [True, True, False, False]
    """
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(adjacency, directed=False)
    return np.asarray(np.isin(component, component[nodes]))
