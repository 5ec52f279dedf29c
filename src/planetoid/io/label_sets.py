"""``read_label_sets``: several labels per node from a file, in several records or in one cell."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from planetoid.errors import DataError, ParameterError
from planetoid.io.label_cells import LabelCells, open_labels
from planetoid.io.matching import graph_ids

if TYPE_CHECKING:
    from planetoid.ids import NodeIds
    from planetoid.io.formats import TableSource
    from planetoid.io.matching import HasIds

__all__ = ["read_label_sets"]


@overload
def read_label_sets(
    path: TableSource,
    graph: None = None,
    *,
    label_separator: str | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> dict[Hashable, list[Hashable]]: ...


@overload
def read_label_sets(
    path: TableSource,
    graph: HasIds | NodeIds,
    *,
    label_separator: str | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> npt.NDArray[np.object_]: ...


def read_label_sets(
    path: TableSource,
    graph: HasIds | NodeIds | None = None,
    *,
    label_separator: str | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    query: str | None = None,
    unlabelled: Sequence[str] = (),
) -> npt.NDArray[np.object_] | dict[Hashable, list[Hashable]]:
    r"""Read the labels of nodes that may have several, from a table of ids and labels.

    A node may have several records; with ``label_separator``, a cell may hold several labels. Labels that are repeated
    count once, empty ones do not count.

    Parameters
    ----------
    path : str, Path, table or connection
        Any table that :func:`read_edges` reads.
    graph : Graph, optional
    label_separator : str, optional
        What separates the labels in a cell, such as ``";"``; blanks around them are removed.
    id_column, label_column, header, separator, query, unlabelled
        As in :func:`read_labels`.

    Returns
    -------
    array or dict
        With a graph, an array of objects, a list of labels per node in graph order and ``None`` for unlabelled nodes,
        as ``fit`` takes it. Without, a dictionary ``{id: list of labels}`` of the labelled ones.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = pathlib.Path(name) / "groups.csv"
    ...     _ = file.write_text("id,label\na,art; jazz\nb,art\nb,tea\n")
    ...     read_label_sets(file, label_separator=";")
    {'a': ['art', 'jazz'], 'b': ['art', 'tea']}
    """
    if label_separator == "":
        raise ParameterError("label_separator must not be empty", parameter="label_separator")
    ids = None if graph is None else graph_ids(graph)
    read = open_labels(path, id_column, label_column, header, separator, query)
    if label_separator is not None:
        read = _split(read, label_separator)
    labels = read.labels(unlabelled)
    if ids is None:
        found: dict[Hashable, list[Hashable]] = {}
        for node, label in zip(read.ids().to_pylist(), labels.to_pylist(), strict=True):
            if label is not None:
                _add(found.setdefault(node, []), label)
        return found
    result = np.full(len(ids), None, dtype=object)
    for row, label in zip(read.rows(ids).tolist(), labels.to_pylist(), strict=True):
        if row >= 0 and label is not None:
            result[row] = [] if result[row] is None else result[row]
            _add(result[row], label)
    return result


def _add(labels: list[Any], label: Hashable) -> None:
    if label not in labels:
        labels.append(label)


def _split(read: LabelCells, separator: str) -> LabelCells:
    """Return a record for each label in a cell."""
    if not read.are_text:
        raise DataError(
            f"the labels are not text, so that {separator!r} cannot separate them", parameter="label_separator"
        )
    lists = pc.split_pattern(read.cells, separator)
    nodes = read.nodes.take(pc.list_parent_indices(lists))
    return read._replace(nodes=nodes, cells=pc.utf8_trim_whitespace(pc.list_flatten(lists)))
