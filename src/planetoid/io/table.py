"""What all tables have in common, whatever the file: columns in pieces, and messages that say where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError
from planetoid.io.files import is_parquet

__all__ = ["Batch", "Records", "Table", "open_table"]


class Records:
    """Records that an error can point to."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def line(self, row: int) -> int | None:
        """Return the line of a record, counted from 1."""
        return None

    def place(self, row: int) -> str:
        """Return the line in words."""
        return f"line {self.line(row)}"


@dataclass(frozen=True)
class Batch:
    """Some records of a table: columns of text (or ids, labels) and a matrix of numbers."""

    first_row: int
    texts: list[Any]
    numbers: npt.NDArray[np.float32]


class Table(ABC):
    """A file of records that all have the same columns.

    Attributes
    ----------
    path : Path
    names : tuple of str
        Of the columns; their numbers where there is no header.
    has_names : bool
    header_known : bool
        False if the first line was taken for a record and nothing spoke for or against it.
    is_text : bool
        Whether all cells are text, so that what looks like an integer is one.
    """

    path: Path
    names: tuple[str, ...]
    has_names: bool
    header_known: bool = True
    is_text: bool = False

    @abstractmethod
    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        """Read some columns as they are (text without the blanks around it) and others as finite float32."""

    @abstractmethod
    def is_numeric(self, column: int) -> bool:
        """Tell whether a column is meant to have numbers, as far as can be told without reading all."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return the line (or row) of a record, for messages."""

    @abstractmethod
    def cell(self, row: int, column: int) -> str:
        """Return a cell as it is written, for messages."""

    def column(self, number: int) -> str:
        """Return how messages call a column."""
        return f"column {self.names[number]!r}" if self.has_names else f"column {number} (counted from 0)"

    def refuse(self, row: int, column: int, problem: str, ids: Sequence[Any] = ()) -> NoReturn:
        """Raise a ``DataError`` about one cell; ``ids`` are those that stand in its record."""
        who = f" ({', '.join(repr(node) for node in ids)})" if ids else ""
        raise DataError(f"{self.path}, {self.place(row)}{who}, {self.column(column)}: {problem}")

    def check_ids(self, batch: Batch, columns: Sequence[int]) -> None:
        """Refuse what is no id, or none at all, in ``columns``, which are the first texts of the batch."""
        for values, column in zip(batch.texts, columns, strict=False):
            is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
            if not is_text and not pa.types.is_integer(values.type):
                raise DataError(f"{self.path}: {self.column(column)} is {values.type}; ids are integers or strings")
            empty = pc.is_null(values)
            if is_text:
                empty = pc.or_kleene(empty, pc.equal(values, ""))
            if pc.any(empty).as_py():
                row = batch.first_row + pc.index(empty, True).as_py()
                self.refuse(row, column, "the id is empty; every record needs one")

    def finite(self, first_row: int, texts: list[Any], columns: Sequence[int], values: list[Any]) -> Any:
        """Return columns of numbers as a matrix, or refuse the first one that is missing, NaN or infinite."""
        numbers = np.empty((len(columns), len(values[0]) if values else 0), dtype=np.float32)
        for row, column in zip(numbers, values, strict=True):
            row[:] = column.to_numpy(zero_copy_only=False)  # what is missing becomes NaN
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            at, k = (int(place) for place in np.argwhere(wrong.T)[0])
            cell = self.cell(first_row + at, columns[k])
            problem = f"{cell} is not a finite number" if cell else "the cell is empty; write a number there"
            self.refuse(first_row + at, columns[k], problem, [text[at].as_py() for text in texts])
        return numbers.T


def open_table(path: Path, header: bool | None = None, separator: str | None = None) -> Table:
    """Open a Parquet file or a text table."""
    if is_parquet(path):
        from planetoid.io.parquet import ParquetTable

        return ParquetTable(path)
    from planetoid.io.text import TextTable

    return TextTable(path, header, separator)
