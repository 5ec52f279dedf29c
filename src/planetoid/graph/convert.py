"""From other libraries' graphs and tables to ours, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.io.edgelist import EdgeList, choose_columns, is_weight

if TYPE_CHECKING:
    from planetoid.graph.core import Graph

__all__ = ["encode_edges", "from_networkx", "from_pandas", "from_pyg", "from_scipy", "graph_of", "to_networkx"]

UNDERSTOOD = (
    "a Graph, a path, a scipy sparse matrix, a networkx graph, a table of edges, PyG Data, "
    "a (source, target[, weight]) tuple, a list of edges, a square array or a {node: neighbours} dictionary"
)


def graph_of(cls: type[Graph], source: Any, policy: dict[str, Any]) -> Graph:
    """Recognise what ``source`` is and build from it."""
    if isinstance(source, cls):
        if policy:
            raise DataError("this is a Graph already; build it anew from its edges to change its policy")
        return source
    if isinstance(source, (str, Path)):
        return cls.from_file(source, **policy)
    if isinstance(source, Mapping):
        return _from_mapping(cls, source, policy)
    if isinstance(source, np.ndarray):
        return _from_array(cls, source, policy)
    root = type(source).__module__.split(".")[0]
    if root == "scipy" and hasattr(source, "tocoo"):
        return cls.from_scipy(source, **policy)
    if all(hasattr(source, name) for name in ("edges", "nodes", "adj", "is_directed")):  # networkx and its kin
        return cls.from_networkx(source, **policy)
    if hasattr(source, "edge_index"):
        return cls.from_pyg(source, **policy)
    if root == "pandas":
        return cls.from_pandas(source, **policy)
    if hasattr(source, "to_pandas"):  # polars and Arrow tables
        return cls.from_pandas(source.to_pandas(), **policy)
    if isinstance(source, Sequence) and len(source):
        return _from_sequence(cls, source, policy)
    raise DataError(f"a {type(source).__name__} is not a graph; give {UNDERSTOOD}")


def encode_edges(source: Any, target: Any, weight: Any, nodes: Any) -> tuple[NodeIds, EdgeList]:
    """Turn ids into row numbers."""
    source, target = _as_ids(source), _as_ids(target)
    if len(source) != len(target):
        raise DataError(f"{len(source):,} sources but {len(target):,} targets; an edge has one of each")
    weights = None if weight is None else np.asarray(weight)
    if weights is not None and len(weights) != len(source):
        raise DataError(f"{len(weights):,} weights for {len(source):,} edges; give one a piece")
    if nodes is not None:
        ids = NodeIds(nodes)
        return ids, EdgeList(ids.known_rows(source), ids.known_rows(target), weights)
    ids, rows = _number(source, target)
    return ids, EdgeList(rows[: len(source)], rows[len(source) :], weights)


def from_scipy(cls: type[Graph], matrix: Any, nodes: Any, policy: dict[str, Any]) -> Graph:
    """See ``Graph.from_scipy``."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"an adjacency matrix is square, this one is {' x '.join(map(str, matrix.shape))}")
    ids = NodeIds(matrix.shape[0] if nodes is None else nodes)
    if len(ids) != matrix.shape[0]:
        raise DataError(f"{len(ids):,} node ids for a matrix of {matrix.shape[0]:,} rows")
    coo = matrix.tocoo()
    weight = None if coo.dtype == bool or (coo.data == 1).all() else coo.data
    if weight is not None and not np.isrealobj(weight):
        raise DataError("an adjacency matrix has real entries, this one is complex")
    return cls.from_rows(EdgeList(coo.row, coo.col, weight), ids, **policy)


def from_networkx(cls: type[Graph], graph: Any, weight: str | None, policy: dict[str, Any]) -> Graph:
    """See ``Graph.from_networkx``."""
    policy = {"directed": bool(graph.is_directed()), **policy}
    ids = NodeIds(list(graph.nodes))
    edges = list(graph.edges(data=True))
    values: npt.NDArray[Any] | None = None
    if weight is not None and any(weight in data for *_, data in edges):
        values = np.array([data.get(weight, 1.0) for *_, data in edges], dtype=np.float64)
    source = ids.known_rows([edge[0] for edge in edges])
    target = ids.known_rows([edge[1] for edge in edges])
    return cls.from_rows(EdgeList(source, target, values), ids, **policy)


def from_pandas(
    cls: type[Graph],
    frame: Any,
    source: str | None,
    target: str | None,
    weight: str | None,
    nodes: Any,
    policy: dict[str, Any],
) -> Graph:
    """See ``Graph.from_pandas``."""
    names = [str(name) for name in frame.columns]
    first, second, third = choose_columns(names, source, target, weight)
    values = None if third is None else frame.iloc[:, third]
    if third is not None and values is not None and values.dtype.kind not in "fiub":
        if weight is not None or is_weight(names[third]):
            raise DataError(f"the weight column {names[third]!r} is {values.dtype}, not a number")
        values = None
    ends = frame.iloc[:, first], frame.iloc[:, second]
    for number, end in zip((first, second), ends, strict=True):
        missing = np.flatnonzero(end.isna())
        if len(missing):
            raise DataError(f"row {missing[0]} of the edges has no {names[number]!r}")
    return cls.from_edges(*ends, None if values is None else values.to_numpy(dtype=np.float64), nodes=nodes, **policy)


