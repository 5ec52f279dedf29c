"""What is in a dataset: counts for programs, and a table of them for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset, Features

__all__ = ["DatasetCounts", "class_sizes", "count", "describe"]

MAX_CLASSES_SHOWN = 12
MIN_EDGES_FOR_HOMOPHILY = 20  # between labelled nodes


@dataclass(frozen=True)
class DatasetCounts:
    """Everything that can be counted in a dataset.

    Attributes
    ----------
    entries, duplicates, opposite, self_loops : int
        Rows of the edge list, and how many of them repeat an edge, repeat it in the opposite direction, or join a
        node to itself.
    isolated : int
        Nodes without an edge to another node.
    unreachable : int
        Nodes that have an edge but no path to a labelled node.
    classes : dict of str to int
        Labels per class.
    validation : int or None
    edge_homophily : float or None
        Share of the edges between labelled nodes whose ends have the same label, or share one; ``None`` if there are
        too few.
    """

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    entries: int
    duplicates: int
    opposite: int
    self_loops: int
    isolated: int
    components: int
    largest_component: int
    features: int
    nodes_with_features: int
    labels: int
    classes: dict[str, int]
    validation: int | None
    unreachable: int
    edge_homophily: float | None

    def as_dict(self) -> dict[str, object]:
        """Return the counts as plain data."""
        return asdict(self)


def count(data: Dataset) -> DatasetCounts:
    """Count everything in a dataset, its connected components too."""
    graph = data.graph
    component = graph.components()
    sizes = np.bincount(component) if graph.n_nodes else np.empty(0, dtype=np.int64)
    return DatasetCounts(
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        directed=graph.directed,
        weighted=graph.weights is not None,
        entries=graph.summary.entries,
        duplicates=graph.summary.duplicates,
        opposite=graph.summary.opposite,
        self_loops=graph.summary.self_loops,
        isolated=int((~graph.connected()).sum()),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        features=data.n_features,
        nodes_with_features=int(data.has_features.sum()),
        labels=len(data.labelled),
        classes=class_sizes(data),
        validation=None if data.validation is None else int((data.validation >= 0).sum()),
        unreachable=_unreachable(data, component),
        edge_homophily=_edge_homophily(data),
    )


def describe(data: Dataset, counts: DatasetCounts | None = None) -> list[tuple[str, str]]:
    """Return a table of what is in a dataset: the name and the text of each row.

    With ``counts``, it also has the connected components and the homophily, which take a walk through the graph.
    """
    rows = [("nodes", f"{data.n_nodes:,}{_isolated(data)}")]
    if _has_graph(data):
        weights = "weighted" if data.graph.weights is not None else "unweighted"
        rows.append(("edges", f"{data.graph.summary}, {weights}"))
        if counts is not None:
            largest = pluralize(counts.largest_component, "node")
            rows.append(("components", f"{counts.components:,}, the largest with {largest}"))
    if data.X is not None:
        without = data.n_nodes - int(data.has_features.sum())
        missing = f"; {pluralize(without, 'node')} without features" if without else ""
        rows.append(("features", f"{pluralize(data.n_features, 'column')}, {_density(data.X)}{missing}"))
    n_labels = len(data.labelled)
    if data.n_classes:
        nodes = pluralize(data.n_nodes, "node")
        several = (
            "" if data.Y is None else f", {data.class_prior.sum() if n_labels else 0:.2f} labels per labelled node"
        )
        rows.append(("labels", f"{n_labels:,} of {nodes} ({n_labels / max(1, data.n_nodes):.1%}){several}"))
        rows.append(("classes", _classes(class_sizes(data))))
    if data.validation is not None:
        rows.append(("validation", pluralize(int((data.validation >= 0).sum()), "label")))
    if counts is not None and counts.edge_homophily is not None:
        rows.append(("homophily", f"edge homophily {counts.edge_homophily:.2f} (edges between labelled nodes)"))
    if data.public is not None:
        sizes = [len(part) for part in (data.public.train, data.public.val, data.public.test)]
        rows.append(("split", "public: {:,} labelled, {:,} validation, {:,} test".format(*sizes)))
    rows += data.details()
    return rows if not data.origin else [*rows, ("origin", data.origin)]


def class_sizes(data: Dataset) -> dict[str, int]:
    """Return the number of labels of each class."""
    if data.Y is not None:
        sizes = np.bincount(data.Y[data.labelled].indices, minlength=data.n_classes)
        return dict(zip(data.class_names, sizes.tolist(), strict=True))
    sizes = np.bincount(data.y[data.y >= 0], minlength=data.n_classes)
    return dict(zip(data.class_names, sizes.tolist(), strict=True))


def _has_graph(data: Dataset) -> bool:
    return data.graph.n_edges > 0 or data.source("edges") is not None


def _isolated(data: Dataset) -> str:
    isolated = int((~data.graph.connected()).sum()) if _has_graph(data) else 0
    return f", {isolated:,} without an edge" if isolated else ""


def _unreachable(data: Dataset, component: npt.NDArray[np.int32]) -> int:
    """Count the nodes with an edge in components that have no label."""
    if data.graph.n_edges == 0 or not len(data.labelled):
        return 0
    has_label = np.zeros(int(component.max()) + 1, dtype=bool)
    has_label[component[data.labelled]] = True
    return int((~has_label[component] & data.graph.connected()).sum())


def _edge_homophily(data: Dataset) -> float | None:
    rows = data.labelled
    between = data.graph.to_scipy()[rows][:, rows].tocoo()
    if between.nnz < MIN_EDGES_FOR_HOMOPHILY:
        return None
    if data.Y is not None:
        ends = (data.Y[rows[side]].astype(np.float32) for side in (between.row, between.col))
        return float((next(ends).multiply(next(ends)).sum(axis=1) > 0).mean())
    return float((data.y[rows[between.row]] == data.y[rows[between.col]]).mean())


def _density(X: Features) -> str:
    filled = np.count_nonzero(X) if isinstance(X, np.ndarray) else X.nnz
    return f"{filled / max(1, X.shape[0] * X.shape[1]):.1%} nonzero"


def _classes(sizes: dict[str, int]) -> str:
    ordered = sorted(sizes.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {size:,}" for name, size in ordered[:MAX_CLASSES_SHOWN])
    labelled = sum(size > 0 for size in sizes.values())
    some = "" if labelled == len(sizes) else f", {labelled:,} with labels"
    return f"{len(sizes):,}{some}: {shown}" + (", ..." if len(ordered) > MAX_CLASSES_SHOWN else "")
