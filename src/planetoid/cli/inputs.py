"""From files to a graph, features and labels over the same nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.cli.console import counted, working
from planetoid.errors import DataError

if TYPE_CHECKING:
    from planetoid.cli.sources import Sources
    from planetoid.datasets import Dataset
    from planetoid.graph import Graph
    from planetoid.ids import NodeIds
    from planetoid.io import FeatureTable

__all__ = ["Data", "read_data", "read_feature_file"]

SPARSE_BELOW = 0.1  # share of entries other than zero below which a table becomes a sparse matrix
BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Data:
    """What was read, over one list of nodes.

    Attributes
    ----------
    sources : Sources
    graph : Graph
        Over all nodes; without an edge if no file of edges was given.
    features : FeatureTable or None
        A row for each node, zero where the file has none; columns in the order of their names.
    labels, validation : object arrays or None
        One label a node, ``None`` where there is none.
    n_without_edges : int
        Nodes that have features and are in no edge, of which a warning has told.
    """

    sources: Sources
    graph: Graph
    features: FeatureTable | None
    labels: npt.NDArray[Any] | None
    validation: npt.NDArray[Any] | None
    n_without_edges: int = 0

    @property
    def ids(self) -> NodeIds:
        """The ids of the nodes, in row order."""
        return self.graph.ids

    @property
    def X(self) -> Any:  # noqa: N802
        """The features as a matrix, or ``None``."""
        return None if self.features is None else self.features.X

    @cached_property
    def described(self) -> npt.NDArray[np.bool_]:
        """Which nodes have a feature other than zero."""
        from scipy import sparse

        if self.X is None:
            return np.zeros(self.graph.n_nodes, dtype=bool)
        return np.asarray(np.diff(self.X.indptr) > 0 if sparse.issparse(self.X) else self.X.any(axis=1))

    @cached_property
    def coded(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """The labels as codes (-1: none), and the classes that they point to."""
        from planetoid.data.checks import encode_labels

        if self.labels is None:
            return np.full(self.graph.n_nodes, -1, dtype=np.int32), np.empty(0, dtype=object)
        return encode_labels(self.labels, self.ids)

    def dataset(self) -> Dataset:
        """Return the same as a ``Dataset``, which protocols draw splits from."""
        from planetoid.datasets import Dataset

        codes, classes = self.coded
        name = str(self.sources.edges or self.sources.features)
        return Dataset(name, self.graph, self.X, codes, tuple(map(str, classes.tolist())))


def read_data(sources: Sources, *, quiet: bool = False) -> Data:
    """Read all files: the nodes are those with an edge and those with features; labels find them by id."""
    table = None
    if sources.features is not None and sources.format_of_features() in ("npz", "svmlight"):
        table = _read_features(sources, None, quiet)  # whose ids are the row numbers
    graph, n_without_edges = _read_graph(sources, table, quiet)
    if table is not None:
        _check_rows(sources, table, graph)
    elif sources.features is not None:
        table = _read_features(sources, graph, quiet)
    labels, validation = (_read_labels(sources, role, graph, quiet) for role in ("labels", "validation"))
    if labels is not None and validation is not None:
        _refuse_overlap(sources, graph.ids, labels, validation)
    return Data(sources, graph, table, labels, validation, n_without_edges)


def _read_graph(sources: Sources, table: FeatureTable | None, quiet: bool) -> tuple[Graph, int]:
    """Return the graph over all nodes, and how many of them are in no edge of the file of edges."""
    from planetoid.cli.nodes import joined, sorted_ids
    from planetoid.graph import Graph
    from planetoid.io.edgelist import EdgeList
    from planetoid.io.edges import read_edges

    described = None if sources.features is None else _feature_ids(sources, table, quiet)
    if sources.edges is None:
        ids, _ = sorted_ids(described)
        return Graph.from_rows(EdgeList(np.empty(0, np.int64), np.empty(0, np.int64)), ids), 0
    with working(f"reading {sources.edges}", quiet=quiet):
        found, edges = read_edges(
            sources.edges,
            source=sources.source_column,
            target=sources.target_column,
            weight=sources.weight_column,
            header=sources.has_header("edges"),
        )
        everyone = found.to_arrow()
        if described is not None:
            assert sources.features is not None
            everyone = joined(found, described, sources.features)
        ids, place = sorted_ids(everyone)
        moved = EdgeList(place[edges.source], place[edges.target], edges.weight)
        del edges, place
        return Graph.from_rows(moved, ids, directed=sources.directed), len(ids) - len(found)


def _feature_ids(sources: Sources, table: FeatureTable | None, quiet: bool) -> Any:
    """Return the ids of the rows of features as an Arrow array; integers if they are written so in text."""
    if table is not None:
        return table.ids.to_arrow()
    import pyarrow as pa

    from planetoid.io.encode import integers_if_canonical
    from planetoid.io.features import iter_ids
    from planetoid.io.files import is_parquet

    assert sources.features is not None
    with working(f"reading {sources.features}", quiet=quiet):
        parts = iter_ids(
            sources.features,
            id_column=sources.id_column_of("features"),
            names=sources.wanted_features(),
            header=sources.has_header("features") if sources.is_table("features") else None,
            format=sources.features_format,
        )
        values = pa.chunked_array(list(parts)).combine_chunks()
    return values if is_parquet(sources.features) else integers_if_canonical(values)


def _read_features(sources: Sources, graph: Graph | None, quiet: bool) -> FeatureTable:
    assert sources.features is not None
    with working(f"reading {sources.features}", quiet=quiet):
        return _compact(_by_name(read_feature_file(sources, graph), sources.features))


def read_feature_file(sources: Sources, graph: Graph | None) -> FeatureTable:
    """Read the features as they stand in the file, in the order of a graph if there is one."""
    from planetoid.io import read_features

    assert sources.features is not None
    return read_features(
        sources.features,
        graph,
        id_column=sources.id_column_of("features"),
        names=sources.wanted_features(),
        header=sources.has_header("features") if sources.is_table("features") else None,
        format=sources.features_format,
    )


def _by_name(table: FeatureTable, path: Path) -> FeatureTable:
    """Put columns in the order of their names, so that their order in the file does not matter."""
    from dataclasses import replace

    if table.names is None:
        return table
    order = np.argsort(table.names.astype(str), kind="stable")
    names = table.names[order]
    again = np.flatnonzero(names[1:] == names[:-1])
    if len(again):
        raise DataError(f"{path} has two columns called {names[again[0]]!r}; rename one")
    if (order == np.arange(len(order))).all():
        return table
    X = table.X
    if isinstance(X, np.ndarray):
        for first in range(0, len(X), BLOCK_ROWS):  # in place: a table may fill half of the memory
            X[first : first + BLOCK_ROWS] = X[first : first + BLOCK_ROWS][:, order]
    else:
        X = X[:, order]
        X.sort_indices()
    return replace(table, X=X, names=names)


def _compact(table: FeatureTable) -> FeatureTable:
    """Keep a table that is almost all zeros as a sparse matrix."""
    from dataclasses import replace

    from scipy import sparse

    if not isinstance(table.X, np.ndarray) or np.count_nonzero(table.X) > SPARSE_BELOW * table.X.size:
        return table
    return replace(table, X=sparse.csr_array(table.X))


def _check_rows(sources: Sources, table: FeatureTable, graph: Graph) -> None:
    n_rows = table.X.shape[0]
    if graph.ids.kind != "range" or graph.n_nodes != n_rows:
        raise DataError(
            f"{sources.features} has no ids: its {n_rows:,} rows are the nodes 0 to {n_rows - 1:,}, "
            f"but {sources.edges} has others, such as {graph.ids[graph.n_nodes - 1]!r}"
        )


def _read_labels(sources: Sources, role: str, graph: Graph, quiet: bool) -> npt.NDArray[Any] | None:
    from planetoid.io import read_labels

    path = getattr(sources, role)
    if path is None:
        return None
    with working(f"reading {path}", quiet=quiet):
        labels: npt.NDArray[Any] = read_labels(
            path,
            graph,
            id_column=sources.id_column_of(role),
            label_column=sources.label_column,
            header=sources.has_header(role),
        )
    return labels


def _refuse_overlap(sources: Sources, ids: NodeIds, labels: npt.NDArray[Any], validation: npt.NDArray[Any]) -> None:
    known = np.array([label is not None for label in labels])
    both = np.flatnonzero(known & np.array([label is not None for label in validation]))
    if len(both):
        raise DataError(
            f"{counted(len(both), 'node is', 'nodes are')} in {sources.labels} and in {sources.validation}, "
            f"such as {ids[int(both[0])]!r}; "
            "a label is to learn from or to check against, not both"
        )
