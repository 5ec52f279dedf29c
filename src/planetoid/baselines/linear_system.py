"""The linear system that the label-propagation family has in common, and three ways to solve it.

Harmonic label propagation, local and global consistency and modified
adsorption each ask for the solution F of::

    (M - A) F = B

where A is a symmetric non-negative sparse matrix and M a diagonal that is at
least as large as the row sums of A. Rows may be held at zero (label propagation
does that with labelled nodes, whose pull is in B). Three ways lead there, and
none forms a dense n x n matrix:

- ``direct``: a sparse LU factorisation, exact, for small graphs;
- ``cg``: conjugate gradients, all columns at once, with M as the preconditioner;
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
        step = _conjugate_gradients if solver == "cg" else _fixed_point
        return step(system, tol, max_iter, workers)


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
    inverse = _inverse_diagonal(system).astype(np.float32)
    bias = (inverse[:, None] * system.right).astype(np.float32)
    old, new = bias.copy(), np.empty_like(bias)
    change, n_iter = np.inf, 0
    while n_iter < max_iter and change > tol:
        n_iter += 1
        change = workers.propagate(system.adjacency, inverse, bias, old, new)
        old, new = new, old
    return Solution(old, n_iter, change, change <= tol)


def _conjugate_gradients(system: System, tol: float, max_iter: int, workers: Workers) -> Solution:
    """Preconditioned conjugate gradients; every column has its own step lengths."""
    free = system.free.astype(np.float64)
    inverse = _inverse_diagonal(system)
    diagonal = (system.diagonal * free)[:, None]
    residual = system.right * free[:, None]
    goal = tol * np.sqrt(_dot(residual, residual))
    values = np.zeros_like(residual)
    direction = inverse[:, None] * residual
    pulled = np.empty_like(residual)
    slope = _dot(residual, direction)
    norm = np.sqrt(_dot(residual, residual))
    n_iter = 0
    while n_iter < max_iter and (norm > goal).any():
        n_iter += 1
        # (M - A) p, as -1 * (A p) + M p
        workers.propagate(system.adjacency, -free, diagonal * direction, direction, pulled)
        length = _ratio(slope, _dot(direction, pulled))
        values += length * direction
        residual -= length * pulled
        norm = np.sqrt(_dot(residual, residual))
        settled = inverse[:, None] * residual
        before, slope = slope, _dot(residual, settled)
        direction *= _ratio(slope, before)
        direction += settled
    relative = _ratio(norm, goal) * tol if tol > 0 else norm
    return Solution(values, n_iter, float(relative.max(initial=0.0)), not (norm > goal).any())


def _inverse_diagonal(system: System) -> Array:
    inverse = np.zeros(len(system.free))
    inverse[system.free] = 1.0 / system.diagonal[system.free]
    return inverse


def _dot(left: Array, right: Array) -> Array:
    """Column by column, in one fixed order (a threaded BLAS would sum differently)."""
    return np.asarray(np.einsum("ij,ij->j", left, right))


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide; 0 where a column is solved and both have vanished."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


class Workers:
    """Deals blocks of rows to threads; the kernel gives the interpreter lock away."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def propagate(self, matrix: sparse.csr_array, scale: Array, bias: Array, old: Array, new: Array) -> float:
        """Set ``new = scale * (matrix @ old) + bias`` and return the largest change."""
        from planetoid.baselines.kernels import propagate_rows

        def block(start: int) -> float:
            stop = min(start + ROWS_PER_TASK, len(scale))
            found: float = propagate_rows(
                matrix.indptr, matrix.indices, matrix.data, scale, bias, old, new, start, stop
            )
            return found

        starts = range(0, len(scale), ROWS_PER_TASK)
        return max((self._pool.map if self._pool else map)(block, starts), default=0.0)


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
