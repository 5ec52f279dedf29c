"""Which nodes there are: those with an edge and those with features, in an order that names do not change."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io.encode import integers_if_canonical

__all__ = ["joined"]


def joined(edge_ids: NodeIds, feature_ids: Any, path: Path) -> Any:
    """Return the ids of a graph, then those that have features but no edge, as one Arrow array.

    A file of which no record belongs to a node with an edge is refused: its ids must be others.
    """
    known, values = _alike(edge_ids.to_arrow(), feature_ids)
    met = pc.is_in(values, value_set=known)
    strangers = pc.unique(values.filter(pc.invert(met)))
    if len(strangers) and not pc.any(met).as_py():
        raise DataError(
            f"{path}: no record has the id of a node with an edge (the first has {values[0].as_py()!r}, the edges "
            f"have ids such as {known[0].as_py()!r}); is it the right file, and the right id column?"
        )
    if len(strangers):
        warnings.warn(
            f"{path}: {len(strangers):,} of {len(values):,} rows belong to nodes without an edge "
            f"(the first has the id {strangers[0].as_py()!r})",
            PlanetoidWarning,
            stacklevel=3,
        )
    return pa.concat_arrays([known, strangers])


def _alike(first: Any, second: Any) -> tuple[Any, Any]:
    """Bring ids of two files to one type: integers where all are, or are written so, else strings."""
    both = [_as_text(first), _as_text(second)]
    if both[0].type != both[1].type:
        both = [part if pa.types.is_integer(part.type) else integers_if_canonical(part) for part in both]
    if both[0].type != both[1].type:
        both = [part.cast(pa.large_string()) for part in both]
    return both[0], both[1]


def _as_text(values: Any) -> Any:
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return values.cast(pa.int64() if pa.types.is_integer(values.type) else pa.large_string())
