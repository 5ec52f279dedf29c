"""Compiled products of powers of a sparse matrix with dense columns, for :mod:`planetoid.engine.filters`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Nodes, Row, Table
from planetoid.engine.barrier import barrier
from planetoid.engine.compiling import entry
from planetoid.engine.prefetch import NEAR, prefetch

__all__ = ["add_powers_in_step"]

AHEAD = 24  # entries of the matrix, after which a row that was asked for is there


@entry
def add_powers_in_step(
    thread: int, n_threads: int, arrivals: Integers, bounds: Integers, indptr: Nodes, indices: Nodes, data: Row,
    scale: np.float32, values: Table, steps: int, powers: npt.NDArray[np.float32], total: Table,
) -> None:  # fmt: skip
    """Add ``(scale * matrix)^k @ values`` for k = 1 to ``steps`` to ``total``; called once in each thread.

    A thread has the rows from ``bounds[thread]`` to the next bound. Powers alternate between two tables.
    """
    n_columns, far = values.shape[1], values.size > NEAR
    before = values
    for power in range(steps):
        after = powers[power % 2]
        for row in range(bounds[thread], bounds[thread + 1]):
            target, summed = after[row], total[row]
            for column in range(n_columns):
                target[column] = 0
            for place in range(indptr[row], indptr[row + 1]):
                if far and place + AHEAD < len(indices):
                    prefetch(before, indices[place + AHEAD])
                weight, source = data[place], before[indices[place]]
                for column in range(n_columns):
                    target[column] += weight * source[column]
            for column in range(n_columns):
                target[column] *= scale
                summed[column] += target[column]
        before = after
        barrier(arrivals, n_threads)
