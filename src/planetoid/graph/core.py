"""``Graph``: the graph that every method works on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.graph import convert
from planetoid.graph.build import Adjacency, BuildSummary, EdgePolicy, build_adjacency
from planetoid.ids import IdsLike, NodeIds
from planetoid.io.edgelist import EdgeList

if TYPE_CHECKING:
    import networkx
    import pandas as pd
    import scipy.sparse
    from typing_extensions import Unpack

    from planetoid.graph.build import PolicyOptions
    from planetoid.graph.convert import EdgeIndexData, GraphLike, GraphOptions, NetworkxGraph, SparseMatrix
    from planetoid.io.formats import TableSource

__all__ = ["Graph"]


class Graph:
    """An immutable graph in CSR form with node ids of any hashable kind.

    Use :meth:`of` or one of the ``from_*`` constructors. All of them follow one
    :class:`~planetoid.graph.EdgePolicy`, whose fields they take as keyword arguments: by default the graph is
    undirected, repeated edges are merged, self loops dropped, isolated nodes kept. ``graph.summary`` says in one line
    what was merged or dropped.

    Attributes
    ----------
    indptr, indices : arrays
        CSR of the adjacency, int32, or int64 for a graph that needs it. The indices of a row are sorted.
    weights : float32 array or None
        One weight per entry; ``None`` means that every edge has the weight 1.
    ids : NodeIds
        The node ids in row order.
    directed : bool
    summary : BuildSummary

    Examples
    --------
    >>> import planetoid as pl
    >>> g = pl.Graph.from_edges(["a", "a", "b"], ["b", "c", "a"])
    >>> g
    Graph(n_nodes=3, n_edges=2, undirected, unweighted)
    >>> print(g.summary)
    3 entries -> 2 undirected edges (1 opposite directions merged)
    >>> g.neighbors("a").tolist()
    ['b', 'c']
    """

    __slots__ = ("__weakref__", "_n_loops", "directed", "ids", "indices", "indptr", "summary", "weights")

    indptr: npt.NDArray[Any]  # int32, or int64 for a graph that needs it
    indices: npt.NDArray[Any]
    weights: npt.NDArray[np.float32] | None
    ids: NodeIds
    directed: bool
    summary: BuildSummary
    _n_loops: int

    def __init__(self, adjacency: Adjacency, ids: NodeIds) -> None:
        for name, value in (
            ("indptr", adjacency.indptr),
            ("indices", adjacency.indices),
            ("weights", adjacency.weights),
            ("ids", ids),
            ("directed", adjacency.summary.directed),
            ("summary", adjacency.summary),
            ("_n_loops", adjacency.n_loops),
        ):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Graph is immutable; build a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[type[Graph], tuple[Adjacency, NodeIds]]:
        adjacency = Adjacency(self.indptr, self.indices, self.weights, self._n_loops, self.summary)
        return Graph, (adjacency, NodeIds(self.ids.to_numpy() if len(self.ids) else 0))

    # ---- construction ---------------------------------------------------------

    @classmethod
    def of(cls, source: GraphLike, /, **options: Unpack[GraphOptions]) -> Graph:
        """Build a graph from any object that holds one.

        Accepts a ``Graph``, a path to a CSV, TSV or Parquet file, scipy sparse matrices, networkx graphs, pandas (or
        polars, Arrow) tables, PyTorch Geometric ``Data``, a ``(source, target[, weight])`` tuple of arrays, a list of
        edge tuples, a square adjacency array and a ``{node: [neighbours]}`` dictionary.

        Parameters
        ----------
        source : any of these
        **options
            Fields of :class:`~planetoid.graph.EdgePolicy`, and parameters of the ``from_*`` constructor that is used.
        """
        return convert.graph_of(cls, source, cast("dict[str, Any]", options))

    @classmethod
    def from_edges(
        cls,
        source: Iterable[Hashable],
        target: Iterable[Hashable],
        weight: Iterable[float] | None = None,
        *,
        nodes: IdsLike | None = None,
        **policy: Unpack[PolicyOptions],
    ) -> Graph:
        """Build a graph from the two ends of each edge.

        Parameters
        ----------
        source, target : sequences of ids
        weight : sequence of numbers, optional
        nodes : sequence of ids, or int, optional
            All nodes, in row order; a number ``n`` stands for ``0..n-1``. By default the nodes are those that occur:
            in natural order (``paper_9`` before ``paper_10``) if they are all integers or all strings, else in order
            of first occurrence.
        **policy
            Fields of :class:`~planetoid.graph.EdgePolicy`.
        """
        ids, edges = convert.encode_edges(source, target, weight, nodes)
        return cls.from_rows(edges, ids, **policy)

    @classmethod
    def from_rows(cls, edges: EdgeList, ids: NodeIds, **policy: Unpack[PolicyOptions]) -> Graph:
        """Build a graph from row numbers into ``ids``; empties ``edges``."""
        edge_policy = EdgePolicy(**policy)
        graph = cls(build_adjacency(edges, len(ids), edge_policy), ids)
        if edge_policy.isolated == "drop":
            connected = np.flatnonzero(graph.connected())
            dropped = graph.n_nodes - len(connected)
            if dropped:
                summary = replace(graph.summary, isolated_dropped=dropped)
                graph = graph._induced(connected, summary)
        return graph

    @classmethod
    def without_edges(cls, ids: NodeIds) -> Graph:
        """Build a graph of isolated nodes."""
        return cls.from_rows(EdgeList(np.empty(0, np.int64), np.empty(0, np.int64)), ids)

    @classmethod
    def from_scipy(
        cls, matrix: SparseMatrix, *, nodes: IdsLike | None = None, **policy: Unpack[PolicyOptions]
    ) -> Graph:
        """Build a graph from a square scipy sparse matrix (all ones: unweighted)."""
        return convert.from_scipy(cls, matrix, nodes, policy)

    @classmethod
    def from_networkx(
        cls, graph: NetworkxGraph, *, weight: str | None = "weight", **policy: Unpack[PolicyOptions]
    ) -> Graph:
        """Build a graph from networkx, in its order of nodes; ``weight`` names the edge attribute."""
        return convert.from_networkx(cls, graph, weight, policy)

    @classmethod
    def from_pandas(
        cls,
        frame: pd.DataFrame,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        nodes: IdsLike | None = None,
        **policy: Unpack[PolicyOptions],
    ) -> Graph:
        """Build a graph from a table of edges.

        Columns are chosen by name or number; by default they are ``source``/``target`` (or ``src``/``dst``,
        ``from``/``to``, ``head``/``tail``, ``u``/``v``), else the first two; a column called ``weight``, or the only
        other one to their right if it is numeric, is the weight.
        """
        return convert.from_pandas(cls, frame, source, target, weight, nodes, policy)

    @classmethod
    def from_pyg(cls, data: EdgeIndexData, **policy: Unpack[PolicyOptions]) -> Graph:
        """Build a graph from a PyTorch Geometric ``Data`` (``edge_index``, ``edge_weight``)."""
        return convert.from_pyg(cls, data, policy)

    @classmethod
    def from_file(
        cls,
        path: TableSource,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        header: bool | None = None,
        separator: str | None = None,
        nodes: IdsLike | None = None,
        **policy: Unpack[PolicyOptions],
    ) -> Graph:
        """Build a graph from a file or another table of edges.

        The file is read in batches. Ids from text are integers if every one is written as an integer, else strings
        (``007`` is a string); elsewhere they have a type.

        Parameters
        ----------
        path : str, path or table
            As in :func:`~planetoid.read_dataset`; text may begin with comments (``#``).
        source, target, weight : str or int, optional
            Columns, by name or by number from 0. By default those with the usual names (as in :meth:`from_pandas`),
            else the first two; a column called ``weight``, or the only other one if it is numeric, is the weight.
        header : bool, optional
            Whether the first line names the columns; detected by default.
        separator : str, optional
            One character, a space standing for any run of spaces and tabs; detected by default.
        nodes : sequence of ids, or int, optional
            As in :meth:`from_edges`; an edge with another node is an error. By default the nodes are those that occur,
            in natural order.
        **policy
            Fields of :class:`~planetoid.graph.EdgePolicy`.
        """
        from planetoid.io.edges import read_edges

        ids, edges = read_edges(
            path, source=source, target=target, weight=weight, header=header, separator=separator, nodes=nodes
        )
        return cls.from_rows(edges, ids, **policy)

    # ---- contents -------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Number of distinct edges; an undirected edge counts once."""
        nnz = len(self.indices)
        return nnz if self.directed else (nnz + self._n_loops) // 2

    @property
    def node_ids(self) -> npt.NDArray[Any]:
        """The ids in row order, as an array (int64 or object)."""
        return self.ids.to_numpy()

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """Number of (outgoing) neighbours of each node."""
        return np.diff(self.indptr).astype(np.int64)

    @property
    def strengths(self) -> npt.NDArray[np.float64]:
        """Sum of the (outgoing) weights of each node."""
        if self.weights is None:
            return self.degrees.astype(np.float64)
        return np.asarray(self.to_scipy().sum(axis=1, dtype=np.float64)).ravel()

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR and the ids together."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return int(self.indptr.nbytes + self.indices.nbytes + weights + self.ids.nbytes)

    def neighbors(self, node: Hashable) -> npt.NDArray[Any]:
        """Return the ids of a node's (outgoing) neighbours."""
        row = self.ids.row(node)
        return self.ids.at(self.indices[self.indptr[row] : self.indptr[row + 1]])

    def components(self) -> npt.NDArray[np.int32]:
        """Return the number of the (weakly) connected component of each node, counted from the largest."""
        from scipy.sparse.csgraph import connected_components

        _, labels = connected_components(self.to_scipy(), directed=self.directed, connection="weak")
        by_size = np.argsort(-np.bincount(labels, minlength=1), kind="stable")
        rank = np.empty(len(by_size), dtype=np.int32)
        rank[by_size] = np.arange(len(by_size), dtype=np.int32)
        return np.asarray(rank[labels] if len(labels) else labels, dtype=np.int32)

    def subgraph(self, nodes: Iterable[Hashable]) -> Graph:
        """Return the induced subgraph of some nodes, in this order."""
        return self._induced(self.ids.known_rows(nodes), None)

    def with_nodes(self, nodes: IdsLike) -> Graph:
        """Return the same edges over other nodes, in their order; every node of the graph must be among them."""
        ids = NodeIds(nodes)
        if ids == self.ids:
            return self
        position = ids.rows(self.node_ids)
        missing = np.flatnonzero(position < 0)
        if len(missing):
            raise DataError("a node of the graph is not among the given nodes", node=self.ids[int(missing[0])])
        source = np.repeat(position, np.diff(self.indptr))
        edges = EdgeList(source, position[self.indices], self.weights)
        adjacency = build_adjacency(edges, len(ids), EdgePolicy(directed=self.directed, self_loops="keep"))
        return Graph(replace(adjacency, summary=self.summary), ids)

    def connected(self) -> npt.NDArray[np.bool_]:
        """Return which nodes have an edge, in either direction."""
        connected = np.diff(self.indptr) > 0
        connected[self.indices] = True
        return connected

    def _induced(self, rows: npt.NDArray[np.integer], summary: BuildSummary | None) -> Graph:
        part = self.to_scipy()[rows][:, rows].tocsr()
        part.sort_indices()
        n_loops = int(np.count_nonzero(part.diagonal()))
        if summary is None:
            n_edges = part.nnz if self.directed else (part.nnz + n_loops) // 2
            summary = BuildSummary(entries=part.nnz, edges=n_edges, directed=self.directed)
        weights = None if self.weights is None else part.data
        index_type = self.indices.dtype
        adjacency = Adjacency(
            part.indptr.astype(index_type), part.indices.astype(index_type), weights, n_loops, summary
        )
        return Graph(adjacency, self.ids.take(rows))

    # ---- conversion -----------------------------------------------------------

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency as a float32 ``csr_array`` (index arrays shared, not copied)."""
        from scipy import sparse

        data = np.ones(len(self.indices), dtype=np.float32) if self.weights is None else self.weights
        return sparse.csr_array((data, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def to_networkx(self) -> networkx.Graph:
        """Return a networkx ``Graph`` or ``DiGraph`` with the same ids (and weights)."""
        return convert.to_networkx(self)

    def __eq__(self, other: object) -> bool:
        """Two graphs are equal if they have the same ids and edges, in any order."""
        if not isinstance(other, Graph):
            return NotImplemented
        mine = (self.n_nodes, self.n_edges, self.directed, self.weights is None)
        if mine != (other.n_nodes, other.n_edges, other.directed, other.weights is None):
            return False
        if self.ids != other.ids:
            if (self.ids.rows(other.node_ids) < 0).any():
                return False
            other = other.with_nodes(self.node_ids)
        same = np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)
        if self.weights is None or other.weights is None:
            return same
        return same and np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        direction = "directed" if self.directed else "undirected"
        weighted = "unweighted" if self.weights is None else "weighted"
        return f"Graph(n_nodes={self.n_nodes:,}, n_edges={self.n_edges:,}, {direction}, {weighted})"
