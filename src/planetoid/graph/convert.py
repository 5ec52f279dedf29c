"""From graphs and tables of other libraries to ours, and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.graph.build import PolicyOptions
from planetoid.ids import IdsLike, NodeIds
from planetoid.io.column_roles import choose_edge_columns, is_weight
from planetoid.io.edgelist import EdgeList
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    from typing import TypeAlias

    import networkx
    import pandas as pd
    import scipy.sparse

    from planetoid.graph.core import Graph
    from planetoid.io.memory import ArrowStream

__all__ = [
    "GraphLike",
    "GraphOptions",
    "encode_edges",
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "from_scipy",
    "graph_of",
    "to_networkx",
]

ACCEPTED = (
    "a Graph, a path, a scipy sparse matrix, a networkx graph, a table of edges, PyG Data, "
    "a (source, target[, weight]) tuple, a list of edges, a square array or a {node: neighbours} dictionary"
)


class SparseMatrix(Protocol):
    """A scipy sparse matrix or array."""

    @property
    def ndim(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def tocoo(self) -> scipy.sparse.coo_array: ...


class NetworkxGraph(Protocol):
    """A networkx graph, or one with the same interface."""

    @property
    def nodes(self) -> Iterable[Hashable]: ...
    @property
    def edges(self) -> networkx.classes.reportviews.EdgeView: ...
    @property
    def adj(self) -> object: ...
    def is_directed(self) -> bool: ...


class EdgeIndexData(Protocol):
    """PyTorch Geometric ``Data``."""

    @property
    def edge_index(self) -> npt.ArrayLike: ...
    @property
    def num_nodes(self) -> int | None: ...


GraphLike: TypeAlias = (
    "Graph | str | PathLike[str] | SparseMatrix | NetworkxGraph | EdgeIndexData | pd.DataFrame | ArrowStream | "
    "npt.ArrayLike | tuple[Sequence[Hashable], ...] | Sequence[tuple[Hashable, ...]] | "
    "Mapping[Hashable, Iterable[Hashable]]"
)


class GraphOptions(PolicyOptions, total=False):
    """Keyword arguments of ``Graph.of``: the edge policy, and those of the constructor that is used."""

    nodes: IdsLike | None
    source: str | int | None
    target: str | int | None
    weight: str | int | None
    header: bool | None
    separator: str | None


def graph_of(cls: type[Graph], source: GraphLike, options: dict[str, Any]) -> Graph:
    """Recognise what ``source`` is and build from it."""
    if isinstance(source, cls):
        if options:
            raise DataError("the source is a Graph already", hint="build it from its edges to change its policy")
        return source
    if isinstance(source, (str, PathLike)):
        return cls.from_file(source, **options)
    if isinstance(source, Mapping):
        return _from_mapping(cls, source, options)
    if isinstance(source, np.ndarray):
        return _from_array(cls, source, options)
    library = type(source).__module__.split(".")[0]
    if library == "scipy" and hasattr(source, "tocoo"):
        return cls.from_scipy(cast("SparseMatrix", source), **options)
    if all(hasattr(source, name) for name in ("edges", "nodes", "adj", "is_directed")):
        return cls.from_networkx(cast("NetworkxGraph", source), **options)
    if hasattr(source, "edge_index"):
        return cls.from_pyg(cast("EdgeIndexData", source), **options)
    if library == "pandas":
        return cls.from_pandas(cast("pd.DataFrame", source), **options)
    if hasattr(source, "__arrow_c_stream__"):  # Polars, Arrow and others
        return cls.from_file(cast("ArrowStream", source), **options)
    if isinstance(source, Sequence) and len(source):
        return _from_sequence(cls, source, options)
    raise DataError(f"a {type(source).__name__} is not a graph", hint=f"pass {ACCEPTED}")


def encode_edges(
    source: Iterable[Hashable],
    target: Iterable[Hashable],
    weight: Iterable[float] | None,
    nodes: IdsLike | None,
) -> tuple[NodeIds, EdgeList]:
    """Turn ids into row numbers."""
    source, target = _as_ids(source), _as_ids(target)
    if len(source) != len(target):
        raise DataError(f"{len(source):,} sources but {len(target):,} targets")
    weights = None if weight is None else np.asarray(weight)
    if weights is not None and len(weights) != len(source):
        raise DataError(f"{len(weights):,} weights for {len(source):,} edges")
    if nodes is not None:
        ids = NodeIds(nodes)
        return ids, EdgeList(ids.known_rows(source), ids.known_rows(target), weights)
    ids, rows = _number(source, target)
    return ids, EdgeList(rows[: len(source)], rows[len(source) :], weights)


def from_scipy(cls: type[Graph], matrix: SparseMatrix, nodes: IdsLike | None, policy: PolicyOptions) -> Graph:
    """See ``Graph.from_scipy``."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"an adjacency matrix must be square, got {' x '.join(map(str, matrix.shape))}")
    ids = NodeIds(matrix.shape[0] if nodes is None else nodes)
    if len(ids) != matrix.shape[0]:
        raise DataError(f"{len(ids):,} node ids for a matrix of {matrix.shape[0]:,} rows")
    check_sparse_format(matrix)
    coo = matrix.tocoo()
    weight = None if coo.dtype == bool or (coo.data == 1).all() else coo.data
    if weight is not None and not np.isrealobj(weight):
        raise DataError("an adjacency matrix must be real, got complex numbers")
    return cls.from_rows(EdgeList(coo.row, coo.col, weight), ids, **policy)


