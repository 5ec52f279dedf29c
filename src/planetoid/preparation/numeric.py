"""Columns of numbers: scaled, with missing values filled; or, if they are mostly zero, kept sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse

from planetoid.io.sparse_columns import sparse_columns
from planetoid.preparation.blocks import Block, indicator_name, missing_values
from planetoid.preparation.cells import is_text, numbers_of
from planetoid.utils.arrow import numbers_to_arrow

if TYPE_CHECKING:
    from typing_extensions import Self

    from planetoid.preparation.blocks import Columns, Matrix, Written

__all__ = ["Counts", "Numbers"]


@dataclass(frozen=True)
class Numbers(Block):
    """Numbers, scaled to mean 0 and standard deviation 1; a missing one is the median, with an indicator.

    If no fitted row misses a value, there is no indicator, and a new row that does has the mean, which says nothing.
    """

    kind: ClassVar[str] = "number"

    columns: tuple[str, ...]
    decimal: tuple[str, ...]
    n_missing: tuple[int, ...]
    median: tuple[float, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    invalid: dict[str, str]  # what was not a number, in words, by column

    @classmethod
    def fit(cls, columns: Columns, written: Written) -> Self:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        invalid: dict[str, str] = {}
        values = np.empty((len(next(iter(columns.values()))), len(columns)))
        for target, (name, cells) in zip(values.T, columns.items(), strict=True):
            numbers = numbers_of(cells, written[name])
            target[:] = numbers.values
            if numbers.example is not None:
                count = f"{numbers.n_invalid:,} of the missing values"
                invalid[name] = f"{count} are cells that are no numbers, such as {numbers.example!r}"
        is_missing = np.isnan(values)
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        scaler = StandardScaler().fit(imputer.fit_transform(values))
        return cls(
            tuple(columns),
            tuple(written[name] for name in columns),
            tuple(is_missing.sum(axis=0).tolist()),
            tuple(imputer.statistics_.tolist()),
            tuple(scaler.mean_.tolist()),
            tuple(scaler.scale_.tolist()),
            invalid,
        )

    def transform(self, columns: Columns) -> Matrix:
        parts = [
            numbers_of(columns[name], decimal).values for name, decimal in zip(self.columns, self.decimal, strict=True)
        ]
        values = np.column_stack(parts)
        is_missing = np.isnan(values)
        otherwise = np.where(np.array(self.n_missing) > 0, self.median, self.mean)
        values = np.where(is_missing, otherwise, values)
        scaled = (values - np.array(self.mean)) / np.array(self.deviation)
        indicators = is_missing[:, np.array(self.n_missing) > 0]
        return np.column_stack([scaled.astype(np.float32), indicators.astype(np.float32)])

    def names(self) -> list[str]:
        missing = zip(self.columns, self.n_missing, strict=True)
        return [*self.columns, *(indicator_name(column) for column, count in missing if count)]

    def treatments(self) -> dict[str, str]:
        found = {}
        for column, decimal, count, median in zip(self.columns, self.decimal, self.n_missing, self.median, strict=True):
            comma = ", written with a decimal comma" if decimal == "," else ""
            filled = (
                f"; {missing_values(count)} filled with the median {median:.6g}, with an indicator" if count else ""
            )
            invalid = f"; {self.invalid[column]}" if column in self.invalid else ""
            found[column] = f"scaled to mean 0 and standard deviation 1{comma}{filled}{invalid}"
        return found


@dataclass(frozen=True)
class Counts(Block):
    """Numbers that are mostly zero, such as counts of words: zeros stay zeros, the largest number becomes 1."""

    kind: ClassVar[str] = "count"
    is_rich: ClassVar[bool] = True

    columns: tuple[str, ...]
    largest: tuple[float, ...]

    @classmethod
    def fit(cls, columns: Columns, written: Written) -> Self:
        return cls.fit_transform(columns, written)[0]

    @classmethod
    def fit_transform(cls, columns: Columns, written: Written) -> tuple[Self, Matrix]:
        from sklearn.preprocessing import MaxAbsScaler

        matrix = _sparse(columns, tuple(columns))
        block = cls(tuple(columns), tuple(MaxAbsScaler().fit(matrix).scale_.tolist()))
        return block, block._scaled(matrix)

    def transform(self, columns: Columns) -> Matrix:
        return self._scaled(_sparse(columns, self.columns))

    def _scaled(self, matrix: sparse.csr_array) -> sparse.csr_array:
        matrix.data /= np.array(self.largest, dtype=np.float32)[matrix.indices]
        return matrix

    def names(self) -> list[str]:
        return list(self.columns)

    def treatments(self) -> dict[str, str]:
        return dict.fromkeys(self.columns, "mostly zero: kept sparse, the largest value is 1")


def _sparse(columns: Columns, names: tuple[str, ...]) -> sparse.csr_array:
    """Return columns, some of which may be text, as a sparse matrix; a missing number is 0."""
    cells = [columns[name] for name in names]
    numbers = [numbers_to_arrow(numbers_of(one).values) if is_text(one) else one for one in cells]
    return sparse_columns(numbers, missing=True)
