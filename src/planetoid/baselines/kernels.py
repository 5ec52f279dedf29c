"""The one loop that the label-propagation family spends its time in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["propagate_rows"]


@njit(cache=True, nogil=True)
def propagate_rows(
    indptr: Any, indices: Any, weights: Any, scale: Any, bias: Any, old: Any, new: Any, start: int, stop: int
) -> float:
    """Set ``new = scale * (A @ old) + bias`` in rows ``start..stop``; return the largest change.

    A row is summed in the order of its entries by one thread, so the result
    does not depend on how the rows are dealt out.
    """
    columns = old.shape[1]
    total = np.zeros(columns)
    largest = 0.0
    for i in range(start, stop):
        total[:] = 0.0
        if scale[i] != 0.0:
            for at in range(indptr[i], indptr[i + 1]):
                j = indices[at]
                weight = weights[at]
                for c in range(columns):
                    total[c] += weight * old[j, c]
        for c in range(columns):
            new[i, c] = scale[i] * total[c] + bias[i, c]
            largest = max(largest, abs(new[i, c] - old[i, c]))
    return largest
