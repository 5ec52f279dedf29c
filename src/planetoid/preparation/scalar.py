"""Columns of booleans, categories, dates and embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from planetoid.preparation.blocks import OneColumn
from planetoid.preparation.cells import booleans_of, dates_of, lists_of, numbers_of, strings_of
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from typing_extensions import Self

    from planetoid.preparation.blocks import Matrix

__all__ = ["Booleans", "Categories", "Dates", "Embedding"]

YEAR, WEEK = 365.25 * 86400.0, 7 * 86400.0
MOST_CATEGORIES = 1000
RARE, RARE_SHARE = 10, 1 / 200  # a category is rare if it has fewer rows than either; two rows are enough in any case


@dataclass(frozen=True)
class Booleans(OneColumn):
    """Yes or no, true or false: 1 or 0."""

    kind: ClassVar[str] = "boolean"

    @classmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        return cls(name, int(np.isnan(booleans_of(values)).sum()))

    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        found = booleans_of(values)
        return self._with_indicator(np.nan_to_num(found)[:, None], np.isnan(found))

    def names(self) -> list[str]:
        return [self.column, *self._indicator_name()]

    def treatment(self) -> str:
        return "1 or 0"


@dataclass(frozen=True)
class Categories(OneColumn):
    """One feature per category, and one for all rare categories together."""

    kind: ClassVar[str] = "category"

    categories: tuple[str, ...]
    n_rare: int

    @classmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        from sklearn.preprocessing import OneHotEncoder

        text = strings_of(values)
        filled = text.filter(pc.is_valid(text)).to_numpy()[:, None]
        if not len(filled):
            return cls(name, len(text), (), 0)
        least = max(2, int(min(RARE, RARE_SHARE * len(filled))))
        encoder = OneHotEncoder(min_frequency=least, max_categories=MOST_CATEGORIES).fit(filled)
        pooled = encoder.infrequent_categories_[0]
        rare = set() if pooled is None else set(pooled.tolist())
        kept = (category for category in encoder.categories_[0].tolist() if category not in rare)
        return cls(name, text.null_count, tuple(kept), len(rare))

    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        text = strings_of(values)
        is_missing = np.asarray(text.is_null())
        found = pc.index_in(text, value_set=pa.array(self.categories, pa.large_string()), skip_nulls=True)
        n_kept = len(self.categories)
        codes = np.array(pc.fill_null(found, n_kept if self.n_rare else -1), dtype=np.int64)
        codes[is_missing] = n_kept + (self.n_rare > 0) if self.n_missing else -1
        rows = np.flatnonzero(codes >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        return sparse.csr_array((ones, (rows, codes[rows])), shape=(len(codes), len(self.names())))

    def names(self) -> list[str]:
        rare = [f"{self.column} is rare"] if self.n_rare else []
        return [*(f"{self.column}={category}" for category in self.categories), *rare, *self._indicator_name()]

    def treatment(self) -> str:
        rare = f" and one for {pluralize(self.n_rare, 'rare category', 'rare categories')}" if self.n_rare else ""
        return f"one-hot, {pluralize(len(self.categories), 'category', 'categories')}{rare}"


@dataclass(frozen=True)
class Dates(OneColumn):
    """A date or time, scaled as a number, with the time of the year and the day of the week on a circle."""

    kind: ClassVar[str] = "date"

    written: str
    mean: float
    deviation: float

    @classmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        from sklearn.preprocessing import StandardScaler

        seconds = _seconds(values, written)
        known = seconds[~np.isnan(seconds)]
        scaler = StandardScaler().fit(known[:, None])
        return cls(name, len(seconds) - len(known), written, float(scaler.mean_[0]), float(scaler.scale_[0]))

    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        seconds = _seconds(values, self.written)
        is_missing = np.isnan(seconds)
        angles = [2 * np.pi * seconds / period for period in (YEAR, WEEK)]
        circles = [turn(angle) / 2 for angle in angles for turn in (np.sin, np.cos)]  # half the weight of the date
        features = np.column_stack([(seconds - self.mean) / self.deviation, *circles])
        features[is_missing] = 0.0
        return self._with_indicator(features, is_missing)

    def names(self) -> list[str]:
        circles = [f"{self.column}: {turn} of {period}" for period in ("year", "week") for turn in ("sin", "cos")]
        return [self.column, *circles, *self._indicator_name()]

    def treatment(self) -> str:
        written = f", written as {self.written}" if self.written else ""
        return f"scaled, with time of year and day of week{written}"


@dataclass(frozen=True)
class Embedding(OneColumn):
    """A list of as many numbers in every row: centred; its dimensions keep their widths."""

    kind: ClassVar[str] = "embedding"
    is_rich: ClassVar[bool] = True

    mean: tuple[float, ...]

    @classmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        rows, is_missing = _rows_of_numbers(values, int(written))
        return cls(name, int(is_missing.sum()), tuple(rows[~is_missing].mean(axis=0).tolist()))

    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        rows, is_missing = _rows_of_numbers(values, len(self.mean))
        rows -= np.array(self.mean)
        rows[is_missing] = 0.0
        return self._with_indicator(rows, is_missing)

    def names(self) -> list[str]:
        return [*(f"{self.column}[{k}]" for k in range(len(self.mean))), *self._indicator_name()]

    def treatment(self) -> str:
        return f"{len(self.mean):,} dimensions, centred"


def _seconds(values: pa.ChunkedArray, written: str) -> npt.NDArray[np.float64]:
    """Return dates as seconds since 1970, NaN where there is none."""
    dates = dates_of(values, written or None)
    return np.array(dates.cast(pa.int64()).cast(pa.float64()).to_numpy(), dtype=np.float64)


def _rows_of_numbers(values: pa.ChunkedArray, dimension: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return lists as rows, and which of them have another length or an entry that is no finite number."""
    lists = lists_of(values)
    usable = lists.lengths == dimension
    rows = np.full((len(usable), dimension), np.nan)
    entries = numbers_of(pa.chunked_array([lists.values])).values
    rows[usable] = entries[np.repeat(usable, lists.lengths)].reshape(-1, dimension)
    return rows, ~np.isfinite(rows).all(axis=1)
