"""New nodes as raw rows of a node table, prepared as the fitted ones were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from planetoid.errors import DataError, Fix
from planetoid.ids import NodeIds
from planetoid.io.column_roles import ID_NAMES, column_number, find_id_column
from planetoid.io.encode import integers_if_canonical
from planetoid.io.feature_table import FeatureTable
from planetoid.io.formats import open_table
from planetoid.io.table import TableOptions

if TYPE_CHECKING:
    from planetoid.persistence import SavedModel

__all__ = ["RawRows"]


class RawRows:
    """Rows of a node table for a model that was fitted on one.

    Parameters
    ----------
    path : Path
    model : SavedModel
    id_column : str, optional
        By default one with a usual name, else the first that no feature is made of.
    """

    def __init__(self, path: Path, model: SavedModel, id_column: str | None = None) -> None:
        preparation = model.preparation
        if preparation is None:
            raise DataError(
                "the model was not fitted on a node table",
                path=model.path,
                hint="pass --features FILE for new nodes, or --ids FILE for fitted nodes",
            )
        self._preparation = preparation
        self._table = open_table(path, TableOptions(header=True))
        self._id = self._find_ids(id_column)

    def blocks(self) -> Iterator[FeatureTable]:
        """Read and prepare the rows in blocks that fit in memory."""
        names = self._table.names
        used = set(self._preparation.columns)
        columns = [self._id, *(number for number, name in enumerate(names) if name in used and number != self._id)]
        feature_names = np.array(self._preparation.feature_names, dtype=object)
        for batch in self._table.batches(columns):
            self._table.check_ids(batch, [self._id])
            cells = {
                names[number]: pa.chunked_array([values]) for number, values in zip(columns, batch.texts, strict=True)
            }
            try:
                X = self._preparation.transform(cells)
            except DataError as error:
                raise DataError(error.message, path=self._table.path, hint=error.hint) from None
            yield FeatureTable(X, NodeIds.distinct(batch.texts[0]), feature_names, self._table.path)

    def has_integer_ids(self) -> bool:
        """Return whether all ids are integers, or are written so in text."""
        parts = (batch.texts[0] for batch in self._table.batches([self._id]))
        is_text = self._table.is_text
        return all(pa.types.is_integer((integers_if_canonical(part) if is_text else part).type) for part in parts)

    def _find_ids(self, id_column: str | None) -> int:
        if id_column is not None:
            return column_number(self._table.names, id_column, "id_column", self._table.path)
        usual = find_id_column(self._table, None)
        used = set(self._preparation.columns)
        if self._table.names[usual].lower() in ID_NAMES or self._table.names[usual] not in used:
            return usual
        raise DataError(
            f"the first column, {self._table.names[usual]!r}, holds features, not ids",
            path=self._table.path,
            fix=Fix("id_column", purpose="to choose the column of ids"),
        )
