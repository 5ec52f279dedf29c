"""``Inputs``: features as :class:`~planetoid.Planetoid` sees them, the same for fitted nodes and new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.io.model_files import Tensors
from planetoid.models.views import FeatureView
from planetoid.training.settings import Consistency

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Inputs", "keeping_few"]

SMALLEST = 1e-6  # standard deviation of a column that is not constant
VERY_DIFFERENT = 10.0  # times the median deviation: columns are in different units
FEW_COLUMNS = 16  # up to which the length of a row says something beside its direction


class Inputs(NamedTuple):
    """How rows are scaled: dense columns to mean 0 and perhaps to deviation 1, then every row to unit norm.

    Columns in different units have to be brought to one scale; in embeddings and principal components, wide columns are
    those that matter. What the labels say decides, and where they do not, how much the widths differ. Sparse columns
    keep their zeros, so they are not centred; words, tags and the like need no scaling of columns.

    Of one number, unit norm would leave the sign. Where there are few columns, dense or sparse, all rows get a column
    of ones before they are scaled, so that nothing of them is lost.
    """

    mean: npt.NDArray[np.float32]  # no entries for sparse features
    deviation: npt.NDArray[np.float32]
    row_normalize: str | None
    with_ones: bool = False  # whether rows have one more column

    @classmethod
    def of(
        cls, X: Features, row_normalize: str | None, labelled: npt.NDArray[np.int64], codes: npt.NDArray[np.integer]
    ) -> Inputs:
        """Learn the scaling from the fitted rows; rows of zeros are nodes without features and do not count."""
        nothing, n_columns = np.empty(0, np.float32), X.shape[1]
        few = n_columns <= FEW_COLUMNS
        if not isinstance(X, np.ndarray):
            if not few:
                return cls(nothing, nothing, row_normalize)
            X = X.toarray()
        rows, with_ones = X[(X != 0).any(axis=1)], few and row_normalize is not None
        if len(rows) == 0:
            return cls(np.zeros(n_columns, np.float32), np.ones(n_columns, np.float32), row_normalize, with_ones)
        mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = rows.std(axis=0, dtype=np.float64)
        varies = deviation > SMALLEST * (np.abs(rows).max(axis=0) + SMALLEST)
        deviation[~varies] = 1.0
        usual = float(np.median(deviation[varies])) if varies.any() else 1.0
        as_they_are = cls(mean, np.full(n_columns, usual, np.float32), row_normalize, with_ones)
        alike = cls(mean, deviation.astype(np.float32), row_normalize, with_ones)
        differ = varies.any() and deviation[varies].max() > VERY_DIFFERENT * usual
        first, second = (alike, as_they_are) if differ else (as_they_are, alike)
        one, two = (_accuracy(inputs.scaled(X[labelled]), codes) for inputs in (first, second))
        error = np.sqrt(max(one, two) * (1 - max(one, two)) / len(codes))
        return second if two > one + error else first

    def tensors(self) -> Tensors:
        """Return the scaling by name."""
        with_ones = np.array([self.with_ones], np.uint8)
        return {"inputs.mean": self.mean, "inputs.deviation": self.deviation, "inputs.with_ones": with_ones}

    @classmethod
    def of_tensors(cls, tensors: Tensors, row_normalize: str | None) -> Inputs:
        """Restore what :meth:`tensors` returned."""
        with_ones = tensors.get("inputs.with_ones", np.zeros(1))  # models of before have none
        return cls(tensors["inputs.mean"], tensors["inputs.deviation"], row_normalize, bool(with_ones[0]))

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
        if self.with_ones:
            scaled = np.column_stack([scaled, np.ones(len(scaled), np.float32)])
        scaled[~(dense != 0).any(axis=1)] = 0.0
        return scale_rows(scaled, self.row_normalize)

    def write(self, operators: Operators) -> Value:
        """Describe :meth:`scaled` for an export."""
        if self.keep_zeros:
            return operators.rows(self.row_normalize)
        return operators.rows(self.row_normalize, self.mean, self.deviation, with_ones=self.with_ones)


def keeping_few(plan: Consistency, n_columns: int) -> Consistency:
    """Return how to train on inputs of so many columns: the fewer there are, the fewer of them are dropped.

    >>> [keeping_few(Consistency(), n).feature_dropout for n in (1, 8, 16, 1000)]
    [0.0, 0.25, 0.5, 0.5]
    """
    share = min(1.0, (n_columns if n_columns > 1 else 0) / FEW_COLUMNS)
    return replace(plan, feature_dropout=plan.feature_dropout * share)


def _accuracy(rows: Rows, codes: npt.NDArray[np.integer]) -> float:
    """Return how many labelled rows a regression on the others labels correctly."""
    view = FeatureView(rows, None, np.arange(len(codes)), np.random.default_rng(0))
    return view.regression(np.eye(int(codes.max()) + 1)[codes]).accuracy
