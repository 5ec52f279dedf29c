"""A node table: ids, features of any kind and perhaps labels, one row per node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.io.column_roles import LABEL_NAMES, column_number, find_id_column
from planetoid.io.encode import IdEncoder, integers_if_canonical
from planetoid.io.feature_table import FeatureBlocks, FeatureTable
from planetoid.io.matching import check_unique
from planetoid.io.pandas_index import index_columns
from planetoid.preparation.kinds import ColumnOptions
from planetoid.preparation.prepare import Preparation

if TYPE_CHECKING:
    from planetoid.io.table import Table

__all__ = ["NodeTable", "raw_columns"]


@dataclass(frozen=True)
class NodeTable:
    """A node table whose ids are read and whose other columns are still as they are in the file.

    Attributes
    ----------
    table : Table
    id_column : int
    label_column : int or None
        The column of labels, which is never a feature.
    options : ColumnOptions
    ignore : sequence of str or int
        Columns that are no features.
    """

    table: Table
    id_column: int
    label_column: int | None
    options: ColumnOptions
    ignore: Sequence[str | int] = ()

    has_ids = True

    @classmethod
    def of(
        cls,
        table: Table,
        id_column: str | int | None,
        label_column: str | int | None,
        options: ColumnOptions,
        ignore: Sequence[str | int] = (),
        *,
        has_other_labels: bool = False,
    ) -> NodeTable:
        """Choose the columns of ids and labels; a column with a usual name holds the labels if no other file does."""
        node = find_id_column(table, id_column)
        label: int | None = None
        if label_column is not None:
            label = column_number(table.names, label_column, "label_column", table.path)
        elif not has_other_labels:
            usual = [
                k for name in LABEL_NAMES for k, own in enumerate(table.names) if own.lower() == name and k != node
            ]
            label = usual[0] if usual else None
        if label == node:
            raise DataError(
                "the column cannot hold both the ids and the labels",
                path=table.path,
                column=table.column_name(node),
                parameter="label_column",
            )
        for parameter in ("text_columns", "categorical"):
            for name in getattr(options, parameter):
                column_number(table.names, name, parameter, table.path)
        return cls(table, node, label, options, ignore)

    @property
    def path(self) -> Path | None:
        """The file, for messages."""
        return self.table.path

    @cached_property
    def _ids(self) -> pa.ChunkedArray:
        parts = []
        for batch in self.table.batches([self.id_column]):
            self.table.check_ids(batch, [self.id_column])
            parts.append(batch.texts[0])
        values = pa.chunked_array(parts)
        check_unique(self.table, IdEncoder().encode(values), values)
        return values

    @cached_property
    def ids(self) -> NodeIds:
        """The ids in the order of the rows; integers if they are all written so in text."""
        values = self._ids.combine_chunks()
        return NodeIds.distinct(integers_if_canonical(values) if self.table.is_text else values)

    @cached_property
    def _columns(self) -> list[int]:
        """Columns that may be features, whatever they are."""
        ignored = {column_number(self.table.names, name, "ignore", self.path) for name in self.ignore}
        unused = ignored | self._index | {self.id_column} | ({self.label_column} - {None})
        return [number for number in range(len(self.table.names)) if number not in unused]

    @property
    def _index(self) -> set[int]:
        return set(index_columns(self.table.names)) - {self.id_column}

    @property
    def has_columns(self) -> bool:
        """Whether there are columns beside ids and labels."""
        return bool(self._columns)

    def prepared(self, nodes: NodeIds) -> tuple[Preparation, FeatureTable]:
        """Learn the preparation from all rows; return it and the features of the given nodes."""
        self._check_names(self._columns)
        left_out = {self.table.names[k]: "it looks like the index of a pandas table" for k in self._index}
        # In the order of the nodes, so that the order of the rows in the file changes no sum.
        order = np.argsort(nodes.rows(self.ids.to_arrow()), kind="stable")
        columns = raw_columns(self.table, self._columns)
        if (np.diff(order) < 0).any():
            columns = {name: values.take(order) for name, values in columns.items()}
        try:
            preparation, X = Preparation.fit(
                columns,
                self.options,
                decimal=self.table.decimal,
                left_out=left_out,
            )
        except DataError as error:
            raise DataError(error.message, hint=error.hint, path=self.path) from None
        for block in preparation.blocks:
            for name, problem in getattr(block, "invalid", {}).items():
                warn(PlanetoidWarning(problem, path=self.path, column=name))
        blocks = FeatureBlocks(
            self.table, [X], self._ids.take(order), np.array(preparation.feature_names, dtype=object)
        )
        return preparation, blocks.aligned(nodes, on_unknown="error")

    def _check_names(self, columns: Sequence[int]) -> None:
        repeated = [name for name, count in Counter(self.table.names[k] for k in columns).items() if count > 1]
        if repeated:
            raise DataError(f"several columns are called {repeated[0]!r}", path=self.path, hint="rename one of them")


def raw_columns(table: Table, columns: Sequence[int]) -> dict[str, pa.ChunkedArray]:
    """Return columns as they are in the file, by name."""
    parts: list[list[pa.Array]] = [[] for _ in columns]
    for batch in table.batches(columns):
        for part, values in zip(parts, batch.texts, strict=True):
            part.append(values)
    return {table.names[number]: pa.chunked_array(part) for number, part in zip(columns, parts, strict=True)}
