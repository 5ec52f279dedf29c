"""Whether the arrays of a sparse matrix agree with its shape.

scipy checks this only in part, and its compiled conversions read and write wherever the indices point. Every matrix
that comes from outside, from a file or from a caller, passes :func:`check_sparse_format` before anything else is done
with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["check_sparse_format"]


def check_sparse_format(matrix: sparse.sparray | sparse.spmatrix, path: Path | None = None) -> None:
    """Raise ``DataError`` if an index is outside the shape, or the arrays of a matrix do not agree in length.

    >>> from scipy import sparse
    >>> matrix = sparse.csr_array((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 4))
    >>> check_sparse_format(matrix)
    Traceback (most recent call last):
        ...
    planetoid.errors.DataError: the sparse matrix is invalid: an index must be from 0 to 3, got 7
    """
    problem = _problem(matrix)
    if problem is not None:
        raise DataError(f"the sparse matrix is invalid: {problem}", path=path)


def _problem(matrix: Any) -> str | None:
    """Return what is wrong in words, in any of scipy's formats but ``dok``, which has no index arrays."""
    shape = tuple(int(length) for length in matrix.shape)
    if matrix.format in ("csr", "csc", "bsr"):
        return _problem_of_compressed(matrix, shape if len(shape) == 2 else (1, *shape))
    if matrix.format == "coo":
        if len(matrix.coords) != len(shape):
            return f"{len(matrix.coords)} index arrays for {len(shape)} dimensions"
        found = (
            _problem_of_indices(coords, size, len(matrix.data))
            for coords, size in zip(matrix.coords, shape, strict=True)
        )
        return next((problem for problem in found if problem), None)
    if matrix.format == "lil":
        if any(len(part) != shape[0] for part in (matrix.rows, matrix.data)):
            return "its arrays differ in length"
        pairs = zip(matrix.rows, matrix.data, strict=True)
        found = (_problem_of_indices(np.array(row), shape[1], len(data)) for row, data in pairs if row or data)
        return next((problem for problem in found if problem), None)
    if matrix.format == "dia":
        if matrix.data.ndim != 2 or len(matrix.offsets) != len(matrix.data):
            return "its arrays differ in length"
        return _problem_of_indices(np.abs(matrix.offsets), max(*shape, 1), len(matrix.offsets))
    return None


def _problem_of_compressed(matrix: Any, shape: tuple[int, ...]) -> str | None:
    rows, columns = shape
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if matrix.format == "csc":
        rows, columns = columns, rows
    if matrix.format == "bsr":
        if data.ndim != 3 or 0 in data.shape[1:] or rows % data.shape[1] or columns % data.shape[2]:
            return "the blocks do not fit the shape"
        rows, columns = rows // data.shape[1], columns // data.shape[2]
    elif data.ndim != 1:
        return "data must have one dimension"
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != rows + 1:
        return f"indptr must hold {rows + 1:,} integers, got {indptr.size:,} of {indptr.dtype}"
    # scipy takes more indices than indptr refers to, but its conversion to "coo" makes up where they belong.
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] != len(indices):
        return f"indptr must increase from 0 to {len(indices):,}, the number of indices (see its method prune)"
    return _problem_of_indices(indices, columns, len(data))


def _problem_of_indices(indices: npt.NDArray[Any], size: int, n_values: int) -> str | None:
    if indices.ndim != 1 or len(indices) != n_values:
        return f"{indices.size:,} indices for {n_values:,} values"
    if len(indices) == 0:
        return None
    if indices.dtype.kind not in "iu":
        return f"indices must be integers, not {indices.dtype}"
    smallest, largest = int(indices.min()), int(indices.max())
    if smallest < 0 or largest >= size:
        return f"an index must be from 0 to {size - 1:,}, got {smallest if smallest < 0 else largest:,}"
    return None
