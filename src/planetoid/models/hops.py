"""``Hops``: a node's own features beside those one and two steps away, and where it is in the spectrum of the graph.

A mean over the nodes around a node tells its class where joined nodes are alike. In other graphs they differ in a
regular way: buyers are joined to sellers, words of one kind to words of another. What helps there is to keep a node's
own features apart from those of its neighbours and of their neighbours, and to describe its place in the graph without
the assumption that neighbours are alike: by the eigenvectors of the normalised adjacency matrix with the largest
eigenvalues, negative ones too (those say that neighbours are unlike). A row is

    [x, A x, A^2 x, v |lambda|^2],    A = D^-1/2 W D^-1/2,

each block of unit length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import Rows, scale_rows
from planetoid.graph.adjacency import strengths
from planetoid.io.model_files import Tensors
from planetoid.utils.sparse_format import check_sparse_format

__all__ = ["FEWEST_NODES", "MOST_NODES", "HopReasons", "Hops"]

STEPS = 2
DIMENSION = 16  # eigenvectors
POWER = 2.0  # of the eigenvalues that they are multiplied by
TOLERANCE = 1e-4  # of the eigenvalues
FEWEST_NODES, MOST_NODES = 64, 100_000
MOST_ENTRIES = 60_000_000  # of all rows, about
SMALLEST = 1e-9

Matrix = npt.NDArray[np.float32]


class HopReasons(NamedTuple):
    """What a linear score of the row of one node is made of."""

    neighbours: npt.NDArray[np.float64]  # (node): what each node adds
    features: npt.NDArray[np.float64] | None  # (column)


class Hops(NamedTuple):
    """What the rows of nodes are made from."""

    X: sparse.csr_array | None  # scaled features
    vectors: Matrix  # (node, dimension): eigenvectors
    values: Matrix  # eigenvalues

    @classmethod
    def of(cls, X: Rows | None, adjacency: sparse.csr_array, *, seed: int) -> Hops | None:
        """Return what rows are made from; None if the graph is too small, or so large that it would take too long."""
        n = adjacency.shape[0]
        if not FEWEST_NODES <= n <= MOST_NODES or adjacency.nnz == 0:
            return None
        own = None if X is None else sparse.csr_array(X)
        if own is not None and _most_entries(own, adjacency) > MOST_ENTRIES:
            return None
        return cls(own, *_spectrum(adjacency, seed))

    @property
    def n_features(self) -> int:
        """Number of columns of each block of features."""
        return 0 if self.X is None else int(self.X.shape[1])

    def places(self) -> sparse.csr_array:
        """Return the places of all nodes in the spectrum, the last block of their rows."""
        return sparse.csr_array(_placed(self.vectors, self.values))

    def rows(self, adjacency: sparse.csr_array, nodes: npt.NDArray[np.int64] | None = None) -> sparse.csr_array:
        """Return the rows of all nodes, or of some."""
        blocks: list[sparse.csr_array] = []
        if self.X is not None:
            blocks = _blocks(_normalized(adjacency), self.X, nodes)
        places = self.vectors if nodes is None else self.vectors[nodes]
        return _joined(blocks, _placed(places, self.values))

    def extended(self, adjacency: sparse.csr_array, X: sparse.csr_array | None) -> sparse.csr_array:
        """Return the rows of new nodes, the last of a graph; without X they have no features of their own."""
        n_new = adjacency.shape[0] - len(self.vectors)
        new = np.arange(len(self.vectors), adjacency.shape[0])
        blocks: list[sparse.csr_array] = []
        if self.X is not None:
            own = sparse.csr_array((n_new, self.n_features), dtype=np.float32) if X is None else X
            blocks = _blocks(_normalized(adjacency), sparse.csr_array(sparse.vstack([self.X, own])), new)
        fitted = np.arange(len(self.vectors))
        mean_degree = float(strengths(sparse.csr_array(adjacency[fitted][:, fitted])).mean())
        to_fitted = sparse.csr_array(_normalized(adjacency, mean_degree)[new][:, fitted])
        places = np.asarray((to_fitted @ self.vectors) / self.values, dtype=np.float32)
        return _joined(blocks, _placed(places, self.values))

    def reasons(self, adjacency: sparse.csr_array, row: int, weights: npt.NDArray[np.float64]) -> HopReasons:
        """Return the parts of ``row @ weights`` for one node, which add up to it, by node and by feature.

        An eigenvector is the sum over a node's neighbours of their entries, divided by the eigenvalue, so that the
        place of a node is due to them. The parts by feature are of the blocks of features only.
        """
        nodes = np.array([row])
        values = np.zeros(adjacency.shape[0])
        by_feature = None
        if self.X is not None:
            step, by_feature = _normalized(adjacency), np.zeros(self.n_features)
            reach = sparse.csr_array(([1.0], ([0], [row])), shape=(1, adjacency.shape[0]))
            for number in range(STEPS + 1):
                own = weights[number * self.n_features : (number + 1) * self.n_features]
                block = sparse.csr_array(reach @ self.X)
                length = max(float(np.sqrt((block.data**2).sum())), SMALLEST)
                values[reach.indices] += reach.data * (self.X[reach.indices] @ own) / length
                by_feature[block.indices] += block.data * own[block.indices] / length
                reach = sparse.csr_array(reach @ step)
        place = self.vectors[nodes] * np.abs(self.values) ** POWER
        length = float(np.sqrt((place.astype(np.float64) ** 2).sum()))
        around = sparse.csr_array(_regularized(adjacency)[nodes])
        if len(around.indices) and length > SMALLEST:
            of_place = np.abs(self.values) ** POWER / self.values * weights[len(weights) - len(self.values) :] / length
            found = around.data * (self.vectors[around.indices] @ of_place)
            exact = float((place[0] / length) @ weights[len(weights) - len(self.values) :])
            found += (exact - found.sum()) / len(found)  # eigenvectors are not exact
            values[around.indices] += found
        return HopReasons(values, by_feature)

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        tensors: Tensors = {"hops.vectors": self.vectors, "hops.values": self.values}
        if self.X is not None:
            tensors |= {"hops.indptr": self.X.indptr, "hops.indices": self.X.indices, "hops.data": self.X.data}
            tensors["hops.n_features"] = np.array([self.n_features])
        return tensors

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> Hops:
        """Restore what :meth:`tensors` returned."""
        X, vectors = None, tensors["hops.vectors"]
        if "hops.indptr" in tensors:
            parts = tensors["hops.data"], tensors["hops.indices"], tensors["hops.indptr"]
            X = sparse.csr_array(parts, shape=(len(vectors), int(tensors["hops.n_features"][0])))
            check_sparse_format(X)
        return cls(X, vectors, tensors["hops.values"])


def _blocks(step: sparse.csr_array, X: sparse.csr_array, nodes: npt.NDArray[np.int64] | None) -> list[sparse.csr_array]:
    """Return x, A x and A^2 x of all nodes, or of some."""
    blocks = []
    if nodes is None:
        block = X
        for _ in range(STEPS + 1):
            blocks.append(block)
            block = sparse.csr_array(step @ block)
        return blocks
    reach = sparse.csr_array(
        (np.ones(len(nodes), np.float32), (np.arange(len(nodes)), nodes)), shape=(len(nodes), X.shape[0])
    )
    for _ in range(STEPS + 1):
        blocks.append(sparse.csr_array(reach @ X))
        reach = sparse.csr_array(reach @ step)
    return blocks


def _joined(blocks: list[sparse.csr_array], places: Matrix) -> sparse.csr_array:
    """Return blocks of columns side by side, each row of each block of unit length."""
    scaled = [scale_rows(block, "l2", np.float32) for block in blocks]
    return sparse.csr_array(sparse.hstack([*scaled, sparse.csr_array(places)]), dtype=np.float32)


def _placed(vectors: Matrix, values: Matrix) -> Matrix:
    """Return places in the spectrum, of unit length; nodes that are in none of the eigenvectors have none."""
    places = vectors.astype(np.float64) * np.abs(values) ** POWER
    lengths = np.sqrt((places**2).sum(axis=1, keepdims=True))
    return np.where(lengths > SMALLEST, places / np.maximum(lengths, SMALLEST), 0.0).astype(np.float32)


def _normalized(adjacency: sparse.csr_array, more: float = 0.0) -> sparse.csr_array:
    """Return ``D^-1/2 W D^-1/2``, with a constant added to the degrees D."""
    degrees = strengths(adjacency) + more
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scaled = sparse.csr_array(adjacency, dtype=np.float32, copy=True)
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    scaled.data = (adjacency.data * root[rows] * root[adjacency.indices]).astype(np.float32)
    return scaled


def _regularized(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix whose spectrum is used: with the mean degree added, so that small parts do not fill it."""
    return _normalized(adjacency, float(strengths(adjacency).mean()))


