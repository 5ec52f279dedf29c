"""``read_labels``: labels of nodes from a file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, Fix, PlanetoidWarning, warn
from planetoid.io.column_roles import LabelColumns, choose_label_columns
from planetoid.io.encode import IdEncoder, int64_or_string, integers_if_canonical
from planetoid.io.formats import open_table
from planetoid.io.matching import graph_ids, handle_unknown, rows_of
from planetoid.io.table import TableOptions

if TYPE_CHECKING:
    from planetoid.ids import NodeIds
    from planetoid.io.formats import TableSource
    from planetoid.io.matching import HasIds
    from planetoid.io.table import Table

__all__ = ["LabelCells", "open_labels", "parse_labels", "read_labels"]

SEPARATORS, FEW_SEPARATED = (";", "|", ","), 0.1  # of several labels in a cell, and the share of cells with one


@overload
def read_labels(
    path: TableSource,
    graph: None = None,
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> dict[Hashable, Hashable]: ...


@overload
def read_labels(
    path: TableSource,
    graph: HasIds | NodeIds,
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> npt.NDArray[np.object_]: ...


def read_labels(
    path: TableSource,
    graph: HasIds | NodeIds | None = None,
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> npt.NDArray[np.object_] | dict[Hashable, Hashable]:
    """Read the labels of nodes from a table of ids and labels.

    An empty label means that the node is unlabelled. Labels are integers if all of them are written as integers, else
    strings.

    Parameters
    ----------
    path : str, Path, table or connection
        Any table that :func:`read_edges` reads; or ``.npy``, ``.npz`` or ``.mat`` with one label per node in order.
    graph : Graph, optional
    id_column, label_column : str or int, optional
        By name or number; by default columns with the usual names (``id``, ``node``, ``node_id``; ``label``,
        ``class``, ``y``, ``category``), else the first and the only other one, except for the index of a pandas table.
    header : bool, optional
        Whether the first line names the columns; detected by default.
    separator : str, optional
        One character (a space: any whitespace); detected by default.
    query : str, optional
        SQL query, or name of a table, of a database.
    unlabelled : sequence of str
        Labels that mean that the label is unknown, such as ``"NA"``.

    Returns
    -------
    array or dict
        With a graph, an array of objects, one label per node in graph order and ``None`` for unlabelled nodes, as
        ``fit`` takes it. Without, a dictionary ``{id: label}`` of the labelled ones.
    """
    ids = None if graph is None else graph_ids(graph)
    table, columns, nodes, cells = open_labels(path, id_column, label_column, header, separator, query)
    _question_first_line(table, columns, cells)
    _question_separator(table, columns, cells)
    labels = parse_labels(table, columns.label, cells, unlabelled)
    if ids is None:
        _check_conflicts(table, IdEncoder().encode(nodes), nodes, labels)
        nodes = integers_if_canonical(nodes) if table.is_text else int64_or_string(nodes)
        return {n: label for n, label in zip(nodes.to_pylist(), labels.to_pylist(), strict=True) if label is not None}
    rows = rows_of(ids, nodes, table)
    handle_unknown(table.path, rows, nodes, ids, "labels")
    _check_conflicts(table, rows, nodes, labels)
    result = np.full(len(ids), None, dtype=object)
    known = (rows >= 0) & np.asarray(labels.is_valid())
    result[rows[known]] = labels.filter(pa.array(known)).to_pylist()
    return result


class LabelCells(NamedTuple):
    """The ids and labels of a table as they are written, one record each."""

    table: Table
    columns: LabelColumns
    nodes: pa.Array
    cells: pa.Array


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


def parse_labels(table: Table, column: int, labels: pa.Array, unlabelled: Sequence[str]) -> pa.Array:
    """Return labels with null for unlabelled, and as integers if they are written so or a gap made them floats."""
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
    if pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type):
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


def _question_first_line(table: Table, columns: LabelColumns, labels: pa.Array) -> None:
    """Warn if a first line that may be a header has a label of its own, while all others repeat."""
    if table.header_is_certain:
        return
    counts = pc.value_counts(labels).field("counts").to_pylist()  # in the order of first occurrence
    if counts[0] == 1 and len(counts) > 2 and min(counts[1:]) > 1:
        node, label = (table.cell(0, column) for column in columns)
        warn(
            PlanetoidWarning(
                f"read as the label {label!r} of node {node!r}, but no other node has this label",
                path=table.path,
                line=table.line(0),
                fix=(Fix("header", True, "if the line is a header"), Fix("header", False, "if it is not")),
            )
        )


def _question_separator(table: Table, columns: LabelColumns, labels: pa.Array) -> None:
    """Warn if labels look like several in one cell: many have the same separator, and the parts recur."""
    if not (pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type)):
        return
    for separator in SEPARATORS:
        separated = pc.match_substring(labels, separator)
        share = pc.mean(separated).as_py() or 0.0
        if share < FEW_SEPARATED:
            continue
        cells = pc.unique(labels)
        parts = pc.unique(pc.utf8_trim_whitespace(pc.list_flatten(pc.split_pattern(cells, separator))))
        if len(parts) < len(cells):
            warn(
                PlanetoidWarning(
                    f"{share:.0%} of the labels contain {separator!r}: they are {len(cells):,} classes as they are, "
                    f"and {len(parts):,} if nodes may have several labels",
                    path=table.path,
                    column=table.column_name(columns.label),
                    fix=Fix("label_separator", separator, "to separate them"),
                )
            )
            return


def _check_conflicts(table: Table, rows: npt.NDArray[np.integer], nodes: pa.Array, labels: pa.Array) -> None:
    """Raise ``DataError`` for a node with two different labels; warn if one is repeated."""
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    ordered = rows[order]
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if not len(repeated):
        return
    codes = np.asarray(labels.dictionary_encode("encode").indices)
    differs = repeated[codes[order[repeated]] != codes[order[repeated - 1]]]
    if len(differs):
        first, second = int(order[differs[0] - 1]), int(order[differs[0]])
        error = table.error(
            f"conflicting labels: {labels[second].as_py()!r} here, {labels[first].as_py()!r} in "
            f"{table.position(first)}",
            second,
            ids=[nodes[second].as_py()],
        )
        if labels[first].is_valid and labels[second].is_valid:
            error.fixes = (Fix("multi_label", True, "if nodes may have several labels"),)
        raise error
    warn(PlanetoidWarning(f"{len(repeated):,} labels repeat an earlier record", path=table.path))
