"""Feature rows as tensors, never densified."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse

__all__ = ["Batch", "FeatureRows", "SparseBatch"]


class SparseBatch(NamedTuple):
    """CSR rows as three tensors, in the form that ``embedding_bag`` takes."""

    columns: torch.Tensor
    offsets: torch.Tensor
    values: torch.Tensor


Batch = Any  # a dense float32 tensor, a SparseBatch, or whatever a user's encoder takes


class FeatureRows:
    """Hands out rows of a float32 CSR or dense matrix as tensors on a device."""

    def __init__(self, X: Any, device: torch.device | str = "cpu") -> None:
        self.X, self.device = X, torch.device(device)
        self.is_sparse = sparse.issparse(X)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def batch(self, rows: npt.NDArray[Any] | slice) -> Batch:
        """Return the rows of these numbers."""
        part = self.X[rows]
        if not self.is_sparse:
            writeable = np.require(part, requirements=["C", "W"])  # torch knows no read-only memory
            return torch.from_numpy(writeable).to(self.device)
        return SparseBatch(
            torch.from_numpy(part.indices).to(self.device),
            torch.from_numpy(part.indptr[:-1]).to(self.device),
            torch.from_numpy(part.data).to(self.device),
        )
