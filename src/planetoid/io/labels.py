"""``read_labels``: labels of nodes from a file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import Fix, PlanetoidWarning, warn
from planetoid.io.encode import IdEncoder
from planetoid.io.label_cells import LabelCells, open_labels
from planetoid.io.matching import graph_ids

if TYPE_CHECKING:
    from planetoid.ids import NodeIds
    from planetoid.io.formats import TableSource
    from planetoid.io.matching import HasIds

__all__ = ["read_labels"]

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
    read = open_labels(path, id_column, label_column, header, separator, query)
    _question_first_line(read)
    _question_separator(read)
    labels = read.labels(unlabelled)
    if ids is None:
        _check_conflicts(read, IdEncoder().encode(read.nodes), labels)
        found = zip(read.ids().to_pylist(), labels.to_pylist(), strict=True)
        return {node: label for node, label in found if label is not None}
    rows = read.rows(ids)
    _check_conflicts(read, rows, labels)
    result = np.full(len(ids), None, dtype=object)
    known = (rows >= 0) & np.asarray(labels.is_valid())
    result[rows[known]] = labels.filter(pa.array(known)).to_pylist()
    return result


def _question_first_line(read: LabelCells) -> None:
    """Warn if a first line that may be a header has a label of its own, while all others repeat."""
    table = read.table
    if table.header_is_certain:
        return
    counts = pc.value_counts(read.cells).field("counts").to_pylist()  # in the order of first occurrence
    if counts[0] == 1 and len(counts) > 2 and min(counts[1:]) > 1:
        node, label = (table.cell(0, column) for column in read.columns)
        warn(
            PlanetoidWarning(
                f"read as the label {label!r} of node {node!r}, but no other node has this label",
                path=table.path,
                line=table.line(0),
                fix=(Fix("header", True, "if the line is a header"), Fix("header", False, "if it is not")),
            )
        )


def _question_separator(read: LabelCells) -> None:
    """Warn if labels look like several in one cell: many have the same separator, and the parts recur."""
    if not read.are_text:
        return
    for separator in SEPARATORS:
        separated = pc.match_substring(read.cells, separator)
        share = pc.mean(separated).as_py() or 0.0
        if share < FEW_SEPARATED:
            continue
        cells = pc.unique(read.cells)
        parts = pc.unique(pc.utf8_trim_whitespace(pc.list_flatten(pc.split_pattern(cells, separator))))
        if len(parts) < len(cells):
            warn(
                PlanetoidWarning(
                    f"{share:.0%} of the labels contain {separator!r}: they are {len(cells):,} classes as they are, "
                    f"and {len(parts):,} if nodes may have several labels",
                    path=read.table.path,
                    column=read.table.column_name(read.columns.label),
                    fix=Fix("label_separator", separator, "to separate them"),
                )
            )
            return


def _check_conflicts(read: LabelCells, rows: npt.NDArray[np.integer], labels: pa.Array) -> None:
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
        error = read.table.error(
            f"conflicting labels: {labels[second].as_py()!r} here, {labels[first].as_py()!r} in "
            f"{read.table.position(first)}",
            second,
            ids=[read.nodes[second].as_py()],
        )
        if labels[first].is_valid and labels[second].is_valid:
            error.fixes = (Fix("multi_label", True, "if nodes may have several labels"),)
        raise error
    warn(PlanetoidWarning(f"{len(repeated):,} labels repeat an earlier record", path=read.table.path))
