"""Walker's alias method: constant-time draws in proportion to the weights of edges."""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Integers, Nodes, Row
from planetoid.engine.compiling import cached_njit

__all__ = ["alias_tables"]


@cached_njit(nogil=True)
def alias_tables(indptr: Nodes | Integers, weights: Row) -> tuple[Row, Nodes]:
    """Return the tables of all rows of a CSR: the probability to accept an entry, and the entry to take otherwise."""
    accept = np.ones(len(weights), np.float32)
    alias = np.zeros(len(weights), np.int32)
    widest = 0
    for row in range(len(indptr) - 1):
        widest = max(widest, indptr[row + 1] - indptr[row])
    scaled, small, large = np.empty(widest), np.empty(widest, np.int64), np.empty(widest, np.int64)
    for row in range(len(indptr) - 1):
        first, degree = indptr[row], indptr[row + 1] - indptr[row]
        total = 0.0
        for k in range(degree):
            total += weights[first + k]
        n_small = n_large = 0
        for k in range(degree):
            scaled[k] = weights[first + k] * degree / total
            if scaled[k] < 1.0:
                small[n_small] = k
                n_small += 1
            else:
                large[n_large] = k
                n_large += 1
        while n_small and n_large:
            n_small -= 1
            low, high = small[n_small], large[n_large - 1]
            accept[first + low], alias[first + low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                n_large -= 1
                small[n_small] = high
                n_small += 1
    return accept, alias
