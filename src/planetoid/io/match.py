"""Which node a record of a file belongs to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds

__all__ = ["graph_ids", "rows_of", "warn_of_strangers"]

Rows = npt.NDArray[np.int64]


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


def rows_of(ids: NodeIds, values: Any, refuse: Callable[[int, str], NoReturn]) -> Rows:
    """Return the row of each value, -1 if no node has this id.

    Values are read as the ids are: where those are strings, 1 means ``"1"``;
    where they are integers, ``"1"`` means 1, and what is no integer is refused
    by ``refuse(number of the value, problem)``.
    """
    is_integer = pa.types.is_integer(values.type)
    if ids.kind == "str":
        return ids.rows(values.cast(pa.string()) if is_integer else values)
    if not is_integer:
        integer = pc.match_substring_regex(values, r"^-?[0-9]{1,18}$")
        if not pc.all(integer).as_py():
            at = pc.index(integer, False).as_py()
            refuse(at, f"the id {values[at].as_py()!r} is no integer, but those of the graph are, such as {ids[0]}")
        values = values.cast(pa.int64())
    return ids.rows(values)


def warn_of_strangers(path: Path, rows: Rows, values: Any, what: str) -> None:
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
        stacklevel=4,
    )
