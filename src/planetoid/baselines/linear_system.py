"""The linear system of the label-propagation family, and three solvers for it.

Harmonic label propagation, local and global consistency, modified adsorption and
Poisson learning each are the solution F of::

    (M - A) F = B

where A is a symmetric non-negative sparse matrix and M a diagonal that is at
least as large as the row sums of A. Rows may be fixed at zero (label propagation
fixes the labelled nodes, whose influence is in B). No solver forms a dense n x n
matrix:

- ``direct``: a sparse LU factorisation, exact, for small graphs;
- ``cg``: the trees that hang off the graph are eliminated, exactly and in one
  sweep; the rest is solved by conjugate gradients, all columns at once, with M
  as the preconditioner;
- ``iterative``: the methods' own updates ``F <- M^-1 (A F + B)``, in float32.

``auto`` is ``direct`` for small graphs, and otherwise ``cg``, but for many columns on
graphs whose factorisation has few entries.

Sums are taken in one fixed order, so the result does not depend on ``n_jobs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.shards import Exchange, OneProcess, current_exchange
from planetoid.utils.threads import resolve_n_jobs

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["DIRECT_LIMIT", "SOLVERS", "Array", "Solution", "System", "solve"]

SOLVERS = ("auto", "direct", "cg", "iterative")
DIRECT_LIMIT = 2_000  # unknowns up to which a factorisation is faster, whatever its fill-in
ROWS_PER_TASK = 1 << 16
MANY_COLUMNS, MOST_TO_FACTORISE = 32, 50_000  # columns and unknowns for which conjugate gradients are slow
MOST_FILL = 8  # entries of a factorisation, per entry of the matrix

Array: TypeAlias = npt.NDArray[Any]
Kernel: TypeAlias = "Callable[..., float | None]"  # of numba, over rows start to stop


@dataclass(frozen=True)
class System:
    """The system ``(M - A) F = B`` on the free rows; the rows of F that are not free are zero.

    Attributes
    ----------
    adjacency : csr_array
        A, symmetric.
    diagonal : array of shape (n,)
        M; positive in every free row.
    right : array of shape (n, k)
        B; only its free rows are read.
    free : boolean array of shape (n,)
    """

    adjacency: sparse.csr_array
    diagonal: Array
    right: Array
    free: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Solution:
    """The solution, the number of iterations, the error, and whether that met the tolerance."""

    values: Array
    n_iter: int
    error: float
    converged: bool


def solve(system: System, solver: str, *, tol: float, max_iter: int, n_jobs: int | None) -> Solution:
    """Solve by ``direct``, ``cg``, ``iterative`` or, for ``auto``, by the number of unknowns.

    ``tol`` bounds the largest change of an entry in one iteration (``iterative``)
    or the residual of a column relative to its right-hand side (``cg``).
    """
    if solver == "direct" or (solver == "auto" and int(system.free.sum()) <= DIRECT_LIMIT):
        return _direct(system)
    with _row_workers(n_jobs) as workers:
        if solver == "iterative":
            return _fixed_point(system, tol, max_iter, workers)
        return _peeled(system, tol, max_iter, workers, may_factorise=solver == "auto")


def _direct(system: System) -> Solution:
    from scipy.sparse.linalg import splu

    rows = np.flatnonzero(system.free)
    values = np.zeros(system.right.shape)
    if len(rows):
        block = system.adjacency[rows][:, rows].astype(np.float64)
        matrix = sparse.diags_array(system.diagonal[rows]) - block
        values[rows] = splu(sparse.csc_array(matrix)).solve(system.right[rows].astype(np.float64))
    return Solution(values, 1, 0.0, True)


def _fixed_point(system: System, tol: float, max_iter: int, workers: Workers) -> Solution:
    """Jacobi's iteration, which is the algorithm in the papers of these methods."""
    from planetoid.baselines.kernels import propagate_rows

    inverse = np.zeros(len(system.free), dtype=np.float32)
    inverse[system.free] = 1.0 / system.diagonal[system.free]
    bias = (inverse[:, None] * system.right).astype(np.float32)
    old, new = bias.copy(), np.empty_like(bias)
    matrix = system.adjacency
    change, n_iter = np.inf, 0
    while n_iter < max_iter and change > tol:
        n_iter += 1
        rows = (matrix.indptr, matrix.indices, matrix.data, inverse, bias, old, new)
        change = max(workers.run(propagate_rows, rows, len(inverse), changed=new), default=0.0)
        old, new = new, old
    return Solution(old, n_iter, change, change <= tol)


def _peeled(system: System, tol: float, max_iter: int, workers: Workers, *, may_factorise: bool) -> Solution:
    """Eliminate trees, solve for the remaining core, and substitute back."""
    from planetoid.baselines.kernels import peel_trees, plant_trees

    matrix = system.adjacency
    diagonal, right = system.diagonal.astype(np.float64), system.right.astype(np.float64)
    order, parents, ties = peel_trees(matrix.indptr, matrix.indices, matrix.data, system.free, diagonal, right)
    core = system.free.copy()
    core[order] = False
    rows, block = _ordered(matrix, np.flatnonzero(core))
    found = _factorised(block, diagonal[rows], right[rows], tol) if may_factorise else None
    if found is None:
        found = _conjugate_gradients(block, diagonal[rows], right[rows], tol, max_iter, workers)
    values = np.zeros_like(right)
    values[rows] = found.values
    plant_trees(order, parents, ties, diagonal, right, values)
    return Solution(values, found.n_iter, found.error, found.converged)


