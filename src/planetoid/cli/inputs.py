"""From files to a graph, features and labels over the same nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
    from planetoid.io.feature_table import FeatureBlocks, FeatureTable

__all__ = ["Data", "read_data", "read_features"]


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
    blocks = None if sources.features is None else read_features(sources, quiet=quiet)
    graph, n_without_edges = _read_graph(sources, blocks, quiet)
    table = None
    if blocks is not None:
        if not blocks.has_ids:
            _check_rows(sources, len(blocks.ids), graph)
        table = blocks.aligned(graph.ids).with_names_sorted().compact()
    labels, validation = (_read_labels(sources, role, graph, quiet) for role in ("labels", "validation"))
    if labels is not None and validation is not None:
        _refuse_overlap(sources, graph.ids, labels, validation)
    return Data(sources, graph, table, labels, validation, n_without_edges)


def _read_graph(sources: Sources, features: FeatureBlocks | None, quiet: bool) -> tuple[Graph, int]:
    """Return the graph over all nodes, and how many of them are in no edge of the file of edges."""
    from planetoid.cli.nodes import joined
    from planetoid.graph import Graph
    from planetoid.io.edgelist import EdgeList
    from planetoid.io.edges import read_edges
    from planetoid.io.node_order import sorted_ids

    described = None if features is None else features.ids.to_arrow()
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


def read_features(sources: Sources, *, quiet: bool) -> FeatureBlocks:
    """Read the features in file order."""
    from planetoid.io import read_feature_blocks

    assert sources.features is not None
    with working(f"reading {sources.features}", quiet=quiet):
        return read_feature_blocks(
            sources.features,
            id_column=sources.id_column_of("features"),
            ignore=sources.ignore or None,
            header=sources.has_header("features") if sources.is_table("features") else None,
            format=sources.features_format,
        )


def _check_rows(sources: Sources, n_rows: int, graph: Graph) -> None:
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
