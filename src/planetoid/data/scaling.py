"""``row_normalize``: feature rows scaled to unit norm, the same for every method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing import TypeAlias

    from scipy import sparse

__all__ = ["Rows", "scale_rows"]

Rows: TypeAlias = "npt.NDArray[np.float32] | npt.NDArray[np.float64] | sparse.csr_array"


def scale_rows(X: Rows, norm: str | None, dtype: npt.DTypeLike | None = None) -> Rows:
    """Return feature rows scaled to unit ``"l1"`` or ``"l2"`` norm; ``None`` leaves them as they are.

    Rows of zeros stay zero. The norm is taken in the precision of ``X``; ``dtype`` converts the result.

    >>> scale_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32), "l2", np.float64).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if norm is not None:
        X = _normalized(X, norm)
    return X if dtype is None else X.astype(dtype, copy=False)


def _normalized(X: Rows, norm: str) -> Rows:
    """Return what ``sklearn.preprocessing.normalize`` returns, without importing that package, which takes a second."""
    from sklearn.utils.extmath import row_norms
    from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l1, inplace_csr_row_normalize_l2

    X = X.copy()
    if not isinstance(X, np.ndarray):
        (inplace_csr_row_normalize_l1 if norm == "l1" else inplace_csr_row_normalize_l2)(X)
        return X
    norms = np.abs(X).sum(axis=1) if norm == "l1" else row_norms(X)
    norms[norms < 10 * np.finfo(norms.dtype).eps] = 1.0
    X /= norms[:, None]
    return X
