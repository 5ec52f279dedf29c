"""``Inputs``: features as :class:`~planetoid.Planetoid` sees them, the same for fitted nodes and new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.io.model_files import Tensors
from planetoid.models.views import FeatureView

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Inputs"]

SMALLEST = 1e-6  # standard deviation of a column that is not constant
VERY_DIFFERENT = 10.0  # times the median deviation: columns are in different units


class Inputs(NamedTuple):
    """How rows are scaled: dense columns to mean 0 and perhaps to deviation 1, then every row to unit norm.

    Columns in different units have to be brought to one scale; in embeddings and principal components, wide columns are
    those that matter. What the labels say decides, and where they do not, how much the widths differ. Sparse columns
    keep their zeros, so they are not centred; words, tags and the like need no scaling of columns.
    """

    mean: npt.NDArray[np.float32]  # no entries for sparse features
    deviation: npt.NDArray[np.float32]
    row_normalize: str | None

    @classmethod
    def of(
        cls, X: Features, row_normalize: str | None, labelled: npt.NDArray[np.int64], codes: npt.NDArray[np.integer]
    ) -> Inputs:
        """Learn the scaling from the fitted rows; rows of zeros are nodes without features and do not count."""
        nothing = np.empty(0, np.float32)
        if not isinstance(X, np.ndarray):
            return cls(nothing, nothing, row_normalize)
        rows = X[(X != 0).any(axis=1)]
        n_columns = X.shape[1]
        if len(rows) == 0:
            return cls(np.zeros(n_columns, np.float32), np.ones(n_columns, np.float32), row_normalize)
        mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = rows.std(axis=0, dtype=np.float64)
        varies = deviation > SMALLEST * (np.abs(rows).max(axis=0) + SMALLEST)
        deviation[~varies] = 1.0
        usual = float(np.median(deviation[varies])) if varies.any() else 1.0
        as_they_are = cls(mean, np.full(n_columns, usual, np.float32), row_normalize)
        alike = cls(mean, deviation.astype(np.float32), row_normalize)
        differ = varies.any() and deviation[varies].max() > VERY_DIFFERENT * usual
        first, second = (alike, as_they_are) if differ else (as_they_are, alike)
        one, two = (_accuracy(inputs.scaled(X[labelled]), codes) for inputs in (first, second))
        error = np.sqrt(max(one, two) * (1 - max(one, two)) / len(codes))
        return second if two > one + error else first

    def tensors(self) -> Tensors:
        """Return the scaling by name."""
        return {"inputs.mean": self.mean, "inputs.deviation": self.deviation}

    @classmethod
    def of_tensors(cls, tensors: Tensors, row_normalize: str | None) -> Inputs:
        """Restore what :meth:`tensors` returned."""
        return cls(tensors["inputs.mean"], tensors["inputs.deviation"], row_normalize)

    @property
    def keep_zeros(self) -> bool:
        """Whether rows are sparse, so that nothing but the norm of each row is changed."""
        return len(self.mean) == 0

    def scaled(self, X: Features) -> Rows:
        """Scale rows."""
        if self.keep_zeros:
            as_given = isinstance(X, sparse.csr_array) and X.dtype == np.float32
            return scale_rows(X if as_given else sparse.csr_array(X, dtype=np.float32), self.row_normalize)
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
        scaled = (dense - self.mean) / self.deviation
        scaled[~(dense != 0).any(axis=1)] = 0.0
        return scale_rows(scaled, self.row_normalize)

    def write(self, operators: Operators) -> Value:
        """Describe :meth:`scaled` for an export."""
        return operators.rows(self.row_normalize, *((self.mean, self.deviation) if len(self.mean) else ()))


def _accuracy(rows: Rows, codes: npt.NDArray[np.integer]) -> float:
    """Return how many labelled rows a regression on the others labels correctly."""
    view = FeatureView(rows, None, np.arange(len(codes)), np.random.default_rng(0))
    return view.regression(np.eye(int(codes.max()) + 1)[codes]).accuracy
