"""What is in the data, as a table of facts, and what looks wrong with it, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.cli.console import counted

if TYPE_CHECKING:
    from planetoid.cli.inputs import Data

__all__ = ["counts", "doubts", "facts"]

SHOWN_CLASSES = 12
FEW_LABELS = 5  # of a class, below which a sentence says so
WIDE = 1000.0  # how many times the usual spread of a column is too much
ENOUGH_EDGES = 20  # between labelled nodes, to say how often both ends are of one class


def counts(data: Data) -> dict[str, Any]:
    """Return everything that can be counted, as plain data."""
    graph = data.graph
    codes, classes = data.coded
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    components = np.bincount(graph.components()) if graph.n_nodes else np.empty(0, dtype=np.int64)
    found: dict[str, Any] = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weights is not None,
        "entries": graph.summary.entries,
        "duplicates": graph.summary.duplicates,
        "opposite": graph.summary.opposite,
        "self_loops": graph.summary.self_loops,
        "isolated": int((~graph.connected()).sum()),
        "components": len(components),
        "largest_component": int(components.max(initial=0)),
        "features": 0 if data.X is None else int(data.X.shape[1]),
        "nodes_with_features": int(data.described.sum()),
        "labels": int((codes >= 0).sum()),
        "classes": {str(name): int(size) for name, size in zip(classes.tolist(), sizes, strict=True)},
        "unreachable": _unreachable(data),
        "same_class_edges": _homophily(data),
    }
    if data.validation is not None:
        found["validation"] = sum(label is not None for label in data.validation)
    return found


def facts(data: Data, found: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return a table of what is in the data: name and text of each row."""
    c = counts(data) if found is None else found
    rows = []
    isolated = f", {c['isolated']:,} without an edge" if c["isolated"] and data.sources.edges else ""
    rows.append(("nodes", f"{c['nodes']:,}{isolated}"))
    if data.sources.edges is not None:
        weights = "weighted" if c["weighted"] else "unweighted"
        rows.append(("edges", f"{data.graph.summary}, {weights}"))
        rows.append(("components", f"{c['components']:,}, the largest with {_nodes(c['largest_component'])}"))
    if data.X is not None:
        bare = c["nodes"] - c["nodes_with_features"]
        missing = f"; {_nodes(bare)} without any" if bare else ""
        rows.append(("features", f"{counted(c['features'], 'column')}, {_density(data.X)}{missing}"))
    if data.labels is not None:
        rows.append(("labels", f"{c['labels']:,} of {_nodes(c['nodes'])} ({c['labels'] / c['nodes']:.1%})"))
        rows.append(("classes", _classes(c["classes"])))
    if "validation" in c:
        rows.append(("validation", counted(c["validation"], "label")))
    if c["same_class_edges"] is not None:
        rows.append(("alike", f"{c['same_class_edges']:.0%} of the edges between labelled nodes join one class"))
    return rows


def doubts(data: Data, found: dict[str, Any]) -> list[str]:
    """Return sentences about what may make results worse than they could be."""
    sentences = []
    alone = found["isolated"] - data.n_without_edges  # a warning has told of the others
    if data.sources.edges is not None and alone > 0:
        who = "it" if alone == 1 else "them"
        sentences.append(f"{_have(alone)} no edge to another: the graph says nothing about {who}.")
    if found["unreachable"]:
        sentences.append(
            f"{_nodes(found['unreachable'])} cannot be reached from any label: methods without features can only "
            "guess there."
        )
    bare = found["nodes"] - found["nodes_with_features"]
    if data.X is not None and bare:
        sentences.append(f"{_have(bare)} no feature other than zero: feat, tsvm and planetoid-i can only guess there.")
    few = [name for name, size in found["classes"].items() if size < FEW_LABELS]
    if few:
        shown = ", ".join(f"{name!r} ({found['classes'][name]})" for name in few[:5])
        more = f" and {len(few) - 5:,} more" if len(few) > 5 else ""
        sentences.append(f"Few labels, less than {FEW_LABELS}, of {shown}{more}: expect mistakes there.")
    alike = found["same_class_edges"]
    if alike is not None and alike < 1.5 * _chance(found["classes"]):
        sentences.append(
            f"Only {alike:.0%} of the edges between labelled nodes join one class, little more than by chance: "
            f"the graph may not help{'' if data.X is None else '; compare with feat'}."
        )
    return sentences + _about_columns(data)


