"""The adjacency matrix as methods use it: symmetric, normalised, and its polynomials as filters of node values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

if TYPE_CHECKING:
    from planetoid.graph.core import Graph

__all__ = ["Filter", "blocks", "mean_weight", "normalized_adjacency", "strengths", "symmetric_adjacency"]

Matrix = npt.NDArray[np.float32]
BLOCK, SMALLEST_BLOCK = 64, 4  # columns that are propagated at once
MOST_ENTRIES = 20_000_000  # of them together


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


@dataclass(frozen=True)
class Filter:
    """The symmetric matrix S, by its products.

    Attributes
    ----------
    adjacency : csr_array
        A_hat.
    variant : {"ssgc", "sgc"}
    K : int
    alpha : float
        Ignored by SGC.
    """

    adjacency: sparse.csr_array
    variant: str
    K: int
    alpha: float

    def __call__(self, values: Matrix) -> Matrix:
        """Return ``S @ values``."""
        power, total = values, np.zeros_like(values)
        for _ in range(self.K):
            power = self.adjacency @ power
            total += power
        if self.variant == "sgc":
            return power
        return np.asarray(np.float32((1 - self.alpha) / self.K) * total + np.float32(self.alpha) * values)

    def rows(self, X: Matrix | sparse.csr_array, nodes: npt.NDArray[np.int64]) -> Matrix:
        """Return the rows ``(S @ X)[nodes]``, by propagation of nodes or of features, whichever are fewer."""
        n, n_features = X.shape
        found = np.empty((len(nodes), n_features), dtype=np.float32)
        if len(nodes) <= n_features:
            for block in blocks(len(nodes), n):
                indicator = np.zeros((n, len(nodes[block])), dtype=np.float32)
                indicator[nodes[block], np.arange(indicator.shape[1])] = 1.0
                found[block] = (X.T @ self(indicator)).T
            return found
        columns = sparse.csc_array(X) if sparse.issparse(X) else X
        for block in blocks(n_features, n):
            part = columns[:, block]
            dense = part if isinstance(part, np.ndarray) else part.toarray()
            found[:, block] = self(np.asarray(dense, dtype=np.float32))[nodes]
        return found


def normalized_adjacency(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return ``D^-1/2 (A + w I) D^-1/2`` with the degrees D of ``A + w I`` and the mean edge weight w.

    In an unweighted graph w is 1; in a weighted one it makes the result independent of the unit of the weights.
    """
    loops = mean_weight(adjacency) * sparse.eye_array(adjacency.shape[0])
    looped = sparse.csr_array(adjacency.astype(np.float64) + loops)
    root = sparse.diags_array(1 / np.sqrt(strengths(looped)))
    return sparse.csr_array(root @ looped @ root, dtype=np.float32)


def blocks(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Return slices of columns that are propagated at once: fewer of them where they are long."""
    size = max(SMALLEST_BLOCK, min(BLOCK, MOST_ENTRIES // max(1, n_rows)))
    return (slice(first, min(first + size, n_columns)) for first in range(0, n_columns, size))