def _factorised(matrix: sparse.csr_array, diagonal: Array, right: Array, tol: float) -> Solution | None:
    """Solve by a factorisation, if there are many columns and it has few entries, as on graphs that are almost trees.

    An incomplete factorisation drops entries if there are too many; the residual shows whether it did.
    """
    from scipy.sparse.linalg import spilu

    n, columns = right.shape
    if columns < MANY_COLUMNS or not 0 < n <= MOST_TO_FACTORISE:
        return None
    whole = sparse.csc_array(sparse.diags_array(diagonal + matrix.diagonal()) - matrix.astype(np.float64))
    try:
        factors = spilu(
            whole, drop_tol=0.0, fill_factor=MOST_FILL, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # singular without the entries that were dropped
        return None
    values = factors.solve(right)
    size = np.sqrt((right**2).sum(axis=0))
    error = _ratio(np.sqrt(((whole @ values - right) ** 2).sum(axis=0)), size).max(initial=0.0)
    return Solution(values, 1, float(error), True) if error <= tol else None


def _conjugate_gradients(
    matrix: sparse.csr_array, diagonal: Array, right: Array, tol: float, max_iter: int, workers: Workers
) -> Solution:
    """Preconditioned conjugate gradients; every column has its own step lengths."""
    from planetoid.baselines.kernels import step_rows, turn_rows, weigh_rows

    n, columns = right.shape
    diagonal = diagonal + matrix.diagonal()  # the elimination subtracted the loops
    inverse = 1.0 / diagonal
    values, weighed = np.zeros_like(right), np.empty_like(right)
    residual, direction = right, inverse[:, None] * right
    norm, slope = (residual**2).sum(axis=0), (residual * direction).sum(axis=0)
    goal = tol**2 * norm
    n_iter = 0
    while n_iter < max_iter and (norm > goal).any():
        n_iter += 1
        curve = np.zeros((workers.blocks(n), columns))
        rows = (matrix.indptr, matrix.indices, matrix.data, diagonal, direction, weighed)
        workers.run(weigh_rows, rows, n, curve)
        length = _ratio(slope, curve.sum(axis=0))
        sums = np.zeros((workers.blocks(n), 2, columns))
        workers.run(step_rows, (length, direction, weighed, inverse, values, residual), n, sums)
        before, (norm, slope) = slope, sums.sum(axis=0)
        workers.run(turn_rows, (_ratio(slope, before), inverse, residual, direction), n, changed=direction)
    workers.share(values)
    start = np.sqrt(goal) / tol if tol > 0 else np.ones(columns)
    error = _ratio(np.sqrt(norm), start).max(initial=0.0)
    return Solution(values, n_iter, float(error), not (norm > goal).any())


def _ordered(matrix: sparse.csr_array, rows: Array) -> tuple[Array, sparse.csr_array]:
    """Order rows so that neighbours are close in memory, which makes products twice as fast."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    block = sparse.csr_array(matrix[rows][:, rows])
    if not len(rows):
        return rows, block
    order = reverse_cuthill_mckee(block, symmetric_mode=True)
    block = block[order][:, order]
    block.sort_indices()
    return rows[order], block


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; 0 where a column has converged and both are 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


class Workers:
    """Distributes blocks of rows over processes and threads; the kernels release the interpreter lock.

    A block belongs to one process. The others get what is needed of it: partial sums, and rows that products read. If
    there is one block, every process computes it, which is quicker than to send it.
    """

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool
        self._exchange: Exchange = current_exchange() or OneProcess()

    @staticmethod
    def blocks(n_rows: int) -> int:
        return -(-n_rows // ROWS_PER_TASK)

    def run(
        self,
        kernel: Kernel,
        arrays: tuple[Array, ...],
        n_rows: int,
        partial: Array | None = None,
        changed: Array | None = None,
    ) -> list[float]:
        """Call ``kernel(*arrays[, partial[block]], start, stop)`` for each block of rows.

        Returns what the kernel returned for each block. ``changed`` are rows that the kernel sets and that other
        blocks read later; other arrays are only complete in the rows of this process.
        """

        def call(block: int) -> float:
            start = block * ROWS_PER_TASK
            own = () if partial is None else (partial[block],)
            return kernel(*arrays, *own, start, min(start + ROWS_PER_TASK, n_rows)) or 0.0

        exchange, bounds = self._divided(self.blocks(n_rows))
        own = range(bounds[exchange.rank], bounds[exchange.rank + 1])
        answers = np.zeros(bounds[-1])
        answers[own.start : own.stop] = list((self._pool.map if self._pool else map)(call, own))
        exchange.share_rows(answers, bounds)
        if partial is not None:
            exchange.share_rows(partial, bounds)
        if changed is not None:
            self.share(changed)
        found: list[float] = answers.tolist()
        return found

    def share(self, rows: Array) -> None:
        """Complete an array with the rows of the other processes."""
        exchange, bounds = self._divided(self.blocks(len(rows)))
        exchange.share_rows(rows, [min(len(rows), block * ROWS_PER_TASK) for block in bounds])

    def _divided(self, n_blocks: int) -> tuple[Exchange, list[int]]:
        """Return who divides so many blocks, the first block of each process, and the end of the last."""
        exchange = self._exchange if n_blocks > 1 else OneProcess()
        return exchange, [n_blocks * rank // exchange.size for rank in range(exchange.size + 1)]


@contextmanager
def _row_workers(n_jobs: int | None) -> Iterator[Workers]:
    count = resolve_n_jobs(n_jobs)
    if count == 1:
        yield Workers(None)
        return
    with ThreadPoolExecutor(count) as pool:
        yield Workers(pool)
