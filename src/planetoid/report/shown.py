"""``ShownColumns``: names of nodes and other columns that a report shows beside their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planetoid.errors import DataError

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd

    from planetoid.ids import NodeIds

__all__ = ["ShownColumns", "ShownLike"]

LONGEST = 300  # letters of a cell; a report with whole documents would be too large for a browser

ShownLike: TypeAlias = "Mapping[str, Sequence[object]] | pd.DataFrame | pd.Series"


@dataclass(frozen=True)
class ShownColumns:
    """Columns of text, one cell per node in the model's order; the first one holds the names of the nodes.

    >>> from planetoid.ids import NodeIds
    >>> shown = ShownColumns.of({"name": ["Ada", None], "age": [36, 41.0]}, NodeIds(["a", "b"]))
    >>> shown.name(0), shown.name(1), shown.cells["age"]
    ('Ada', '', ['36', '41'])
    """

    cells: Mapping[str, list[str]]

    @classmethod
    def of(cls, columns: ShownLike | None, ids: NodeIds) -> ShownColumns:
        """Return columns of a table, or sequences in the model's order, as text.

        A pandas table whose index holds node ids is aligned by them; nodes that it does not have get empty cells.
        """
        if columns is None:
            return cls({})
        if not isinstance(columns, Mapping):
            columns = _aligned(columns, ids)
        cells = {str(name): [_as_text(value) for value in values] for name, values in columns.items()}
        for name, values in cells.items():
            if len(values) != len(ids):
                raise DataError(
                    f"the column {name!r} to show has {len(values):,} entries for {len(ids):,} nodes",
                    hint="pass one entry per node in the model's order, or a pandas table whose index holds node ids",
                    parameter="show",
                )
        return cls(cells)

    def name(self, row: int) -> str:
        """Return the name of a node, empty if it has none."""
        return next((values[row] for values in self.cells.values()), "")

    def at(self, rows: Sequence[int]) -> dict[str, list[str]]:
        """Return the cells of some nodes."""
        return {name: [values[row] for row in rows] for name, values in self.cells.items()}


def _aligned(table: Any, ids: NodeIds) -> dict[str, list[object]]:
    """Return the columns of a pandas table in the order of the nodes."""
    table = table.to_frame() if hasattr(table, "to_frame") else table  # of a Series
    nodes = ids.rows(table.index.tolist())
    if not (nodes >= 0).any():
        raise DataError(
            f"no index of the table to show is the id of a node, such as {ids[0]!r}",
            hint="pass the table with set_index(the column of ids)",
            parameter="show",
        )
    known = np.flatnonzero(nodes >= 0)
    columns = {}
    for name in table.columns:
        values: list[object] = [None] * len(ids)
        listed = table[name].tolist()
        for k in known.tolist():
            values[nodes[k]] = listed[k]
        columns[str(name)] = values
    return columns


def _as_text(value: object) -> str:
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of integers with gaps
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
