"""Which node a record of a file belongs to."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds

__all__ = ["graph_ids", "refuse_twice", "rows_of", "warn_of_strangers"]

Rows = npt.NDArray[Any]


class Records(Protocol):
    """A file whose records can be found again, for messages."""

    path: Path

    def place(self, row: int) -> str:
        """Return the line or row of a record."""


def graph_ids(graph: Any) -> NodeIds:
    """Return the node ids of a graph (or of anything that has them as ``ids``)."""
    ids = graph if isinstance(graph, NodeIds) else getattr(graph, "ids", None)
    if not isinstance(ids, NodeIds):
        raise DataError(f"a {type(graph).__name__} has no node ids; give a Graph (Graph.of makes one)")
    if ids.kind == "object":
        raise DataError(
            f"the node ids are objects such as {ids[0]!r}, which no file can name; use integers or strings for ids"
        )
    return ids


def rows_of(ids: NodeIds, values: Any, records: Records, first_row: int = 0) -> Rows:
    """Return the row of each value, -1 if no node has this id.

    Values are read as the ids are: where those are strings, 1 means ``"1"``;
    where they are integers, ``"1"`` means 1, and what is no integer is refused.
    """
    is_integer = pa.types.is_integer(values.type)
    if ids.kind == "str":
        return ids.rows(values.cast(pa.string()) if is_integer else values)
    if not is_integer:
        integer = pc.match_substring_regex(values, r"^-?[0-9]{1,18}$")
        if not pc.all(integer, min_count=0).as_py():
            at = pc.index(integer, False).as_py()
            raise DataError(
                f"{records.path}, {records.place(first_row + at)}: the id {values[at].as_py()!r} is no integer, "
                f"but those of the graph are{f', such as {ids[0]}' if len(ids) else ''}"
            )
        values = values.cast(pa.int64())
    return ids.rows(values)


def warn_of_strangers(path: Path, rows: Rows, values: Any, what: str, stacklevel: int) -> None:
    """Warn of records that belong to no node; refuse a file in which all do."""
    strangers = np.flatnonzero(rows < 0)
    if not len(strangers):
        return
    first = values[int(strangers[0])].as_py()
    if len(strangers) == len(rows):
        raise DataError(
            f"{path}: no record has the id of a node of the graph (the first has {first!r}); "
            "is it the right file, and the right id column?"
        )
    warnings.warn(
        f"{path}: {len(strangers):,} of {len(rows):,} {what} belong to no node of the graph "
        f"(the first has the id {first!r}) and are ignored",
        PlanetoidWarning,
        stacklevel=stacklevel,
    )


def refuse_twice(records: Records, rows: Rows, values: Any, first_row: int = 0) -> None:
    """Refuse a second record for the same row; -1 may repeat."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    again = np.flatnonzero((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)) + 1
    if not len(again):
        return
    second = int(order[again].min())
    first = int(np.flatnonzero(rows == rows[second])[0])
    where = [records.place(first_row + at) for at in (second, first)]
    raise DataError(
        f"{records.path}, {where[0]}: the id {values[second].as_py()!r} was there before, in {where[1]}; "
        "every node has one record"
    )
