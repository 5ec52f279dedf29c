"""What all tables have in common, whatever the format: columns read in batches, and errors that name the record."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError
from planetoid.io.limits import check_lengths

__all__ = ["Batch", "Records", "Table", "TableOptions", "not_float32"]


@dataclass(frozen=True)
class TableOptions:
    """What the caller knows about how a table is written.

    Attributes
    ----------
    header : bool or None
        Whether the first line of a text table names the columns; detected by default.
    separator : str or None
        One character between the cells of a text table (a space: any whitespace); detected by default.
    decimal : {".", ","} or None
        Decimal separator of a text table; detected by default.
    query : str or None
        The query, or the name of a table, of a database.
    content : {"edges", "features", "labels", "nodes"}
        What is to be read, for files that hold several tables or arrays.
    """

    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    query: str | None = None
    content: str = "nodes"


class Records:
    """Records that an error can point to; without lines, unless a subclass knows better.

    Attributes
    ----------
    path : Path or None
        The file that they come from.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def line(self, row: int) -> int | None:
        """Return the line of a record, counted from 1; ``None`` in a file without lines, where errors name the row."""
        return None

    def position(self, row: int) -> str:
        """Return the line or the row of a record in words."""
        line = self.line(row)
        return f"row {row}" if line is None else f"line {line}"

    def origin(self, row: int) -> tuple[Records, int]:
        """Return the records that one was read from, if these are made of others, and its row there."""
        return self, row

    def error(
        self,
        message: str,
        row: int,
        *,
        column: str | int | None = None,
        ids: Sequence[Hashable] = (),
        hint: str | None = None,
    ) -> DataError:
        """Return a ``DataError`` about one record; ``ids`` are that of its node, or those of both ends of its edge."""
        records, own = self.origin(row)
        line = records.line(own)
        return DataError(
            message,
            path=records.path,
            line=line,
            row=own if line is None else None,
            column=column,
            node=ids[0] if len(ids) == 1 else None,
            edge=(ids[0], ids[1]) if len(ids) == 2 else None,
            hint=hint,
        )


@dataclass(frozen=True)
class Batch:
    """Some records of a table: columns of text (or ids, labels) and a matrix of numbers."""

    first_row: int
    texts: list[pa.Array]
    numbers: npt.NDArray[np.float32]


class Table(Records, ABC):
    """A file of records that all have the same columns.

    Attributes
    ----------
    path : Path or None
        The file, ``None`` if the table was in memory.
    names : tuple of str
        Names of the columns; their numbers where there is no header.
    has_names : bool
    header_is_certain : bool
        False if the first line was taken for a record without evidence for or against a header.
    is_text : bool
        Whether all cells are text, so that what looks like an integer is one.
    decimal : {".", ","}
        Decimal separator of numbers in text.
    """

    names: tuple[str, ...]
    has_names: bool
    header_is_certain: bool = True
    is_text: bool = False
    decimal: str = "."

    @abstractmethod
    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        """Read some columns as they are (text without surrounding whitespace) and others as finite float32."""

    @abstractmethod
    def is_numeric(self, column: int) -> bool:
        """Return whether a column is meant to hold numbers, as far as is known without reading all of it."""

    @abstractmethod
    def cell(self, row: int, column: int) -> str:
        """Return a cell as it is written, for messages."""

    def column_name(self, number: int) -> str | int:
        """Return how messages refer to a column: by its name, else by its number."""
        return self.names[number] if self.has_names else number

    def check_ids(self, batch: Batch, columns: Sequence[int]) -> None:
        """Raise ``DataError`` for a missing id or one of the wrong type in ``columns``, the first texts of a batch."""
        for values, column in zip(batch.texts, columns, strict=False):
            is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
            if not is_text and not pa.types.is_integer(values.type):
                raise DataError(
                    f"ids must be integers or strings, not {values.type}",
                    path=self.path,
                    column=self.column_name(column),
                    hint="convert the column to integers or strings",
                )
            empty = pc.is_null(values)
            if is_text:
                empty = pc.or_kleene(empty, pc.equal(values, ""))
                check_lengths(values, self.path)
            if pc.any(empty).as_py():
                row = batch.first_row + pc.index(empty, True).as_py()
                raise self.error("the id is empty", row, column=self.column_name(column), hint="every record needs one")

    def finite_matrix(
        self, first_row: int, texts: Sequence[pa.Array], columns: Sequence[int], values: Sequence[pa.Array]
    ) -> npt.NDArray[np.float32]:
        """Return columns of numbers as a matrix, or raise ``DataError`` for one that is missing, NaN or infinite."""
        numbers = np.empty((len(columns), len(values[0]) if values else 0), dtype=np.float32)
        for target, column in zip(numbers, values, strict=True):
            target[:] = column.to_numpy(zero_copy_only=False)  # a missing value becomes NaN
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            row, k = (int(index) for index in np.argwhere(wrong.T)[0])
            raise self.not_finite(first_row + row, columns[k], [text[row].as_py() for text in texts])
        return np.transpose(numbers)

    def not_finite(self, row: int, column: int, ids: Sequence[Hashable]) -> DataError:
        """Return the error that a cell is empty, NaN, infinite or too large."""
        cell = self.cell(row, column)
        return self.error(
            not_float32(cell, self.decimal) if cell else "the cell is empty",
            row,
            column=self.column_name(column),
            ids=ids,
            hint=None if cell else "a number is required",
        )


def not_float32(value: object, decimal: str = ".") -> str:
    """Return why a number, or a cell with a number, cannot be used: it is NaN, infinite or too large for 32 bits.

    >>> not_float32(float("nan")), not_float32("1e39")
    ('nan is not a finite number', '1e39 is beyond 3.4e38, the largest number in 32 bits (float32)')
    """
    try:
        is_finite = math.isfinite(float(str(value).replace(decimal, ".")))
    except ValueError:
        is_finite = False
    if not is_finite:
        return f"{value} is not a finite number"
    return f"{value} is beyond 3.4e38, the largest number in 32 bits (float32)"
