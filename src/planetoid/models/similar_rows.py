"""``SimilarRows``: the nodes whose features are most like those of a node.

Nodes with similar features tend to be of one class whether they are joined or not. Where a network that was distilled
from the model predicts a class for each node from its own features, the predictions for the most similar nodes say the
same with less noise; and where left-out labels say that it helps, similar nodes are joined.

Features are sparse counts or the like: how similar two nodes are is the cosine of their rows, in which a column counts
the more, the fewer nodes have it (the logarithm of the inverse share).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import scale_rows
from planetoid.graph.adjacency import mean_weight

__all__ = ["SimilarRows"]

NEIGHBOURS = 30  # most similar nodes that are known of each
LARGEST_SHARE = 0.7  # of their predictions, in the mean with the node's own
ENOUGH_FEATURES = 5.0  # with at least rows / this, the share is largest; few columns cannot tell so many rows apart
JOINED, WEIGHT = 10, 0.2  # most similar nodes that may be joined; the weight of such edges, of the mean weight
LEAST_SHARE = 0.1  # below which similar rows are not worth the time
MOST_PRODUCTS = 500_000_000  # of two entries of a column: about a second


class SimilarRows(NamedTuple):
    """The most similar nodes of each node, the most similar first."""

    nodes: npt.NDArray[np.int32]  # (node, rank); -1 where there are no more
    share: float  # of their predictions beside a node's own

    @classmethod
    def of(cls, x: sparse.csr_array) -> SimilarRows | None:
        """Find them for the rows of x; None where these do not tell, or where it would take too long."""
        from planetoid.engine.similar_rows import find_similar

        n_rows, n_columns = x.shape
        described = int(np.count_nonzero(np.diff(x.indptr)))
        frequency = np.bincount(x.indices, minlength=n_columns)
        share = LARGEST_SHARE * min(1.0, ENOUGH_FEATURES * n_columns / max(1, described))
        if share < LEAST_SHARE or float(frequency @ frequency.astype(np.float64)) > MOST_PRODUCTS:
            return None
        rarity = np.log(max(1, described) / np.maximum(frequency, 1)).astype(np.float32)
        rows = scale_rows(sparse.csr_array((x.data * rarity[x.indices], x.indices, x.indptr), x.shape), "l2")
        columns = sparse.csr_array(rows.T)
        nodes, similarity = np.empty((n_rows, NEIGHBOURS), np.int32), np.empty((n_rows, NEIGHBOURS), np.float32)
        find_similar(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32),
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data.astype(np.float32),
            np.zeros(n_rows, np.float32), np.full(n_rows, -1, np.int32), np.empty(n_rows, np.int32), nodes, similarity,
        )  # fmt: skip
        return cls(nodes, share)

    def averaged(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the mean of each row of values and of those of the most similar nodes, by their share."""
        nearest = self._nearest(NEIGHBOURS)
        counts = np.diff(nearest.indptr)[:, None].astype(np.float32)
        share = np.where(counts > 0, np.float32(self.share), np.float32(0))
        mean = np.asarray(nearest @ values) / np.maximum(counts, 1)
        return np.asarray((1 - share) * values + share * mean, dtype=np.float32)

    def joined(self, adjacency: sparse.csr_array) -> sparse.csr_array:
        """Return a graph with more edges: between nodes that are among the most similar ones of each other."""
        nearest = self._nearest(JOINED)
        weight = np.float32(WEIGHT * mean_weight(adjacency))
        return sparse.csr_array(adjacency + weight * nearest.minimum(nearest.T))

    def _nearest(self, count: int) -> sparse.csr_array:
        """Return a matrix with a one for each of the most similar nodes of each node."""
        nodes = self.nodes[:, :count]
        known = nodes >= 0
        first = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        return sparse.csr_array((np.ones(first[-1], np.float32), nodes[known], first), shape=(len(nodes),) * 2)