def from_networkx(cls: type[Graph], graph: NetworkxGraph, weight: str | None, policy: PolicyOptions) -> Graph:
    """See ``Graph.from_networkx``."""
    ids = NodeIds(list(graph.nodes))
    edges = list(graph.edges(data=True))
    values: npt.NDArray[np.float64] | None = None
    if weight is not None and any(weight in data for *_, data in edges):
        values = np.array([data.get(weight, 1.0) for *_, data in edges], dtype=np.float64)
    source = ids.known_rows([edge[0] for edge in edges])
    target = ids.known_rows([edge[1] for edge in edges])
    options: PolicyOptions = {"directed": bool(graph.is_directed()), **policy}
    return cls.from_rows(EdgeList(source, target, values), ids, **options)


def from_pandas(
    cls: type[Graph],
    frame: pd.DataFrame,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | None,
    nodes: IdsLike | None,
    policy: PolicyOptions,
) -> Graph:
    """See ``Graph.from_pandas``."""
    names = [str(name) for name in frame.columns]
    columns = choose_edge_columns(names, source, target, weight)
    weights = None
    if columns.weight is not None:
        weights = frame.iloc[:, columns.weight]
        if weights.dtype.kind not in "fiub":
            if weight is not None or is_weight(names[columns.weight]):
                raise DataError(f"the weights must be numbers, not {weights.dtype}", column=names[columns.weight])
            weights = None
    ends = frame.iloc[:, columns.source], frame.iloc[:, columns.target]
    for number, end in zip((columns.source, columns.target), ends, strict=True):
        missing = np.flatnonzero(end.isna())
        if len(missing):
            raise DataError("the id is missing", row=int(missing[0]), column=names[number])
    values = None if weights is None else weights.to_numpy(dtype=np.float64)
    return cls.from_edges(*ends, values, nodes=nodes, **policy)


def from_pyg(cls: type[Graph], data: EdgeIndexData, policy: PolicyOptions) -> Graph:
    """See ``Graph.from_pyg``."""
    ends = np.asarray(data.edge_index)
    weight = getattr(data, "edge_weight", None)
    if weight is None:
        attributes = getattr(data, "edge_attr", None)
        if attributes is not None and (attributes.ndim == 1 or attributes.shape[1] == 1):
            weight = attributes
    values = None if weight is None else np.asarray(weight).reshape(-1)
    if data.num_nodes is None:
        raise DataError("cannot infer the number of nodes", hint="set num_nodes of the data")
    n_nodes = int(data.num_nodes)
    if ends.size and (ends.min() < 0 or ends.max() >= n_nodes):
        wrong = int(ends.max() if ends.max() >= n_nodes else ends.min())
        raise DataError(f"edge_index must have nodes from 0 to {n_nodes - 1}, got {wrong}", node=wrong)
    return cls.from_rows(EdgeList(ends[0], ends[1], values), NodeIds(n_nodes), **policy)


