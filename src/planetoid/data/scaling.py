"""``row_normalize``: feature rows scaled to unit norm, the same for every method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing import TypeAlias

    from scipy import sparse

__all__ = ["Rows", "scale_rows"]

LARGE = 1e15  # whose square and its inverse are within single precision

Rows: TypeAlias = "npt.NDArray[np.float32] | npt.NDArray[np.float64] | sparse.csr_array"


def scale_rows(X: Rows, norm: str | None, dtype: npt.DTypeLike | None = None) -> Rows:
    """Return feature rows scaled to unit ``"l1"`` or ``"l2"`` norm; ``None`` leaves them as they are.

    Rows of zeros stay zero. The norm is taken in the precision of ``X``; ``dtype`` converts the result. Sparse rows
    share their indices with ``X`` if those are sorted, so entries of the result must not be dropped in place
    (``eliminate_zeros``).

    >>> scale_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32), "l2", np.float64).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if norm is not None:
        X = _normalized(X, norm)
    return X if dtype is None else X.astype(dtype, copy=False)


def _normalized(X: Rows, norm: str) -> Rows:
    """Return what ``sklearn.preprocessing.normalize`` returns, without importing that package, which takes a second."""
    if not isinstance(X, np.ndarray):
        return _normalized_sparse(X, norm)
    X = X.copy()
    norms = np.abs(X).sum(axis=1) if norm == "l1" else np.sqrt(np.einsum("ij,ij->i", X, X))
    norms[norms < 10 * np.finfo(norms.dtype).eps] = 1.0
    X /= norms[:, None]
    return X


def _normalized_sparse(X: sparse.csr_array, norm: str) -> sparse.csr_array:
    """Return sparse rows scaled; the entries of a row are added up one after the other in double precision."""
    sizes = type(X)((np.abs(X.data) if norm == "l1" else _squares(X.data), X.indices, X.indptr), shape=X.shape)
    sums = sizes @ np.ones(X.shape[1])
    norms = sums if norm == "l1" else np.sqrt(sums)
    norms[norms == 0] = 1.0
    entries = np.empty_like(X.data)
    np.divide(X.data, np.repeat(norms, np.diff(X.indptr)), out=entries, casting="same_kind")
    is_canonical = X.has_canonical_format  # then no method sorts the entries, which both can have in the same places
    indices, indptr = (X.indices, X.indptr) if is_canonical else (X.indices.copy(), X.indptr.copy())
    scaled = type(X)((entries, indices, indptr), shape=X.shape)
    scaled.has_canonical_format = is_canonical  # known already, and slow to find out for few rows
    return scaled


def _squares(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return squares, in double precision if others would overflow or vanish."""
    with np.errstate(over="ignore"):
        squares = values * values
    if not len(squares) or (squares.max() < LARGE**2 and squares.min() > 1 / LARGE**2):
        return squares
    sizes = np.abs(values[values != 0])  # with zeros among them, which squares that vanish look like
    if len(sizes) and (sizes.max() > LARGE or sizes.min() < 1 / LARGE):
        values = values.astype(np.float64)
    return values * values
