"""The adjacency matrix as methods use it: symmetric and normalised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

if TYPE_CHECKING:
    from planetoid.graph.core import Graph

__all__ = [
    "leading_vector",
    "mean_weight",
    "normalized_adjacency",
    "reached_from",
    "strengths",
    "symmetric_adjacency",
    "with_loops",
]


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
    looped = with_loops(_with_entries(adjacency, adjacency.data.astype(np.float64)), mean_weight(adjacency))
    root = 1 / np.sqrt(strengths(looped))
    looped.data *= np.repeat(root, np.diff(looped.indptr))
    looped.data *= root[looped.indices]
    return _with_entries(looped, looped.data.astype(np.float32))


def leading_vector(adjacency: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Return the unit vector that :func:`normalized_adjacency` does not change: the roots of the degrees.

    Powers of that matrix add a multiple of it to all columns, so that their rows tell degrees apart, whatever else they
    tell.

    >>> star = sparse.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], np.float32))
    >>> vector = leading_vector(star)
    >>> bool(np.allclose(normalized_adjacency(star) @ vector, vector)), (10 * vector**2).round(6).tolist()
    (True, [4.0, 2.0, 2.0, 2.0])
    """
    entries = _with_entries(adjacency, adjacency.data.astype(np.float64))
    roots = np.sqrt(strengths(with_loops(entries, mean_weight(adjacency))))
    return np.asarray(roots / np.linalg.norm(roots))


def _with_entries(adjacency: sparse.csr_array, entries: npt.NDArray[np.floating]) -> sparse.csr_array:
    """Return a matrix with other entries in the same places, without a copy of these."""
    matrix = sparse.csr_array((entries, adjacency.indices, adjacency.indptr), adjacency.shape)
    matrix.has_canonical_format = adjacency.has_canonical_format
    return matrix


def with_loops(adjacency: sparse.csr_array, weight: float) -> sparse.csr_array:
    """Return the matrix plus ``weight`` on its diagonal, in its own type.

    >>> with_loops(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]]), 1.0).toarray().tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    """
    n = adjacency.shape[0]
    nodes, degrees = np.arange(n, dtype=adjacency.indices.dtype), np.diff(adjacency.indptr)
    rows = np.repeat(nodes, degrees)
    if not adjacency.has_canonical_format or (rows == adjacency.indices).any():
        looped = sparse.csr_array(adjacency + adjacency.dtype.type(weight) * sparse.eye_array(n, dtype=adjacency.dtype))
        looped.sum_duplicates()
        return looped
    # Each entry moves by one place for every loop before it: faster than a sum of matrices.
    indptr = adjacency.indptr + np.arange(n + 1, dtype=adjacency.indptr.dtype)
    before = np.zeros(len(rows) + 1, np.int64)  # so many entries are left of the diagonal
    np.cumsum(adjacency.indices < rows, out=before[1:])
    loops = indptr[:-1] + before[adjacency.indptr[1:]] - before[adjacency.indptr[:-1]]
    others = np.ones(adjacency.nnz + n, bool)
    others[loops] = False
    indices, data = np.empty(len(others), adjacency.indices.dtype), np.empty(len(others), adjacency.dtype)
    indices[loops], data[loops] = nodes, weight
    indices[others], data[others] = adjacency.indices, adjacency.data
    looped = sparse.csr_array((data, indices, indptr), adjacency.shape)
    looped.has_canonical_format = True
    return looped


def reached_from(adjacency: sparse.csr_array, nodes: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Return which nodes are connected to one of ``nodes``, directly or not, or are one of them.

    >>> path = sparse.csr_array(np.diag([1.0, 0.0, 1.0], 1))  # edges 0-1 and 2-3
    >>> reached_from(path, np.array([1])).tolist()
    [True, True, False, False]
    """
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(adjacency, directed=False)
    return np.asarray(np.isin(component, component[nodes]))
