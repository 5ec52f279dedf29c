"""``LabelCells``: the ids and labels of a table, which :func:`read_labels` and :func:`read_label_sets` start from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError
from planetoid.io.column_roles import LabelColumns, choose_label_columns
from planetoid.io.encode import int64_or_string, integers_if_canonical
from planetoid.io.formats import open_table
from planetoid.io.matching import handle_unknown, rows_of
from planetoid.io.table import TableOptions

if TYPE_CHECKING:
    from planetoid.ids import NodeIds
    from planetoid.io.formats import TableSource
    from planetoid.io.table import Table

__all__ = ["LabelCells", "open_labels"]


class LabelCells(NamedTuple):
    """The ids and labels of a table as they are written, one record each."""

    table: Table
    columns: LabelColumns
    nodes: pa.Array
    cells: pa.Array

    @property
    def are_text(self) -> bool:
        """Whether the labels are text, numbers in a text file included."""
        return _is_text(self.cells)

    def labels(self, unlabelled: Sequence[str]) -> pa.Array:
        """Return labels with null for unlabelled, and as integers if they are written so or a gap made them floats."""
        return _parsed(self.table, self.columns.label, self.cells, unlabelled)

    def ids(self) -> pa.Array:
        """Return the ids as integers if all of them are, else as strings."""
        return integers_if_canonical(self.nodes) if self.table.is_text else int64_or_string(self.nodes)

    def rows(self, ids: NodeIds) -> npt.NDArray[np.int64]:
        """Return the row of each record among these ids, -1 for others, about which there is a warning."""
        rows = rows_of(ids, self.nodes, self.table)
        handle_unknown(self.table.path, rows, self.nodes, ids, "labels")
        return rows


def open_labels(
    path: TableSource,
    id_column: str | int | None,
    label_column: str | int | None,
    header: bool | None,
    separator: str | None,
    query: str | None,
) -> LabelCells:
    """Read the columns of ids and labels; the parameters are those of :func:`read_labels`."""
    if header is None and (isinstance(id_column, str) or isinstance(label_column, str)):
        header = True
    table = open_table(path, TableOptions(header, separator, query=query), "labels")
    columns = choose_label_columns(table, id_column, label_column)
    parts: tuple[list[pa.Array], list[pa.Array]] = ([], [])
    for batch in table.batches(columns):
        table.check_ids(batch, [columns.node])
        for part, values in zip(parts, batch.texts, strict=True):
            part.append(values)
    nodes, cells = (pa.chunked_array(part).combine_chunks() for part in parts)
    return LabelCells(table, columns, nodes, cells)


def _parsed(table: Table, column: int, labels: pa.Array, unlabelled: Sequence[str]) -> pa.Array:
    if pa.types.is_floating(labels.type):
        labels = labels.cast(pa.float64())
        labels = pc.if_else(pc.is_nan(labels), None, labels)
        is_integer = pc.and_(pc.equal(pc.floor(labels), labels), pc.less(pc.abs(labels), 2.0**63))
        row = pc.index(is_integer, False).as_py()
        if row >= 0:
            raise table.error(
                f"labels must be integers or strings, got {labels[row].as_py()}", row, column=table.column_name(column)
            )
        labels = labels.cast(pa.int64())
    if _is_text(labels):
        unknown = pa.array(["", *unlabelled], labels.type)
        labels = pc.if_else(pc.is_in(labels, value_set=unknown), None, labels)
        if table.is_text:
            labels = integers_if_canonical(labels)
    elif not (pa.types.is_integer(labels.type) or pa.types.is_boolean(labels.type)):
        raise DataError(
            f"labels must be integers or strings, not {labels.type}", path=table.path, column=table.column_name(column)
        )
    if labels.null_count == len(labels):
        raise DataError(
            f"no label in {len(labels):,} records: the column is empty",
            path=table.path,
            column=table.column_name(column),
        )
    return labels


def _is_text(cells: pa.Array) -> bool:
    return bool(pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type))
