"""``Inputs``: features as :class:`~planetoid.Planetoid` sees them, the same for fitted nodes and new rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Features
from planetoid.data.scaling import Rows, scale_rows

__all__ = ["Inputs"]

SMALLEST = 1e-6  # standard deviation of a column that is not constant


class Inputs(NamedTuple):
    """How rows are scaled: dense columns to mean 0 and deviation 1, then every row to unit norm.

    Sparse columns keep their zeros, so they are not centred; words, tags and the like need no scaling of columns.
    """

    mean: npt.NDArray[np.float32]  # no entries for sparse features
    deviation: npt.NDArray[np.float32]
    row_normalize: str | None

    @classmethod
    def of(cls, X: Features, row_normalize: str | None) -> Inputs:
        """Learn the scaling from the fitted rows; rows of zeros are nodes without features and do not count."""
        nothing = np.empty(0, np.float32)
        if not isinstance(X, np.ndarray):
            return cls(nothing, nothing, row_normalize)
        rows = X[(X != 0).any(axis=1)]
        if len(rows) == 0:
            return cls(np.zeros(X.shape[1], np.float32), np.ones(X.shape[1], np.float32), row_normalize)
        deviation = rows.std(axis=0, dtype=np.float64)
        deviation[deviation < SMALLEST * (np.abs(rows).max(axis=0) + SMALLEST)] = 1.0
        mean = rows.mean(axis=0, dtype=np.float64)
        return cls(mean.astype(np.float32), deviation.astype(np.float32), row_normalize)

    def scaled(self, X: Features) -> Rows:
        """Scale rows."""
        if len(self.mean) == 0:
            return scale_rows(sparse.csr_array(X, dtype=np.float32), self.row_normalize)
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
        scaled = (dense - self.mean) / self.deviation
        scaled[~(dense != 0).any(axis=1)] = 0.0
        return scale_rows(scaled, self.row_normalize)
