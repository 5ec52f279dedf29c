"""``token_rows``: sparse rows in the form that an exported model takes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["token_rows"]


def token_rows(X: sparse.sparray | sparse.spmatrix) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return the column numbers and the values of the nonzero entries of each row, padded by zeros.

    >>> tokens, values = token_rows(sparse.csr_array([[0, 2, 0, 1], [0, 0, 3, 0]]))
    >>> tokens.tolist(), values.tolist()
    ([[1, 3], [2, 0]], [[2.0, 1.0], [3.0, 0.0]])
    """
    rows = sparse.csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    lengths = np.diff(rows.indptr)
    filled = np.arange(max(int(lengths.max(initial=0)), 1)) < lengths[:, None]
    tokens, values = np.zeros(filled.shape, np.int64), np.zeros(filled.shape, np.float32)
    tokens[filled], values[filled] = rows.indices, rows.data
    return tokens, values