def _unreachable(data: Data) -> int:
    """Count the nodes with an edge in components that have no label."""
    codes, _ = data.coded
    if data.graph.n_edges == 0 or data.labels is None:
        return 0
    component = data.graph.components()
    labelled = np.zeros(int(component.max()) + 1, dtype=bool)
    labelled[component[codes >= 0]] = True
    return int((~labelled[component] & data.graph.connected()).sum())


def _homophily(data: Data) -> float | None:
    """Return the share of edges between labelled nodes whose ends are of one class."""
    codes, _ = data.coded
    labelled = np.flatnonzero(codes >= 0)
    part = data.graph.to_scipy()[labelled][:, labelled].tocoo()
    if part.nnz < ENOUGH_EDGES:
        return None
    return float((codes[labelled[part.row]] == codes[labelled[part.col]]).mean())


def _chance(sizes: dict[str, int]) -> float:
    shares = np.array(list(sizes.values())) / max(1, sum(sizes.values()))
    return float((shares**2).sum())


def _about_columns(data: Data) -> list[str]:
    """Look for columns that say nothing, and for ones that drown the others."""
    from scipy import sparse

    if data.X is None:
        return []
    spread = _sparse_spread(data.X) if sparse.issparse(data.X) else data.X.std(axis=0, dtype=np.float64)
    sentences = _drowning(data, spread)
    empty = int((spread == 0).sum())
    if empty:
        what = counted(empty, "column of features has", "columns of features have")
        sentences.append(f"{what} the same value everywhere and could be left out.")
    return sentences


def _sparse_spread(X: Any) -> npt.NDArray[np.float64]:
    """Return how far the columns of a sparse matrix vary, for each entry that is stored.

    Over all rows a rare word would vary little and every common one would seem to drown it; over its own entries each
    column of ones varies alike.
    """
    n_rows, n_columns = X.shape
    values = X.data.astype(np.float64)
    stored = np.bincount(X.indices, minlength=n_columns)
    mean = np.bincount(X.indices, values, n_columns) / max(1, n_rows)
    squares = np.bincount(X.indices, (values - mean[X.indices]) ** 2, n_columns) + (n_rows - stored) * mean**2
    return np.asarray(np.sqrt(squares / np.maximum(stored, 1)))


def _drowning(data: Data, spread: npt.NDArray[np.float64]) -> list[str]:
    varying = spread[spread > 0]
    if not len(varying) or spread.max() <= WIDE * np.median(varying):
        return []
    at = int(spread.argmax())
    names = None if data.features is None else data.features.names
    column = f"column {at}" if names is None else f"column {str(names[at])!r}"
    return [
        f"The feature {column} varies {spread.max() / np.median(varying):,.0f} times as much as a usual one and will "
        "drown the others: scale the columns alike."
    ]


def _density(X: Any) -> str:
    from scipy import sparse

    filled = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return f"{filled / max(1, X.shape[0] * X.shape[1]):.1%} of the entries not zero"


def _classes(sizes: dict[str, int]) -> str:
    ordered = sorted(sizes.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} {size:,}" for name, size in ordered[:SHOWN_CLASSES])
    return f"{len(sizes):,}: {shown}" + (", ..." if len(ordered) > SHOWN_CLASSES else "")


def _nodes(count: int) -> str:
    return counted(count, "node")


def _have(count: int) -> str:
    return f"{_nodes(count)} {'has' if count == 1 else 'have'}"
