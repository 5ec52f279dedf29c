"""A table in several files: a folder of parts, or a pattern such as ``part-*.parquet``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from planetoid.errors import DataError
from planetoid.io.table import Batch, Records, Table

__all__ = ["PartsTable"]


class PartsTable(Table):
    """The rows of all parts, one after the other; columns are matched by their names."""

    def __init__(self, path: Path, parts: Sequence[Table]) -> None:
        super().__init__(path)
        self._parts = parts
        first = parts[0]
        self.names, self.has_names, self.is_text, self.decimal = (
            first.names,
            first.has_names,
            first.is_text,
            first.decimal,
        )
        self.header_is_certain = all(part.header_is_certain for part in parts)
        self._starts: list[int] = []
        for part in parts:
            different = set(part.names) ^ set(self.names)
            if different:
                raise DataError(
                    f"the parts must have the same columns, but {sorted(different)[0]!r} is not in {first.path} and in "
                    "this file alike",
                    path=part.path,
                )

    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        self._starts, row = [], 0
        for part in self._parts:
            self._starts.append(row)
            position = {name: number for number, name in enumerate(part.names)}
            start = row
            for batch in part.batches(*([position[self.names[k]] for k in columns] for columns in (texts, numbers))):
                yield replace(batch, first_row=start + batch.first_row)
                row = start + batch.first_row + len(batch.texts[0] if batch.texts else batch.numbers)

    def is_numeric(self, column: int) -> bool:
        return all(part.is_numeric(part.names.index(self.names[column])) for part in self._parts)

    def cell(self, row: int, column: int) -> str:
        part, own = self._part(row)
        return part.cell(own, part.names.index(self.names[column]))

    def line(self, row: int) -> int | None:
        part, own = self._part(row)
        return part.line(own)

    def position(self, row: int) -> str:
        part, own = self._part(row)
        return f"{part.position(own)} of {part.path}"

    def origin(self, row: int) -> tuple[Records, int]:
        part, own = self._part(row)
        return part.origin(own)

    def _part(self, row: int) -> tuple[Table, int]:
        number = max(k for k, start in enumerate(self._starts) if start <= row)
        return self._parts[number], row - self._starts[number]
