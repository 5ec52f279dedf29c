"""Edges from a CSV, TSV or Parquet file, in pieces."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io.edgelist import EdgeList, choose_columns, is_weight
from planetoid.io.encode import IdEncoder
from planetoid.io.match import graph_ids, rows_of
from planetoid.io.table import Batch, Table, open_table

__all__ = ["read_edges"]


def read_edges(
    path: str | Path,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    nodes: Any = None,
) -> tuple[NodeIds, EdgeList]:
    """Read a table of edges.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or other text table, plain or gzip, or a Parquet file.
        Comments (``#``) may stand at the top of text.
    source, target, weight : str or int, optional
        Columns, by name or number. By default the columns with the usual
        names, else the first two, but for the index of a pandas table; the weight is a column called ``weight``, or
        the only other one if it has numbers.
    header : bool, optional
        Whether the first line names the columns; by default the first lines tell.
    separator : str, optional
        One character (a blank: any run of blanks and tabs); by default the
        first lines tell.
    nodes : ids, optional
        All nodes, in the order that rows shall have; an edge that mentions
        another is an error. By default the nodes are those that occur, sorted.

    Returns
    -------
    ids : NodeIds
        Integers if all ids are written as integers, else strings.
    edges : EdgeList
    """
    path = Path(path)
    if header is None and any(isinstance(asked, str) for asked in (source, target, weight)):
        header = True
    table = open_table(path, header, separator)
    try:
        first, second, third = choose_columns(table.names, source, target, weight, path)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if third is not None and not table.is_numeric(third) and weight is None and not is_weight(table.names[third]):
        third = None  # what kind of edge it is, perhaps
    reader = _EdgeReader(table, (first, second), third)
    return reader.over_nodes(graph_ids(NodeIds(nodes))) if nodes is not None else reader.over_all()


class _EdgeReader:
    """Reads the two ends, in few large steps, and the weights on the way."""

    def __init__(self, table: Table, ends: tuple[int, int], weight: int | None) -> None:
        self.table = table
        self.ends = ends
        self.weight = weight
        self.codes: tuple[list[Any], list[Any]] = ([], [])
        self.weights: list[npt.NDArray[np.float32]] = []

    def over_all(self) -> tuple[NodeIds, EdgeList]:
        """Number the ids that occur."""
        encoder = IdEncoder()
        for _, ends in self._steps(lambda: encoder.worthwhile):
            codes = encoder.encode(*ends)
            del ends
            for kept, part in zip(self.codes, np.split(codes, 2), strict=True):
                kept.append(part.copy())
            pa.default_memory_pool().release_unused()  # the hash table, which Arrow would keep for itself
        self._doubt_first_line()
        ids, place = encoder.sorted(text=self.table.is_text)
        pa.default_memory_pool().release_unused()
        return ids, self._edges(place)

    def over_nodes(self, ids: NodeIds) -> tuple[NodeIds, EdgeList]:
        """Find the ids among given ones."""
        for first_row, ends in self._steps(lambda: min(max(2**16, len(ids)), 2**20)):
            for codes, column, values in zip(self.codes, self.ends, ends, strict=True):
                rows = rows_of(ids, values, self.table, first_row)
                if rows.min() < 0:
                    at = int(np.argmax(rows < 0))
                    problem = f"{values[at].as_py()!r} is not among the nodes given"
                    self.table.refuse(first_row + at, column, problem)
                codes.append(rows.astype(np.int32))
        return ids, self._edges(None)

    def _steps(self, worthwhile: Callable[[], int]) -> Iterator[tuple[int, list[Any]]]:
        """Join batches until they have enough values; yield the first row and both columns."""
        waiting: list[Batch] = []
        for batch in self._batches():
            waiting.append(batch)
            if 2 * sum(len(one.texts[0]) for one in waiting) >= worthwhile():
                yield _taken(waiting)
        if waiting:
            yield _taken(waiting)

    def _batches(self) -> Iterator[Batch]:
        numbers = [] if self.weight is None else [self.weight]
        for batch in self.table.batches(self.ends, numbers):
            self.table.check_ids(batch, self.ends)
            if self.weight is not None:
                self._check_weights(batch)
                self.weights.append(batch.numbers[:, 0])
            yield batch

    def _check_weights(self, batch: Batch) -> None:
        negative = np.flatnonzero(batch.numbers[:, 0] < 0)
        if len(negative):
            at = int(negative[0])
            row = batch.first_row + at
            assert self.weight is not None
            problem = f"the weight {self.table.cell(row, self.weight)} is negative; a weight is zero or more"
            self.table.refuse(row, self.weight, problem, [ends[at].as_py() for ends in batch.texts])

    def _edges(self, place: npt.NDArray[np.int32] | None) -> EdgeList:
        weight = _joined(self.weights, np.float32) if self.weights else None
        source, target = (_joined(codes, np.int32, place) for codes in self.codes)
        return EdgeList(source, target, weight)

    def _doubt_first_line(self) -> None:
        """Warn if a first line that may be a header became an edge between two ids seen nowhere else."""
        if self.table.header_known or sum(map(len, self.codes[0])) < 2:
            return
        first = [int(codes[0][0]) for codes in self.codes]
        seen = [sum(int(np.count_nonzero(part == end)) for codes in self.codes for part in codes) for end in first]
        if seen == [1, 1]:
            cells = " and ".join(repr(self.table.cell(0, column)) for column in self.ends)
            warnings.warn(
                f"{self.table.path}, {self.table.place(0)}: {cells} were read as an edge, but occur nowhere else; "
                "if the line is a header, pass header=True (header=False: it is none)",
                PlanetoidWarning,
                stacklevel=5,
            )


def _taken(waiting: list[Batch]) -> tuple[int, list[Any]]:
    first_row = waiting[0].first_row
    ends = [pa.chunked_array([batch.texts[k] for batch in waiting]) for k in (0, 1)]
    waiting.clear()
    return first_row, ends


def _joined(parts: list[Any], kind: Any, place: npt.NDArray[np.int32] | None = None) -> npt.NDArray[Any]:
    """Join parts into one array, renumbered by ``place``, and free each as it goes."""
    whole = np.empty(sum(map(len, parts)), dtype=kind)
    at = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        whole[at : at + len(part)] = part if place is None else place[part]
        at += len(part)
    return whole