def to_networkx(graph: Graph) -> networkx.Graph:
    """See ``Graph.to_networkx``."""
    import networkx as nx

    result: networkx.Graph = nx.DiGraph() if graph.directed else nx.Graph()
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


def _from_mapping(cls: type[Graph], source: Mapping[Hashable, Iterable[Hashable]], options: dict[str, Any]) -> Graph:
    heads = [node for node, neighbours in source.items() for _ in neighbours]
    tails = [other for neighbours in source.values() for other in neighbours]
    options = dict(options)
    nodes = options.pop("nodes", None)
    if nodes is None:
        nodes = list(dict.fromkeys([*source, *tails]))
    return cls.from_edges(heads, tails, nodes=nodes, **options)


def _from_array(cls: type[Graph], source: npt.NDArray[Any], options: dict[str, Any]) -> Graph:
    if source.ndim == 2 and source.shape[1] in (2, 3) and source.shape[0] != source.shape[1]:
        weight = source[:, 2] if source.shape[1] == 3 else None
        ends = source[:, :2]
        if ends.dtype.kind == "f" and (ends == np.floor(ends)).all():
            ends = ends.astype(np.int64)
        return cls.from_edges(ends[:, 0], ends[:, 1], weight, **options)
    if source.ndim == 2 and source.shape[0] == source.shape[1]:
        from scipy import sparse

        return cls.from_scipy(sparse.csr_array(source), **options)
    raise DataError(f"an array of shape {source.shape} is neither edges (n x 2 or n x 3) nor an adjacency (n x n)")


def _from_sequence(cls: type[Graph], source: Sequence[Any], options: dict[str, Any]) -> Graph:
    is_columns = isinstance(source, tuple) and len(source) in (2, 3) and all(_is_column(part) for part in source)
    if is_columns:
        return cls.from_edges(*source, **options)
    for number, edge in enumerate(source):
        if not isinstance(edge, (tuple, list)) or len(edge) not in (2, 3):
            raise DataError(f"edge {number} must be (source, target) or (source, target, weight), got {edge!r}")
    weighted = any(len(edge) == 3 for edge in source)
    weight = [edge[2] if len(edge) == 3 else 1.0 for edge in source] if weighted else None
    return cls.from_edges([edge[0] for edge in source], [edge[1] for edge in source], weight, **options)


def _is_column(part: object) -> bool:
    return not isinstance(part, (str, bytes)) and hasattr(part, "__len__") and hasattr(part, "__getitem__")


def _as_ids(values: Iterable[Hashable]) -> npt.NDArray[np.integer] | list[Hashable]:
    """Return an integer array if it is one, else a list of plain Python objects."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(array, np.ndarray):
        return array if array.dtype.kind in "iu" else list(array.tolist())
    return [node.item() if isinstance(node, np.generic) else node for node in array]


def _number(
    source: npt.NDArray[np.integer] | list[Hashable], target: npt.NDArray[np.integer] | list[Hashable]
) -> tuple[NodeIds, npt.NDArray[np.integer]]:
    """Number the ids that occur: in natural order if all are integers or all are strings, else as they first occur."""
    if isinstance(source, np.ndarray) and isinstance(target, np.ndarray):
        ends = np.concatenate([source, target])
        if ends.dtype.kind in "iu":  # int64 and uint64 together would be floats
            distinct, rows = np.unique(ends, return_inverse=True)
            return NodeIds.distinct(distinct), rows
    seen: dict[Hashable, int] = {}
    numbers = (seen.setdefault(node, len(seen)) for column in (source, target) for node in _python(column))
    rows = np.fromiter(numbers, dtype=np.int64)
    ids = NodeIds.distinct(list(seen))
    if ids.kind == "object":
        return ids, rows
    from planetoid.io.node_order import sorted_ids

    ordered, position = sorted_ids(ids.to_arrow())
    return ordered, position[rows]


def _python(column: npt.NDArray[np.integer] | list[Hashable]) -> list[Hashable]:
    return column.tolist() if isinstance(column, np.ndarray) else column
