"""Features that were read once and find their rows afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io.encode import IdEncoder, integers_if_canonical
from planetoid.io.features import _as_array, _open, _placed
from planetoid.io.match import refuse_twice

__all__ = ["FeatureBlocks", "FeatureTable", "read_feature_blocks"]

SPARSE_BELOW = 0.1
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class FeatureTable:
    """Features of nodes: a row for each id."""

    X: Any
    ids: NodeIds
    names: npt.NDArray[Any] | None = None
    path: Path | None = None

    def with_names_sorted(self) -> FeatureTable:
        """Put the columns in the order of their names."""
        if self.names is None:
            return self
        order = np.argsort(self.names.astype(str), kind="stable")
        names = self.names[order]
        again = np.flatnonzero(names[1:] == names[:-1])
        if len(again):
            raise DataError(f"duplicate column name {names[again[0]]!r}", path=self.path, hint="rename one of them")
        if (order == np.arange(len(order))).all():
            return self
        X = self.X
        if isinstance(X, np.ndarray):
            for first in range(0, len(X), BLOCK_ROWS):  # in place: a table may fill half of the memory
                X[first : first + BLOCK_ROWS] = X[first : first + BLOCK_ROWS][:, order]
        else:
            X = X[:, order]
            X.sort_indices()
        return replace(self, X=X, names=names)

    def compact(self) -> FeatureTable:
        """Return a sparse table if few of the entries are nonzero."""
        if not isinstance(self.X, np.ndarray) or np.count_nonzero(self.X) > SPARSE_BELOW * self.X.size:
            return self
        return replace(self, X=sparse.csr_array(self.X))


class FeatureBlocks:
    """A file of features that was read but not put in order yet."""

    def __init__(self, path: Path, blocks: list[Any], ids: NodeIds, names: Any, n_features: int, has_ids: bool) -> None:
        self.path, self.ids, self.names, self.has_ids = path, ids, names, has_ids
        self._blocks, self._n_features = blocks, n_features

    def aligned(self, ids: NodeIds, on_unknown: str = "warn") -> FeatureTable:
        """Return the rows of ``ids``; zeros, with a warning, for a node without a row."""
        own = self.ids
        if ids.kind == "str" and own.kind != "str":
            own = NodeIds.distinct(own.to_arrow().cast(pa.string()))
        elif ids.kind != "str" and own.kind == "str":
            own = NodeIds.distinct(own.to_arrow().cast(pa.int64()))
        rows = ids.rows(own.to_arrow())
        missing = len(ids) - int(np.count_nonzero(rows >= 0))
        if missing:
            warnings.warn(
                PlanetoidWarning(
                    f"{missing:,} of {len(ids):,} nodes have no row; their features are zero", path=self.path
                ),
                stacklevel=4,
            )
        X = _placed(self._blocks, rows, (len(ids), self._n_features))
        return FeatureTable(X, ids, self.names, self.path)


def read_feature_blocks(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002
) -> FeatureBlocks:
    """Read a file of features in file order."""
    path = Path(path)
    reader = _open(path, id_column, names, None, header, None, format)
    parts, blocks = [], []
    for piece in reader.pieces():
        parts.append(piece.ids)
        blocks.append(piece.X)
    if parts[0] is None:
        ids = NodeIds(sum(block.shape[0] for block in blocks))
        return FeatureBlocks(path, blocks, ids, None, reader.n_features, has_ids=False)
    values = pa.chunked_array(parts)
    refuse_twice(reader, IdEncoder().encode(values), values)
    ids = NodeIds.distinct(integers_if_canonical(values) if reader.ids_are_text else values)
    return FeatureBlocks(path, blocks, ids, _as_array(reader.names), reader.n_features, has_ids=True)
