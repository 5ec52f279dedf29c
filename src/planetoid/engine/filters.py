"""Node values propagated over a graph: powers of a sparse matrix times dense columns, on threads.

:func:`add_powers` does what products with scipy's matrix would do, with the same bits, but on several threads and
without a new array for every power. :class:`Filter` is a mean over powers of the normalised adjacency matrix. Importing
this module does not load numba.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.arrays import Table, aligned_zeros
from planetoid.engine.shards import by_columns

__all__ = ["Filter", "add_powers", "column_blocks", "one_thread_if_loaded"]

BLOCK, SMALLEST_BLOCK = 64, 4  # columns that are propagated at once
MOST_ENTRIES = 64_000_000  # of them together


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
            values = np.float32(scale) * (matrix @ values)
            total += values
        return values
    from planetoid.engine.barrier import run_in_step
    from planetoid.engine.powers import add_powers_in_step

    powers = aligned_zeros(min(steps, 2), *values.shape)
    work = matrix.indptr + np.arange(len(matrix.indptr))  # an entry, or a row to write
    shares = np.arange(n_threads + 1) * (int(work[-1]) / n_threads)
    bounds = np.searchsorted(work, shares).astype(np.int64)
    bounds[-1] = matrix.shape[0]
    run_in_step(
        add_powers_in_step, n_threads, bounds, matrix.indptr, matrix.indices, matrix.data, np.float32(scale), values,
        steps, powers, total,
    )  # fmt: skip
    return np.asarray(powers[(steps - 1) % 2])


def one_thread_if_loaded() -> int | None:
    """Return one thread if compiled code is in use already, else none: loading it takes longer than products do."""
    return 1 if "numba" in sys.modules else None


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
        return by_columns(self._product, values)

    def _product(self, values: Table) -> Table:
        total = np.zeros(values.shape, np.float32)
        power = add_powers(self.adjacency, values, self.K, total, n_threads=self.n_threads)
        if self.variant == "sgc":
            return power
        total *= np.float32((1 - self.alpha) / self.K)
        return np.asarray(total + np.float32(self.alpha) * values)

    def rows(self, X: Table | sparse.csr_array, nodes: npt.NDArray[np.int64]) -> Table:
        """Return the rows ``(S @ X)[nodes]``, by propagation of nodes or of features, whichever are fewer."""
        n, n_features = X.shape
        found = np.empty((len(nodes), n_features), dtype=np.float32)
        if len(nodes) <= n_features:
            for block in column_blocks(len(nodes), n):
                indicator = np.zeros((n, len(nodes[block])), dtype=np.float32)
                indicator[nodes[block], np.arange(indicator.shape[1])] = 1.0
                found[block] = (X.T @ self(indicator)).T
            return found
        columns = sparse.csc_array(X) if sparse.issparse(X) else X
        for block in column_blocks(n_features, n):
            part = columns[:, block]
            dense = part if isinstance(part, np.ndarray) else part.toarray()
            found[:, block] = self(np.asarray(dense, dtype=np.float32))[nodes]
        return found


def column_blocks(n_columns: int, n_rows: int) -> Iterator[slice]:
    """Return slices of columns that are propagated at once: fewer of them where they are long."""
    size = max(SMALLEST_BLOCK, min(BLOCK, MOST_ENTRIES // max(1, n_rows)))
    return (slice(first, min(first + size, n_columns)) for first in range(0, n_columns, size))
