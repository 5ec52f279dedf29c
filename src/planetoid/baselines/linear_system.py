"""The linear system that the label-propagation family has in common, and three ways to solve it.

Harmonic label propagation, local and global consistency and modified
adsorption each ask for the solution F of::

    (M - A) F = B

where A is a symmetric non-negative sparse matrix and M a diagonal that is at
least as large as the row sums of A. Rows may be held at zero (label propagation
does that with labelled nodes, whose pull is in B). Three ways lead there, and
none forms a dense n x n matrix:

- ``direct``: a sparse LU factorisation, exact, for small graphs;
- ``cg``: the trees that hang on the graph are eliminated, exactly and in one
  sweep, and conjugate gradients, all columns at once and with M as the
  preconditioner, do the rest;
- ``iterative``: the methods' own updates ``F <- M^-1 (A F + B)``, in float32.

Sums are taken in one fixed order, so ``n_jobs`` changes the time and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.errors import ParameterError

__all__ = ["DIRECT_LIMIT", "SOLVERS", "Solution", "System", "check_solver", "solve"]

SOLVERS = ("auto", "direct", "cg", "iterative")
DIRECT_LIMIT = 2_000  # unknowns up to which a factorisation is quicker than its risk of fill-in
ROWS_PER_TASK = 1 << 16

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class System:
    """The system ``(M - A) F = B`` on the rows that are free; all others are zero.

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
    """What a solver found, after how many steps, and whether that met the tolerance."""

    values: Array
    n_iter: int
    error: float
    converged: bool


def check_solver(solver: str, tol: float, max_iter: int) -> None:
    """Refuse what no solver can work with."""
    if solver not in SOLVERS:
        raise ParameterError(f"solver={solver!r}; it is one of {', '.join(map(repr, SOLVERS))}")
    if not tol >= 0:
        raise ParameterError(f"tol={tol!r}; it must not be negative")
    if max_iter < 1:
        raise ParameterError(f"max_iter={max_iter!r}; it must be 1 at least")


def solve(system: System, solver: str, *, tol: float, max_iter: int, n_jobs: int | None) -> Solution:
    """Solve by ``direct``, ``cg``, ``iterative`` or, for ``auto``, by the number of unknowns.

    ``tol`` bounds the largest change of an entry in one step (``iterative``)
    or the residual of a column relative to its right side (``cg``).
    """
    if solver == "auto":
        solver = "direct" if int(system.free.sum()) <= DIRECT_LIMIT else "cg"
    if solver == "direct":
        return _direct(system)
    with _row_workers(n_jobs) as workers:
        way = _peeled if solver == "cg" else _fixed_point
        return way(system, tol, max_iter, workers)


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
    """Jacobi's iteration, which is what the papers of these methods print."""
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
        change = max(workers.run(propagate_rows, rows, len(inverse)), default=0.0)
        old, new = new, old
    return Solution(old, n_iter, change, change <= tol)


def _peeled(system: System, tol: float, max_iter: int, workers: Workers) -> Solution:
    """Eliminate trees, solve for what remains, and go back."""
    from planetoid.baselines.kernels import peel_trees, plant_trees

    matrix = system.adjacency
    diagonal, right = system.diagonal.astype(np.float64), system.right.astype(np.float64)
    order, parents, ties = peel_trees(matrix.indptr, matrix.indices, matrix.data, system.free, diagonal, right)
    core = system.free.copy()
    core[order] = False
    rows, block = _ordered(matrix, np.flatnonzero(core))
    found = _conjugate_gradients(block, diagonal[rows], right[rows], tol, max_iter, workers)
    values = np.zeros_like(right)
    values[rows] = found.values
    plant_trees(order, parents, ties, diagonal, right, values)
    return Solution(values, found.n_iter, found.error, found.converged)


def _conjugate_gradients(
    matrix: sparse.csr_array, diagonal: Array, right: Array, tol: float, max_iter: int, workers: Workers
) -> Solution:
    """Preconditioned conjugate gradients; every column has its own step lengths."""
    from planetoid.baselines.kernels import step_rows, turn_rows, weigh_rows

    n, columns = right.shape
    diagonal = diagonal + matrix.diagonal()  # the elimination took the loops off it
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
        workers.run(turn_rows, (_ratio(slope, before), inverse, residual, direction), n)
    start = np.sqrt(goal) / tol if tol > 0 else np.ones(columns)
    error = _ratio(np.sqrt(norm), start).max(initial=0.0)
    return Solution(values, n_iter, float(error), not (norm > goal).any())


def _ordered(matrix: sparse.csr_array, rows: Array) -> tuple[Array, sparse.csr_array]:
    """Bring neighbours close to each other in memory, which makes products twice as fast."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    block = sparse.csr_array(matrix[rows][:, rows])
    if not len(rows):
        return rows, block
    order = reverse_cuthill_mckee(block, symmetric_mode=True)
    block = block[order][:, order]
    block.sort_indices()
    return rows[order], block


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; 0 where a column is solved and both have vanished."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


class Workers:
    """Deals blocks of rows to threads; the kernels give the interpreter lock away."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    @staticmethod
    def blocks(n_rows: int) -> int:
        return -(-n_rows // ROWS_PER_TASK)

    def run(self, kernel: Any, arrays: tuple[Any, ...], n_rows: int, partial: Array | None = None) -> list[Any]:
        """Call ``kernel(*arrays[, partial[block]], start, stop)`` for each block of rows."""

        def call(block: int) -> Any:
            start = block * ROWS_PER_TASK
            own = () if partial is None else (partial[block],)
            return kernel(*arrays, *own, start, min(start + ROWS_PER_TASK, n_rows))

        return list((self._pool.map if self._pool else map)(call, range(self.blocks(n_rows))))


@contextmanager
def _row_workers(n_jobs: int | None) -> Iterator[Workers]:
    count = _thread_count(n_jobs)
    if count == 1:
        yield Workers(None)
        return
    with ThreadPoolExecutor(count) as pool:
        yield Workers(pool)


def _thread_count(n_jobs: int | None) -> int:
    if n_jobs == 0:
        raise ParameterError("n_jobs=0; give a number of threads, -1 for all cores, or None for one")
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
