"""Columns of numbers: scaled, with missing values filled; or, if they are mostly zero, kept sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.preparation.blocks import Block, indicator_name, missing_values
from planetoid.preparation.cells import numbers_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from planetoid.preparation.blocks import Columns, Matrix, Written

__all__ = ["Counts", "Numbers"]


@dataclass(frozen=True)
class Numbers(Block):
    """Numbers, scaled to mean 0 and standard deviation 1; a missing one is the median, with an indicator."""

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
        values = np.where(is_missing, np.array(self.median), values)
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
        from sklearn.preprocessing import MaxAbsScaler

        scaler = MaxAbsScaler().fit(_sparse(columns, tuple(columns)))
        return cls(tuple(columns), tuple(scaler.scale_.tolist()))

    def transform(self, columns: Columns) -> Matrix:
        matrix = _sparse(columns, self.columns)
        matrix.data /= np.array(self.largest)[matrix.indices]
        return matrix.astype(np.float32)

    def names(self) -> list[str]:
        return list(self.columns)

    def treatments(self) -> dict[str, str]:
        return dict.fromkeys(self.columns, "mostly zero: kept sparse, the largest value is 1")


def _sparse(columns: Columns, names: tuple[str, ...]) -> sparse.csr_array:
    """Return columns of numbers as a sparse matrix; a missing number is 0."""
    entries: list[npt.NDArray[np.float64]] = []
    rows: list[npt.NDArray[np.int64]] = []
    for name in names:
        values = np.nan_to_num(numbers_of(columns[name]).values)
        found = np.flatnonzero(values)
        rows.append(found)
        entries.append(values[found])
    indptr = np.concatenate([[0], np.cumsum([len(found) for found in rows])])
    shape = (len(columns[names[0]]), len(names))
    return sparse.csr_array(sparse.csc_array((np.concatenate(entries), np.concatenate(rows), indptr), shape=shape))
