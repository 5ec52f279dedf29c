"""``SimilarRows``: the nodes whose features are most like those of a node.

Nodes with similar features tend to be of one class whether they are joined or not. A network that was distilled from
the model predicts a class for each node from its own features; the mean with its predictions for the most similar nodes
says the same with less noise. Where left-out labels say that it helps, similar nodes are joined too.

Features are sparse counts or the like: how similar two rows are is the cosine between them, in which a column counts
the more, the fewer nodes have it (the logarithm of the inverse share). A few columns cannot tell many rows apart, and
features that say much less than the graph find nodes of other classes: the less similar rows count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import scale_rows
from planetoid.graph.adjacency import mean_weight
from planetoid.io.model_files import Tensors
from planetoid.utils.sparse_format import check_sparse_format

__all__ = ["SimilarRows"]

NEIGHBOURS = 30  # most similar nodes whose predictions are averaged
LARGEST_SHARE, LEAST_SHARE = 0.7, 0.1  # of them beside the node's own; below the least they are not asked
ENOUGH_FEATURES = 5.0  # with at least rows / this, columns are not few
JOINED, WEIGHT = 10, 0.2  # most similar nodes that may be joined; the weight of such edges, of the mean weight
MOST_PRODUCTS = 500_000_000  # of two entries of a column: about a second

Nodes = npt.NDArray[np.int32]
Table = npt.NDArray[np.float32]


class SimilarRows:
    """Rows of fitted nodes, among which the most similar ones are looked for.

    Parameters
    ----------
    rows : csr_array
        The features of the fitted nodes.
    share : float
        Of the most similar rows, beside a row itself.
    """

    def __init__(self, rows: sparse.csr_array, share: float) -> None:
        self.rows, self.share = rows, share
        self._nearest: Nodes | None = None  # (row, rank) among the rows themselves

    @classmethod
    def of(cls, rows: sparse.csr_array) -> SimilarRows | None:
        """Return rows to look among; None where their columns are few, or where it would take too long."""
        n_products = float((np.bincount(rows.indices, minlength=1).astype(np.float64) ** 2).sum())
        share = LARGEST_SHARE * min(1.0, ENOUGH_FEATURES * rows.shape[1] / max(1, _described(rows)))
        return cls(rows, share) if share >= LEAST_SHARE and n_products <= MOST_PRODUCTS else None

    def weighted(self, weight: float) -> SimilarRows | None:
        """Return the same with so much of the share; None where that is not worth the time."""
        if self.share * weight < LEAST_SHARE:
            return None
        similar = SimilarRows(self.rows, self.share * weight)
        similar._nearest = self._nearest
        return similar

    def averaged(self, values: Table) -> Table:
        """Return the mean of the value of each fitted node and of those of the most similar ones, by their share."""
        return self._averaged(values, values, self.nearest())

    def averaged_for(self, x: sparse.csr_array, own: Table, value_of: Callable[[sparse.csr_array], Table]) -> Table:
        """Return the same for other rows x with values of their own; ``value_of`` returns those of fitted rows."""
        nodes = self.nearest(x)
        needed = np.unique(nodes[nodes >= 0])
        return self._averaged(own, value_of(self.rows[needed]), np.where(nodes < 0, -1, np.searchsorted(needed, nodes)))

    def joined(self, adjacency: sparse.csr_array) -> sparse.csr_array:
        """Return a graph with more edges: between nodes that are among the most similar ones of each other."""
        nearest = _matrix(self.nearest()[:, :JOINED], len(self.nearest()))
        weight = np.float32(WEIGHT * mean_weight(adjacency))
        return sparse.csr_array(adjacency + weight * nearest.minimum(nearest.T))

    def nearest(self, x: sparse.csr_array | None = None) -> Nodes:
        """Return the fitted nodes that are most similar to each row of x, or to each other; -1 if there are no more."""
        if x is None:
            if self._nearest is None:
                self._nearest = self._search(self.rows, without_itself=True)
            return self._nearest
        return self._search(x, without_itself=False)

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        return {
            "similar.indptr": self.rows.indptr.astype(np.int64),
            "similar.indices": self.rows.indices.astype(np.int32),
            "similar.data": self.rows.data.astype(np.float32),
            "similar.share": np.array([self.share]),
        }

    @classmethod
    def of_tensors(cls, tensors: Tensors, n_rows: int, n_columns: int) -> SimilarRows:
        """Restore what :meth:`tensors` returned."""
        parts = tensors["similar.data"], tensors["similar.indices"], tensors["similar.indptr"]
        rows = sparse.csr_array(parts, shape=(n_rows, n_columns))
        check_sparse_format(rows)
        return cls(rows, float(tensors["similar.share"][0]))

    def _search(self, x: sparse.csr_array, *, without_itself: bool) -> Nodes:
        from planetoid.engine.similar_rows import find_similar

        frequency = np.bincount(self.rows.indices, minlength=self.rows.shape[1])
        rarity = np.log(max(1, _described(self.rows)) / np.maximum(frequency, 1)).astype(np.float32)
        known = _weighted(self.rows, rarity)
        asked = known if without_itself else _weighted(x, rarity)
        columns = sparse.csr_array(known.T)
        n_rows, n_known = asked.shape[0], known.shape[0]
        nodes, similarity = np.empty((n_rows, NEIGHBOURS), np.int32), np.empty((n_rows, NEIGHBOURS), np.float32)
        find_similar(
            *_arrays(asked), *_arrays(columns), without_itself, np.zeros(n_known, np.float32),
            np.full(n_known, -1, np.int32), np.empty(n_known, np.int32), nodes, similarity,
        )  # fmt: skip
        return nodes

    def _averaged(self, own: Table, values: Table, nodes: Nodes) -> Table:
        nearest = _matrix(nodes, len(values))
        counts = np.diff(nearest.indptr)[:, None].astype(np.float32)
        share = np.where(counts > 0, np.float32(self.share), np.float32(0))
        mean = np.asarray(nearest @ values) / np.maximum(counts, 1)
        return np.asarray((1 - share) * own + share * mean, dtype=np.float32)


def _described(rows: sparse.csr_array) -> int:
    """Return how many rows have features."""
    return int(np.count_nonzero(np.diff(rows.indptr)))


def _weighted(rows: sparse.csr_array, weight: npt.NDArray[np.float32]) -> sparse.csr_array:
    """Return rows of unit length whose columns are weighted."""
    weighted = sparse.csr_array((rows.data * weight[rows.indices], rows.indices, rows.indptr), rows.shape)
    return sparse.csr_array(scale_rows(weighted, "l2"))


def _arrays(rows: sparse.csr_array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32)


def _matrix(nodes: npt.NDArray[np.integer], n_columns: int) -> sparse.csr_array:
    """Return a matrix with a one for each node of a row."""
    known = nodes >= 0
    first = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return sparse.csr_array((np.ones(first[-1], np.float32), nodes[known], first), shape=(len(nodes), n_columns))