def from_pyg(cls: type[Graph], data: Any, policy: dict[str, Any]) -> Graph:
    """See ``Graph.from_pyg``."""
    ends = np.asarray(data.edge_index)
    weight = getattr(data, "edge_weight", None)
    if weight is None:
        attributes = getattr(data, "edge_attr", None)
        if attributes is not None and (attributes.ndim == 1 or attributes.shape[1] == 1):
            weight = attributes
    values = None if weight is None else np.asarray(weight).reshape(-1)
    n_nodes = int(data.num_nodes)
    if ends.size and (ends.min() < 0 or ends.max() >= n_nodes):
        wrong = int(ends.max() if ends.max() >= n_nodes else ends.min())
        raise DataError(f"edge_index has the node {wrong}, but the nodes are 0 to {n_nodes - 1}")
    return cls.from_rows(EdgeList(ends[0], ends[1], values), NodeIds(n_nodes), **policy)


def to_networkx(graph: Graph) -> Any:
    """See ``Graph.to_networkx``."""
    import networkx as nx

    result: Any = nx.DiGraph() if graph.directed else nx.Graph()
    names = graph.node_ids.tolist()
    result.add_nodes_from(names)
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    keep = slice(None) if graph.directed else source <= graph.indices
    ends = zip(source[keep].tolist(), graph.indices[keep].tolist(), strict=True)
    if graph.weights is None:
        result.add_edges_from((names[i], names[j]) for i, j in ends)
    else:
        weights = graph.weights[keep].tolist()
        result.add_weighted_edges_from((names[i], names[j], w) for (i, j), w in zip(ends, weights, strict=True))
    return result


def _from_mapping(cls: type[Graph], source: Mapping[Any, Any], policy: dict[str, Any]) -> Graph:
    heads = [node for node, neighbours in source.items() for _ in neighbours]
    tails = [other for neighbours in source.values() for other in neighbours]
    policy = dict(policy)
    nodes = policy.pop("nodes", None)
    if nodes is None:
        nodes = list(dict.fromkeys([*source, *tails]))
    return cls.from_edges(heads, tails, nodes=nodes, **policy)


def _from_array(cls: type[Graph], source: npt.NDArray[Any], policy: dict[str, Any]) -> Graph:
    if source.ndim == 2 and source.shape[1] in (2, 3) and source.shape[0] != source.shape[1]:
        weight = source[:, 2] if source.shape[1] == 3 else None
        ends = source[:, :2]
        if ends.dtype.kind == "f" and (ends == np.floor(ends)).all():
            ends = ends.astype(np.int64)
        return cls.from_edges(ends[:, 0], ends[:, 1], weight, **policy)
    if source.ndim == 2 and source.shape[0] == source.shape[1]:
        from scipy import sparse

        return cls.from_scipy(sparse.csr_array(source), **policy)
    raise DataError(f"an array of shape {source.shape} is neither edges (n x 2 or n x 3) nor an adjacency (n x n)")


def _from_sequence(cls: type[Graph], source: Sequence[Any], policy: dict[str, Any]) -> Graph:
    is_columns = isinstance(source, tuple) and len(source) in (2, 3) and all(_is_column(part) for part in source)
    if is_columns:
        return cls.from_edges(*source, **policy)
    for number, edge in enumerate(source):
        if not isinstance(edge, (tuple, list)) or len(edge) not in (2, 3):
            raise DataError(f"edge {number} is {edge!r}; an edge is (source, target) or (source, target, weight)")
    weighted = any(len(edge) == 3 for edge in source)
    weight = [edge[2] if len(edge) == 3 else 1.0 for edge in source] if weighted else None
    return cls.from_edges([edge[0] for edge in source], [edge[1] for edge in source], weight, **policy)


def _is_column(part: Any) -> bool:
    return not isinstance(part, (str, bytes)) and hasattr(part, "__len__") and hasattr(part, "__getitem__")


def _as_ids(values: Any) -> npt.NDArray[Any] | list[Any]:
    """Return an integer array if it is one, else a list of plain Python objects."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(array, np.ndarray):
        return array if array.dtype.kind in "iu" else array.tolist()
    listed = list(array)
    return [node.item() if isinstance(node, np.generic) else node for node in listed]


def _number(source: Any, target: Any) -> tuple[NodeIds, npt.NDArray[np.int64]]:
    """Number the ids that occur: sorted if all are integers or all are strings, else as they first occur."""
    if isinstance(source, np.ndarray) and isinstance(target, np.ndarray):
        ends = np.concatenate([source, target])
        if ends.dtype.kind in "iu":  # int64 and uint64 together would be floats
            distinct, rows = np.unique(ends, return_inverse=True)
            return NodeIds.distinct(distinct), rows
    seen: dict[Any, int] = {}
    found = (seen.setdefault(node, len(seen)) for column in (source, target) for node in _python(column))
    rows = np.fromiter(found, dtype=np.int64)
    ids = NodeIds.distinct(list(seen))
    if ids.kind == "object":
        return ids, rows
    order = ids.sorted_rows()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return ids.take(order), place[rows]


def _python(column: Any) -> list[Any]:
    return list(column.tolist() if isinstance(column, np.ndarray) else column)
