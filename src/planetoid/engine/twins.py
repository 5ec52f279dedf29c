"""Nodes with the same neighbours, which are one node for products with the matrix of a graph.

Let M be the matrix of a graph, symmetric but for factors of its rows, and let *twins* be nodes with the same entries
outside of the diagonal, and the same entry on it. M maps columns that are constant on groups of twins to such columns,
by a smaller matrix; and it multiplies what sums to 0 over a group by the entry on the diagonal. So a polynomial of M
times any columns is that of the smaller matrix times their means over groups, and a factor times the rest. In graphs of
entities and of what is said about them, most nodes have one neighbour or two, and many twins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.arrays import Table

__all__ = ["Polynomial", "Twins", "find_twins"]

MOST_GROUPS = 0.5  # per node: with more of them, the smaller matrix saves too little

Polynomial: TypeAlias = Callable[[sparse.csr_array, Table], Table]  # from a matrix A and columns V to p(A) V
Rows: TypeAlias = npt.NDArray[np.intp]


class Twins(NamedTuple):
    """Groups of nodes with the same row."""

    group: Rows  # (node)
    size: Rows  # (group): number of its nodes
    members: sparse.csr_array  # (group, node): 1 where a node belongs to a group
    matrix: sparse.csr_array  # (group, group): the entries of a row, summed over groups
    loops: sparse.csr_array  # (group, group): those on the diagonal of M


def find_twins(matrix: sparse.csr_array) -> Twins | None:
    """Return the groups of nodes with the same row, or None if there are not many twins.

    >>> star = sparse.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], np.float32))
    >>> twins = find_twins(star)
    >>> twins.group.tolist(), twins.matrix.toarray().tolist()
    ([0, 1, 1, 1], [[0.0, 3.0], [1.0, 0.0]])
    """
    n = matrix.shape[0]
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    outside = row != matrix.indices
    starts = np.concatenate([[0], np.cumsum(np.bincount(row[outside], minlength=n))])
    others = sparse.csr_array((matrix.data[outside], matrix.indices[outside], starts), shape=matrix.shape)
    diagonal, random = matrix.diagonal(), np.random.default_rng(0)
    keys = others @ (random.random(n) + 0.5) + diagonal * random.random()  # the same for the same rows
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > MOST_GROUPS * n or not _are_equal(others, diagonal, first[group]):
        return None
    order = np.argsort(first)  # groups in the order of nodes, so that neighbours stay close in memory
    group, first = np.argsort(order)[group], first[order]
    of_node = sparse.csr_array((np.ones(n, matrix.dtype), group, np.arange(n + 1)), shape=(n, len(first)))
    merged = sparse.csr_array(matrix[first] @ of_node)
    merged.sort_indices()
    loops = sparse.csr_array(sparse.diags_array(diagonal[first]))
    return Twins(group, np.bincount(group), sparse.csr_array(of_node.T), merged, loops)


def _are_equal(others: sparse.csr_array, diagonal: npt.NDArray[np.floating], twin: Rows) -> bool:
    """Return whether each row equals that of its twin, which the same key makes likely."""
    chosen = others[twin]
    pairs = (chosen.indptr, others.indptr), (chosen.indices, others.indices), (chosen.data, others.data)
    return all(np.array_equal(one, other) for one, other in (*pairs, (diagonal[twin], diagonal)))
