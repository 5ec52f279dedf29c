"""Node values propagated over a graph: powers of a sparse matrix times dense columns, on threads.

:func:`add_powers` does what products with scipy's matrix would do, with the same bits, but on several threads and
without a new array for every power. :class:`GraphMatrix` does it once for all nodes with the same neighbours, if there
are many such. :class:`Filter` is a mean over powers of the normalised adjacency matrix. Importing this module does not
load numba.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.arrays import Table, aligned_zeros
from planetoid.engine.shards import by_columns
from planetoid.engine.twins import Polynomial, find_twins

__all__ = ["Filter", "GraphMatrix", "add_powers", "column_blocks", "one_thread_if_loaded"]

BLOCK, SMALLEST_BLOCK = 64, 4  # columns that are propagated at once
MOST_ENTRIES = 64_000_000  # of them together
FEW_STEPS, SPARSE = 3, 1 / 16  # after which few nodes are reached, if these are at most such a share of all
LANES, FEW_COLUMNS = 32, 16  # columns that compiled code adds up at once; from how many on it pays to fill these up


def add_powers(
    matrix: sparse.csr_array,
    values: Table,
    steps: int,
    total: Table,
    *,
    scale: float = 1.0,
    n_threads: int | None = None,
) -> Table:
    """Add ``(scale * matrix)^k @ values`` for k = 1 to ``steps`` to ``total``; return the last of them.

    By compiled code on so many threads, or by scipy, with the same bits, if ``n_threads`` is None: loading a compiler
    takes longer than a small product.

    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
    >>> total = np.zeros((3, 1), np.float32)
    >>> add_powers(path, np.array([[1], [0], [0]], np.float32), 2, total).ravel().tolist(), total.ravel().tolist()
    ([1.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    """
    values = np.ascontiguousarray(values, np.float32)
    if steps == 0:
        return values
    if n_threads is None:
        for _ in range(steps):
            values = matrix @ values
            if scale != 1:
                values *= np.float32(scale)
            total += values
        return values
    from planetoid.engine.barrier import run_in_step
    from planetoid.engine.powers import add_powers_in_step

    n, columns = values.shape
    width = columns if columns <= FEW_COLUMNS else -(-columns // LANES) * LANES
    powers, found = aligned_zeros(min(steps, 2), n, width), total
    if width > columns:
        values, found = (np.pad(table, ((0, 0), (0, width - columns))) for table in (values, total))
    work = matrix.indptr + np.arange(len(matrix.indptr))  # an entry, or a row to write
    shares = np.arange(n_threads + 1) * (int(work[-1]) / n_threads)
    bounds = np.searchsorted(work, shares).astype(np.int64)
    bounds[-1] = matrix.shape[0]
    run_in_step(
        add_powers_in_step, n_threads, bounds, matrix.indptr, matrix.indices, matrix.data, np.float32(scale), values,
        steps, powers, found,
    )  # fmt: skip
    if width > columns:
        total[:] = found[:, :columns]
    return np.asarray(powers[(steps - 1) % 2, :, :columns])


def one_thread_if_loaded() -> int | None:
    """Return one thread if compiled code is in use already, else none: loading it takes longer than products do."""
    return 1 if "numba" in sys.modules else None


class GraphMatrix:
    """The matrix M of a graph, symmetric but for factors of its rows, by products with a polynomial p of it.

    Nodes with the same neighbours take one row of a product (:mod:`planetoid.engine.twins`), if there are many.
    Processes divide the columns.

    Parameters
    ----------
    matrix : csr_array
    polynomial : callable
        From a matrix A and columns V to ``p(A) @ V``.
    find : bool
        Whether to look for such nodes, which takes about as long as a product.
    """

    def __init__(self, matrix: sparse.csr_array, polynomial: Polynomial, *, find: bool = True) -> None:
        self.matrix, self.polynomial, self._twins = matrix, polynomial, find_twins(matrix) if find else None
        if self._twins is not None:  # by what p(M) multiplies values that sum to 0 over each group
            self._factors = polynomial(self._twins.loops, np.ones((len(self._twins.size), 1), np.float32))

    def times(self, values: Table) -> Table:
        """Return ``p(M) @ values``."""
        twins = self._twins
        if twins is None:
            return self._shared(values)
        found = self._shared(twins.members @ values)[twins.group]
        found += self._factors[twins.group] * values
        return found

    def times_rows(self, nodes: npt.NDArray[np.int64], values: Table) -> Table:
        """Return ``p(M) @ V`` for columns V with ``values`` in the rows of ``nodes``, and 0 elsewhere."""
        if self._twins is None:
            return self._shared(_placed(values, nodes, self.matrix.shape[0]))
        found = self._shared(self._twins.members[:, nodes] @ values)[self._twins.group]
        found[nodes] += self._factors[self._twins.group[nodes]] * values
        return found

    def between(self, nodes: npt.NDArray[np.int64], values: Table) -> Table:
        """Return the rows of ``nodes`` of what :meth:`times_rows` returns."""
        if self._twins is None:
            return np.asarray(self._shared(_placed(values, nodes, self.matrix.shape[0]))[nodes])
        group = self._twins.group[nodes]
        found = self._shared(self._twins.members[:, nodes] @ values)[group]
        found += self._factors[group] * values
        return found

    def rows_times(self, nodes: npt.NDArray[np.int64], X: Table | sparse.csr_array) -> Table:
        """Return ``(p(M) @ X)[nodes]`` for a symmetric M, by a propagation of the nodes."""
        found = np.empty((len(nodes), X.shape[1]), np.float32)
        transposed = (X if self._twins is None else self._twins.members @ X).T
        for block in column_blocks(len(nodes), self.matrix.shape[0]):
            found[block] = (transposed @ self._shared(self._units(nodes[block]))).T
        if self._twins is not None:
            own = X[nodes] if isinstance(X, np.ndarray) else X[nodes].toarray()
            found += self._factors[self._twins.group[nodes]] * own
        return found

    def _units(self, nodes: npt.NDArray[np.int64]) -> Table:
        """Return the unit vectors of nodes, summed over groups, in columns."""
        if self._twins is None:
            return _placed(np.eye(len(nodes), dtype=np.float32), nodes, self.matrix.shape[0])
        return np.asarray(self._twins.members[:, nodes].toarray(), dtype=np.float32)

    def _shared(self, sums: Table) -> Table:
        """Return what the nodes of each group have in common of ``p(M) @ V``, from the sums of V over groups."""
        if self._twins is None:
            return by_columns(lambda some: self.polynomial(self.matrix, some), sums)
        means = np.asarray(sums / self._twins.size.astype(np.float32)[:, None], dtype=np.float32)
        matrix = self._twins.matrix
        return by_columns(lambda some: self.polynomial(matrix, some) - self._factors * some, means)


def _placed(values: Table, rows: npt.NDArray[np.int64], n: int) -> Table:
    """Return columns with ``values`` in these rows, and 0 elsewhere."""
    placed = np.zeros((n, values.shape[1]), np.float32)
    placed[rows] = values
    return placed


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
    n_threads : int or None
        See :func:`add_powers`.
    """

    adjacency: sparse.csr_array
    variant: str
    K: int
    alpha: float
    n_threads: int | None = None

    def __call__(self, values: Table) -> Table:
        """Return ``S @ values``; processes divide the columns."""
        return self._matrix.times(values)

    @cached_property
    def _matrix(self) -> GraphMatrix:
        return GraphMatrix(self.adjacency, self._product, find=self.K > FEW_STEPS)

    def _product(self, matrix: sparse.csr_array, values: Table) -> Table:
        total = np.zeros(values.shape, np.float32)
        power = add_powers(matrix, values, self.K, total, n_threads=self.n_threads)
        if self.variant == "sgc":
            return power
        total *= np.float32((1 - self.alpha) / self.K)
        return np.asarray(total + np.float32(self.alpha) * values)

    def rows(
        self, X: Table | sparse.csr_array, nodes: npt.NDArray[np.int64], dtype: npt.DTypeLike = np.float32
    ) -> npt.NDArray[Any]:
        """Return the rows ``(S @ X)[nodes]``, by propagation of nodes or of features, whichever are fewer.

        They are computed in single precision; ``dtype`` converts them.
        """
        n, n_features = X.shape
        near = self._near(nodes) if self.K <= FEW_STEPS else None
        if near is not None:
            product = near @ X
            if not isinstance(product, np.ndarray):
                entries = product.data.astype(dtype)  # of the matrix itself, this would sort them all
                product = sparse.csr_array((entries, product.indices, product.indptr), product.shape).toarray()
            return np.asarray(product, dtype=dtype)
        if len(nodes) <= n_features:
            return self._matrix.rows_times(nodes, X).astype(dtype, copy=False)
        found = np.empty((len(nodes), n_features), dtype=dtype)
        columns = sparse.csc_array(X) if sparse.issparse(X) else X
        for block in column_blocks(n_features, n):
            part = columns[:, block]
            dense = part if isinstance(part, np.ndarray) else part.toarray()
            found[:, block] = self(np.asarray(dense, dtype=np.float32))[nodes]
        return found

    def _near(self, nodes: npt.NDArray[np.int64]) -> sparse.csr_array | None:
        """Return the rows ``S[nodes]`` as a sparse matrix, or None if they are not sparse."""
        n, degrees, integer = self.adjacency.shape[0], np.diff(self.adjacency.indptr), self.adjacency.indices.dtype
        one_each = np.ones(len(nodes), np.float32), nodes.astype(integer), np.arange(len(nodes) + 1, dtype=integer)
        units = sparse.csr_array(one_each, (len(nodes), n))
        total, rest = units, None if self.variant == "sgc" else units  # S is K times: multiply, and add the rest
        for step in range(self.K):
            if degrees[total.indices].sum() > SPARSE * len(nodes) * n:
                return None
            total = sparse.csr_array((total if step == 0 or rest is None else total + rest) @ self.adjacency)
        if rest is None:
            return total
        total.data *= np.float32((1 - self.alpha) / self.K)
        rest.data *= np.float32(self.alpha)
        return sparse.csr_array(total + rest)


def column_blocks(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Return slices of columns that are propagated at once: fewer of them where they are long."""
    size = max(SMALLEST_BLOCK, min(BLOCK, MOST_ENTRIES // max(1, n_rows)))
    return (slice(first, min(first + size, n_columns)) for first in range(0, n_columns, size))
