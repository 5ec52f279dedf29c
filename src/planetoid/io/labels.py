"""``read_labels``: labels of nodes from a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.io.edgelist import column_number
from planetoid.io.encode import IdEncoder, integers_if_canonical
from planetoid.io.header import LABEL_NAMES
from planetoid.io.match import graph_ids, rows_of, warn_of_strangers
from planetoid.io.pandas_index import index_columns, warn_of_index
from planetoid.io.readers import find_id_column
from planetoid.io.table import Table, open_table

__all__ = ["read_labels"]


def read_labels(
    path: str | Path,
    graph: Any = None,
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
) -> Any:
    """Read the labels of nodes from a table of ids and labels.

    An empty label means that the node has none. Labels are integers if all of
    them are written as integers, else strings.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or other text table, plain or gzip, or a Parquet file.
    graph : Graph, optional
    id_column, label_column : str or int, optional
        By name or number; by default columns with the usual names (``id``,
        ``node``, ``node_id``; ``label``, ``class``, ``y``, ``category``), else
        the first and the only other one, but for the index of a pandas table.
    header, separator : optional
        As for ``Graph.from_file``; by default the first lines tell.

    Returns
    -------
    array or dict
        With a graph, an array of objects, one label a node in graph order and
        ``None`` where there is none, as ``fit`` takes it. Without, a dictionary
        ``{id: label}`` of the labelled ones.
    """
    ids = None if graph is None else graph_ids(graph)
    if header is None and (isinstance(id_column, str) or isinstance(label_column, str)):
        header = True
    table = open_table(Path(path), header, separator)
    try:
        columns = _choose_columns(table, id_column, label_column)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    parts: tuple[list[Any], list[Any]] = ([], [])
    for batch in table.batches(columns):
        table.check_ids(batch, columns[:1])
        for part, values in zip(parts, batch.texts, strict=True):
            part.append(values)
    nodes, labels = (pa.chunked_array(part).combine_chunks() for part in parts)
    _doubt_first_line(table, columns, labels)
    labels = _known_labels(table, columns[1], labels)
    if ids is None:
        _refuse_conflicts(table, IdEncoder().encode(nodes), nodes, labels)
        nodes = integers_if_canonical(nodes) if table.is_text else nodes
        return {n: label for n, label in zip(nodes.to_pylist(), labels.to_pylist(), strict=True) if label is not None}
    rows = rows_of(ids, nodes, table)
    warn_of_strangers(table.path, rows, nodes, "labels", stacklevel=3)
    _refuse_conflicts(table, rows, nodes, labels)
    result = np.full(len(ids), None, dtype=object)
    known = (rows >= 0) & np.asarray(labels.is_valid())
    result[rows[known]] = labels.filter(pa.array(known)).to_pylist()
    return result


def _choose_columns(table: Table, id_column: str | int | None, label_column: str | int | None) -> tuple[int, int]:
    node = find_id_column(table, id_column)
    asked = None if label_column is None else column_number(table.names, label_column)
    if asked == node:
        raise DataError(f"{table.column(node)} is both the id and the label; say which is which")
    others = [number for number in range(len(table.names)) if number != node]
    usual = [k for wanted in LABEL_NAMES for k in others if table.has_names and table.names[k].lower() == wanted]
    label = asked if asked is not None else usual[0] if usual else None
    index = [number for number in index_columns(table.names) if number != asked]
    rest = [number for number in range(len(table.names)) if number not in index]
    if id_column is None and node in index and len(rest) == 2 and label in (None, rest[1]):
        warn_of_index(table.path, table.names, index)  # beside a column for the id and one for the label
        return rest[0], rest[1]
    if label is not None:
        return node, label
    possible = [number for number in others if number not in index] or others
    if len(possible) != 1:
        raise DataError(f"which of the {len(possible)} other columns is the label? Say label_column=...")
    warn_of_index(table.path, table.names, [number for number in index if number not in (node, *possible)])
    return node, possible[0]


def _known_labels(table: Table, column: int, labels: Any) -> Any:
    """Make empty labels null, and integers of what is written as integers, or was turned to floats by a gap."""
    if pa.types.is_floating(labels.type):
        labels = pc.if_else(pc.is_nan(labels), None, labels)
        row = pc.index(pc.equal(pc.floor(labels), labels), False).as_py()
        if row >= 0:
            table.refuse(row, column, f"the label {labels[row].as_py()} is neither an integer nor a string")
        labels = labels.cast(pa.int64())
    if pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type):
        labels = pc.if_else(pc.equal(labels, ""), None, labels)
        if table.is_text:
            labels = integers_if_canonical(labels)
    elif not (pa.types.is_integer(labels.type) or pa.types.is_boolean(labels.type)):
        raise DataError(f"{table.path}: {table.column(column)} is {labels.type}; labels are integers or strings")
    if labels.null_count == len(labels):
        raise DataError(f"{table.path} has no label: every one of its {len(labels):,} records is empty there")
    return labels


def _doubt_first_line(table: Table, columns: tuple[int, int], labels: Any) -> None:
    """Warn if a first line that may be a header has a label of its own, while all others repeat."""
    if table.header_known:
        return
    counts = pc.value_counts(labels).field("counts").to_pylist()  # in the order of first occurrence
    if counts[0] == 1 and len(counts) > 2 and min(counts[1:]) > 1:
        cells = " and ".join(repr(table.cell(0, column)) for column in columns)
        warnings.warn(
            f"{table.path}, {table.place(0)}: {cells} were read as an id and its label; if the line is a header, "
            "pass header=True (header=False: it is none)",
            PlanetoidWarning,
            stacklevel=3,
        )


def _refuse_conflicts(table: Table, rows: Any, nodes: Any, labels: Any) -> None:
    """Refuse a node with two different labels; warn of the same one twice."""
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    ordered = rows[order]
    again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if not len(again):
        return
    codes = np.asarray(labels.dictionary_encode("encode").indices)
    differs = again[codes[order[again]] != codes[order[again - 1]]]
    if len(differs):
        first, second = (int(order[at]) for at in (differs[0] - 1, differs[0]))
        found = [repr(labels[at].as_py()) for at in (first, second)]
        raise DataError(
            f"{table.path}, {table.place(second)}: the id {nodes[second].as_py()!r} has the label {found[1]}, "
            f"but {found[0]} in {table.place(first)}; a node has one label"
        )
    warnings.warn(
        f"{table.path}: {len(again):,} labels repeat what an earlier record says", PlanetoidWarning, stacklevel=3
    )
