"""What all kinds of columns have in common: what was learned from the fitted rows, and how it is applied.

A block is plain data. scikit-learn learns it; applying all but text needs no scikit-learn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Columns: TypeAlias = Mapping[str, pa.ChunkedArray]
    Written: TypeAlias = Mapping[str, str]
    Matrix: TypeAlias = npt.NDArray[np.float32] | sparse.csr_array

__all__ = ["Block", "OneColumn"]


@dataclass(frozen=True)
class Block(ABC):
    """Some columns of one kind; all attributes are plain data."""

    kind: ClassVar[str]
    is_rich: ClassVar[bool] = False  # many features that belong together, such as the words of a text

    @classmethod
    @abstractmethod
    def fit(cls, columns: Columns, written: Written) -> Self:
        """Learn from columns; ``written`` says of each how its cells are written, see ``kinds.Guess``."""

    @abstractmethod
    def transform(self, columns: Columns) -> Matrix:
        """Return one row of features per row of the table."""

    @classmethod
    def fit_transform(cls, columns: Columns, written: Written) -> tuple[Self, Matrix]:
        """Learn from columns, and return their features."""
        block = cls.fit(columns, written)
        return block, block.transform(columns)

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the features."""

    @abstractmethod
    def treatments(self) -> dict[str, str]:
        """Return for each column in words what is done with it."""


@dataclass(frozen=True)
class OneColumn(Block):
    """A block of a single column.

    Attributes
    ----------
    column : str
        Its name in the table.
    n_missing : int
        Fitted rows without a value. If there are any, the last feature says where the value is missing.
    """

    column: str
    n_missing: int

    @classmethod
    def fit(cls, columns: Columns, written: Written) -> Self:
        ((name, values),) = columns.items()
        return cls.fit_column(name, values, written[name])

    @classmethod
    @abstractmethod
    def fit_column(cls, name: str, values: pa.ChunkedArray, written: str) -> Self:
        """Learn from the cells of a column."""

    def transform(self, columns: Columns) -> Matrix:
        return self.transform_column(columns[self.column])

    @abstractmethod
    def transform_column(self, values: pa.ChunkedArray) -> Matrix:
        """Return one row of features per cell."""

    def treatments(self) -> dict[str, str]:
        missing = f"; {missing_values(self.n_missing)}, with an indicator" if self.n_missing else ""
        return {self.column: self.treatment() + missing}

    @abstractmethod
    def treatment(self) -> str:
        """Return in words what is done with values that are not missing."""

    def _with_indicator(self, features: npt.NDArray[np.floating], is_missing: npt.NDArray[np.bool_]) -> Matrix:
        features = features.astype(np.float32, copy=False)
        return np.column_stack([features, is_missing.astype(np.float32)]) if self.n_missing else features

    def _indicator_name(self) -> list[str]:
        return [indicator_name(self.column)] if self.n_missing else []


def indicator_name(column: str) -> str:
    """Return the name of the feature that says where a value is missing."""
    return f"{column} is missing"


def missing_values(count: int) -> str:
    """Return a number of missing values in words."""
    return pluralize(count, "missing value")
