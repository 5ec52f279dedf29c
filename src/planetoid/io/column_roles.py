"""Which column of a table is what: the ends and the weight of an edge, the id of a node, its label, its features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from planetoid.errors import DataError, Fix
from planetoid.io.pandas_index import index_columns, warn_about_index

if TYPE_CHECKING:
    from planetoid.io.table import Table

__all__ = [
    "END_NAMES",
    "ID_NAMES",
    "LABEL_NAMES",
    "EdgeColumns",
    "LabelColumns",
    "choose_edge_columns",
    "choose_label_columns",
    "column_number",
    "feature_columns",
    "find_id_column",
    "is_weight",
    "listed_names",
]

END_NAMES = (("source", "target"), ("src", "dst"), ("from", "to"), ("head", "tail"), ("u", "v"))
ID_NAMES = ("id", "node", "node_id", "nodeid")
LABEL_NAMES = ("label", "class", "y", "category", "labels", "target")
SHOWN_NAMES = 20  # in a message


class EdgeColumns(NamedTuple):
    """Numbers of the columns that hold the ends and, perhaps, the weight of an edge."""

    source: int
    target: int
    weight: int | None


class LabelColumns(NamedTuple):
    """Numbers of the columns that hold the id and the label of a node."""

    node: int
    label: int


def choose_edge_columns(
    names: Sequence[str],
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    path: Path | None = None,
) -> EdgeColumns:
    """Choose the columns that hold the ends and, perhaps, the weight of an edge.

    Columns that the caller does not name are found by the usual names, else they are the first free ones; the weight
    is a column called ``weight``, else the only one to the right of the ends. The index of a pandas table, with its
    row numbers, is left out if two other columns can be the ends, with a warning if it would have been used.

    >>> choose_edge_columns(["id", "src", "dst", "weight"])
    EdgeColumns(source=1, target=2, weight=3)
    >>> choose_edge_columns(["a", "b", "c"])
    EdgeColumns(source=0, target=1, weight=2)
    """
    requested = [
        None if column is None else column_number(names, column, parameter, path)
        for parameter, column in (("source", source), ("target", target), ("weight", weight))
    ]
    everything = range(len(names))
    index = [number for number in index_columns(names) if number not in requested]
    others = [number for number in everything if number not in index]
    possible_ends = [number for number in others if number not in requested and not is_weight(names[number])]
    with_index = _complete(names, requested, everything, path)
    if len(possible_ends) < requested[:2].count(None):  # the index holds ends
        return with_index
    chosen = _complete(names, requested, others, path)
    warn_about_index(path, names, [number for number in index if number in with_index])
    return chosen


def _complete(
    names: Sequence[str], requested: Sequence[int | None], columns: Sequence[int], path: Path | None
) -> EdgeColumns:
    """Choose among some columns what the caller did not name."""
    first, second, third = requested
    usual_first, usual_second = _usual_ends(names)
    if first is None and usual_first not in (second, third):
        first = usual_first
    if second is None and usual_second not in (first, third):
        second = usual_second
    free = [number for number in columns if number not in (first, second, third)]
    free.sort(key=lambda number: is_weight(names[number]))  # an end only if there is no other
    if len(free) < (first is None) + (second is None):
        raise DataError(f"edges need two columns, found {len(names)}: {', '.join(names)}", path=path)
    first = free.pop(0) if first is None else first
    second = free.pop(0) if second is None else second
    if third is None:
        named = [number for number in free if is_weight(names[number])]
        only = free[0] if len(free) == 1 and free[0] > max(first, second) else None  # to the left: a row number
        third = named[0] if named else only
    return EdgeColumns(first, second, third)


def _usual_ends(names: Sequence[str]) -> tuple[int | None, int | None]:
    lower = [name.lower() for name in names]
    for first, second in END_NAMES:
        if first in lower and second in lower:
            return lower.index(first), lower.index(second)
    return None, None


def is_weight(name: str) -> bool:
    """Return whether a column is the weight by its name."""
    return name.lower() == "weight"


def listed_names(names: Sequence[str], most: int = SHOWN_NAMES) -> str:
    """Return the names of columns for a message, the first ones if there are many.

    >>> listed_names(["id", "x", "y"], 2)
    'id, x, ... (3 in all)'
    """
    return ", ".join(names[:most]) + (f", ... ({len(names):,} in all)" if len(names) > most else "")


def column_number(names: Sequence[str], column: str | int, parameter: str, path: Path | None = None) -> int:
    """Return the number of a column that the caller chose, by name or number, through ``parameter``."""
    if isinstance(column, str):
        if list(names).count(column) > 1:
            raise DataError(
                f"several columns are called {column!r}",
                hint="choose one by its number, counted from 0",
                path=path,
                parameter=parameter,
            )
        if column in names:
            return list(names).index(column)
        raise DataError(
            f"there is no column {column!r}",
            hint=f"the columns are {listed_names(names)}",
            path=path,
            parameter=parameter,
        )
    if 0 <= column < len(names):
        return column
    raise DataError(
        f"there is no column {column}",
        hint=f"the table has {len(names)}, counted from 0",
        path=path,
        parameter=parameter,
    )


def find_id_column(table: Table, id_column: str | int | None) -> int:
    """Return the column of ids: the one chosen, one with a usual name, the index of a pandas table, else the first.

    Of several indices the last is the oldest: each time that pandas reads its own CSV and writes it again, a column of
    row numbers is added before it.
    """
    if id_column is not None:
        return column_number(table.names, id_column, "id_column", table.path)
    usual = [number for number, name in enumerate(table.names) if table.has_names and name.lower() in ID_NAMES]
    return usual[0] if usual else (index_columns(table.names) or [0])[-1]


def feature_columns(table: Table, node: int, ignore: Sequence[str | int] = ()) -> list[int]:
    """Return the columns of features: all but the ids, the ones to ignore, and the index of a pandas table."""
    ignored = [node, *(column_number(table.names, column, "ignore", table.path) for column in ignore)]
    others = [number for number in range(len(table.names)) if number not in ignored]
    index = [number for number in index_columns(table.names) if number in others]
    warn_about_index(table.path, table.names, index)
    return [number for number in others if number not in index]


def choose_label_columns(table: Table, id_column: str | int | None, label_column: str | int | None) -> LabelColumns:
    """Choose the columns that hold ids and labels; with usual names, else the first and the only other one."""
    node = find_id_column(table, id_column)
    requested = None if label_column is None else column_number(table.names, label_column, "label_column", table.path)
    if requested == node:
        raise DataError(
            "the column cannot hold both the ids and the labels",
            path=table.path,
            column=table.column_name(node),
            parameter="label_column",
            fix=Fix("id_column", purpose="to choose the column of ids"),
        )
    others = [number for number in range(len(table.names)) if number != node]
    usual = [k for wanted in LABEL_NAMES for k in others if table.has_names and table.names[k].lower() == wanted]
    label = requested if requested is not None else usual[0] if usual else None
    index = [number for number in index_columns(table.names) if number != requested]
    rest = [number for number in range(len(table.names)) if number not in index]
    if id_column is None and node in index and len(rest) == 2 and label in (None, rest[1]):
        warn_about_index(table.path, table.names, index)  # beside a column for the id and one for the label
        return LabelColumns(rest[0], rest[1])
    if label is not None:
        return LabelColumns(node, label)
    possible = [number for number in others if number not in index] or others
    if len(possible) != 1:
        raise DataError(
            f"cannot infer which of {len(possible)} columns holds the labels",
            path=table.path,
            hint=f"they are {listed_names([table.names[number] for number in possible])}" if table.has_names else None,
            fix=Fix("label_column", purpose="to choose it"),
        )
    warn_about_index(table.path, table.names, [number for number in index if number not in (node, *possible)])
    return LabelColumns(node, possible[0])
