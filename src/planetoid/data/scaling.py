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
    if not isinstance(X, np.ndarray):
        norms = _sparse_norms(X, norm)
        entries = X.data / np.repeat(np.where(norms > 0, norms, 1.0), np.diff(X.indptr))
        return type(X)((entries.astype(X.dtype, copy=False), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    X = X.copy()
    norms = np.abs(X).sum(axis=1) if norm == "l1" else np.sqrt(np.einsum("ij,ij->i", X, X))
    norms[norms < 10 * np.finfo(norms.dtype).eps] = 1.0
    X /= norms[:, None]
    return X


def _sparse_norms(X: sparse.csr_array, norm: str) -> npt.NDArray[np.float64]:
    """Return the norms of sparse rows, whose entries are added up one after the other in double precision."""
    entries = (np.abs(X.data) if norm == "l1" else X.data * X.data).astype(np.float64)
    sums = type(X)((entries, X.indices, X.indptr), shape=X.shape) @ np.ones(X.shape[1])
    return np.asarray(sums if norm == "l1" else np.sqrt(sums))
