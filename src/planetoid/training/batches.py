"""Feature rows as tensors, never densified."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse

from planetoid.data.dataset import Features
from planetoid.engine.encoder_kernels import copy_rows

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["Batch", "FeatureRows", "SparseBatch"]


class SparseBatch(NamedTuple):
    """CSR rows as three tensors, in the form that ``embedding_bag`` takes."""

    columns: torch.Tensor
    offsets: torch.Tensor
    values: torch.Tensor


Batch: TypeAlias = "torch.Tensor | SparseBatch"


class FeatureRows:
    """Hands out rows of a float32 CSR or dense matrix as tensors on a device."""

    def __init__(self, X: Features, device: torch.device | str = "cpu") -> None:
        self.X, self.device = X, torch.device(device)
        self.is_sparse = not isinstance(X, np.ndarray)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def batch(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.int32] | slice) -> Batch:
        """Return some rows, by their numbers or as a slice."""
        if not isinstance(self.X, np.ndarray) and not isinstance(rows, slice):
            return self._sparse_rows(self.X, rows)
        part = self.X[rows]
        if isinstance(part, np.ndarray):
            writeable = np.require(part, requirements=["C", "W"])  # torch has no read-only tensors
            return torch.from_numpy(writeable).to(self.device)
        return SparseBatch(
            torch.from_numpy(part.indices).to(self.device),
            torch.from_numpy(part.indptr[:-1]).to(self.device),
            torch.from_numpy(part.data).to(self.device),
        )

    def _sparse_rows(self, X: sparse.csr_array, rows: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> SparseBatch:
        """Return rows of a CSR matrix, which takes SciPy three times as long where they are few."""
        starts = np.zeros(len(rows) + 1, X.indptr.dtype)
        np.cumsum(X.indptr[rows + 1] - X.indptr[rows], out=starts[1:])
        columns, values = np.empty(starts[-1], X.indices.dtype), np.empty(starts[-1], X.data.dtype)
        copy_rows(X.indptr, X.indices, X.data, rows, starts, columns, values)
        return SparseBatch(*(torch.from_numpy(part).to(self.device) for part in (columns, starts[:-1], values)))
