"""Which node each record of a file belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.io.id_hints import why_ids_differ

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypeAlias

    from planetoid.io.table import Records

__all__ = ["HasIds", "OnUnknown", "check_unique", "graph_ids", "handle_unknown", "rows_of"]

OnUnknown: TypeAlias = Literal["warn", "ignore", "error"]


@runtime_checkable
class HasIds(Protocol):
    """A graph, or anything else with node ids."""

    @property
    def ids(self) -> NodeIds: ...


def graph_ids(graph: NodeIds | HasIds) -> NodeIds:
    """Return the node ids of a graph, or raise ``DataError`` if a file cannot contain such ids."""
    ids = graph if isinstance(graph, NodeIds) else getattr(graph, "ids", None)
    if not isinstance(ids, NodeIds):
        raise DataError(f"a {type(graph).__name__} has no node ids", hint="pass a Graph; Graph.of makes one")
    if ids.kind == "object":
        raise DataError(
            f"node ids such as {ids[0]!r} do not occur in files", hint="use integers or strings as ids of the graph"
        )
    return ids


def rows_of(
    ids: NodeIds, values: pa.Array | pa.ChunkedArray, records: Records, first_row: int = 0
) -> npt.NDArray[np.int64]:
    """Return the row of each value, -1 if no node has this id.

    Values are compared in the type of the ids: if those are strings, 1 means ``"1"``; if they are integers, ``"1"``
    means 1, and any other string is an error.
    """
    is_integer = pa.types.is_integer(values.type)
    if ids.kind == "str":
        return ids.rows(values.cast(pa.string()) if is_integer else values)
    if not is_integer:
        integer = pc.match_substring_regex(values, r"^-?[0-9]{1,18}$")
        if not pc.all(integer, min_count=0).as_py():
            wrong = pc.index(integer, False).as_py()
            example = f", such as {ids[0]}" if len(ids) else ""
            raise records.error(
                f"the id is not an integer, but the ids of the graph are{example}",
                first_row + wrong,
                ids=[values[wrong].as_py()],
            )
        values = values.cast(pa.int64())
    return ids.rows(values)


def handle_unknown(
    path: Path | None,
    rows: npt.NDArray[np.int64],
    values: pa.Array | pa.ChunkedArray,
    ids: NodeIds,
    what: str,
    on_unknown: OnUnknown = "warn",
) -> None:
    """Warn about records that belong to no node; it is an error if none does."""
    unknown = np.flatnonzero(rows < 0)
    if not len(unknown):
        return
    first = values[int(unknown[0])].as_py()
    reason = why_ids_differ(values.take(pa.array(unknown)), ids.to_arrow())
    if len(unknown) == len(rows):
        raise DataError(
            f"no record has the id of a node of the graph: the first id is {first!r}"
            + (f", ids of the graph look like {ids[0]!r}" if len(ids) else "")
            + (f"; {reason[0]}" if reason else ""),
            path=path,
            hint=reason[1] if reason else "check that this is the right file and the right id column",
        )
    message = (
        f"{len(unknown):,} of {len(rows):,} {what} belong to no node of the graph (the first has the id {first!r})"
    )
    if on_unknown == "error":
        raise DataError(message, path=path)
    if on_unknown == "warn":
        ignored = f"{message} and are ignored" + (f"; {reason[0]}" if reason else "")
        warn(PlanetoidWarning(ignored, path=path, hint=reason[1] if reason else None))


def check_unique(
    records: Records, rows: npt.NDArray[np.integer], values: pa.Array | pa.ChunkedArray, first_row: int = 0
) -> None:
    """Raise ``DataError`` for a second record with the same row; -1 may repeat."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    repeated = np.flatnonzero((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)) + 1
    if not len(repeated):
        return
    second = int(order[repeated].min())
    first = int(np.flatnonzero(rows == rows[second])[0])
    raise records.error(
        f"duplicate node id, first seen in {records.position(first_row + first)}",
        first_row + second,
        ids=[values[second].as_py()],
    )