def _spectrum(adjacency: sparse.csr_array, seed: int) -> tuple[Matrix, Matrix]:
    """Return eigenvectors and eigenvalues, those of the largest size, negative ones too."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    matrix = _regularized(adjacency).astype(np.float64)
    start = np.random.default_rng([seed, 4]).normal(size=matrix.shape[0])
    try:
        values, vectors = eigsh(matrix, DIMENSION, which="LM", v0=start, tol=TOLERANCE)
    except ArpackNoConvergence as error:  # what has converged has to do
        values, vectors = error.eigenvalues, error.eigenvectors
    used = np.abs(values) > SMALLEST
    # A vector and its negative are the same: let the largest entry be positive.
    vectors = vectors[:, used] * np.sign(vectors[np.abs(vectors[:, used]).argmax(axis=0), np.flatnonzero(used)])
    return vectors.astype(np.float32), values[used].astype(np.float32)


def _most_entries(X: sparse.csr_array, adjacency: sparse.csr_array) -> int:
    """Return how many entries the rows of all nodes have at most."""
    pattern = adjacency.astype(np.float64)
    pattern.data[:] = 1.0
    entries, total = np.diff(X.indptr).astype(np.float64), 0.0
    for _ in range(STEPS + 1):
        total += float(np.minimum(entries, X.shape[1]).sum())
        entries = pattern @ entries
    return int(total)
