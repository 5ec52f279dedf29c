"""Algorithm 1 of the paper: sampling (i, c, gamma) from a graph and a few labels.

``ContextSampler`` checks and prepares what Algorithm 1 reads. The algorithm itself is compiled: what it draws is in
:mod:`planetoid.engine.draws`, and :func:`planetoid.engine.pair_lists.one_pair_per_walk` has its lines; only the nodes
of a walk are drawn last, because most of them are in no pair.
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine import pair_lists
from planetoid.engine.alias import alias_tables
from planetoid.engine.arrays import GraphArrays, LabelArrays, Node2Vec, NodeLabels, Pairs, Sampling, Starts, WalkBlock
from planetoid.engine.contexts import Contexts
from planetoid.engine.draws import pairs_in_walk
from planetoid.errors import DataError, ParameterError
from planetoid.graph import Graph

__all__ = ["Classes", "ContextSampler", "empty_pairs"]

Classes: TypeAlias = "npt.NDArray[np.integer] | sparse.csr_array"  # one of each node, or several


class ContextSampler:
    """Draws from p(i, c, gamma), Algorithm 1; nothing is stored but a batch.

    Parameters
    ----------
    graph : Graph
        The next node of a walk is drawn with probability a_ij / sum_j a_ij. A walk ends early at a node without
        outgoing edges.
    contexts : Contexts
        The parameters of Algorithm 1.
    labels : int array or csr_array, optional
        Class of each node, -1 where unknown; or, if nodes may have several, a boolean matrix with a column per class.
        Required if ``contexts.r2 < 1``. Two nodes are a positive pair if they share a label, drawn in proportion to how
        many they share; a negative one if they share none.
    seed : int, default 0

    Attributes
    ----------
    sampling : Sampling
        What the compiled code reads.
    pairs_per_walk : int
        Ordered pairs within the window of a walk that is not cut short.

    Notes
    -----
    A draw is a pure function of ``(seed, index)``. :meth:`draw` takes one pair from each walk, as printed.
    :meth:`draw_walks` takes every pair within the window of each walk, which has the same distribution (the pairs of a
    walk that was cut short get a larger weight) and is far cheaper; skip-gram training does the same in its compiled
    loop. The walks of ``n`` successive indices start once at each of the ``n`` nodes.

    Examples
    --------
    >>> import planetoid as pl
    >>> from planetoid.engine import Contexts, ContextSampler
    >>> path = pl.Graph.from_edges([0, 1], [1, 2])
    >>> pairs = ContextSampler(path, Contexts(q=3, d=2, r1=1.0)).draw(1000)
    >>> set(zip(pairs.i.tolist(), pairs.c.tolist())) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    True
    """

    def __init__(self, graph: Graph, contexts: Contexts, labels: Classes | None = None, *, seed: int = 0) -> None:
        contexts.check("ContextSampler")
        if graph.n_nodes == 0:
            raise DataError("the graph has no nodes")
        # No two nodes of a walk are further apart, so that a larger window only takes memory.
        contexts = contexts.replace(d=min(contexts.d, contexts.q))
        self.graph, self.contexts = graph, contexts
        n_labelled = 0 if labels is None else _n_labelled(labels)
        r2 = contexts.walk_share(n_labelled, graph.n_nodes)
        self.sampling = Sampling(
            seed=np.uint64(int(seed) % 2**64),
            n_nodes=graph.n_nodes,
            starts=self._starts(r2),
            graph=self._graph_arrays(),
            node2vec=self._node2vec(),
            labels=self._label_arrays(labels, r2),
            r1=float(contexts.r1),
            r2=r2,
            d=int(contexts.d),
            self_pairs=bool(contexts.self_pairs),
            directed=graph.directed,
        )
        self.pairs_per_walk = int(pairs_in_walk.py_func(contexts.q, contexts.d, contexts.self_pairs))

    def draw(self, size: int, first: int = 0) -> Pairs:
        """Return the draws of index ``first`` to ``first + size``, one pair per walk."""
        pairs = empty_pairs(size)
        pair_lists.one_pair_per_walk(self.sampling, first, WalkBlock.empty(self.contexts.q), pairs)
        return pairs._replace(weight=np.ones(size, np.float32))

    def draw_walks(self, n_walks: int, first: int = 0) -> Pairs:
        """Return every pair of the walks (or rows of label pairs) of index ``first`` to ``first + n_walks``.

        Each positive pair of a walk comes with (1 - r1) / r1 negative ones on average; a row of label pairs has as
        many draws as a walk.
        """
        most = int(np.ceil(self.pairs_per_walk / self.sampling.r1)) + self.pairs_per_walk
        pairs = empty_pairs(n_walks * most)
        used = pair_lists.all_pairs(self.sampling, first, first + n_walks, np.empty(self.contexts.q, np.int32), pairs)
        return pairs.first(used)

    def draw_batch(self, n_walks: int, first: int = 0) -> Pairs:
        """Return the pairs of some walks: one of each or all, as the contexts say."""
        return (self.draw if self.contexts.single_pairs else self.draw_walks)(n_walks, first)

    def busiest_share(self) -> float:
        """Return the share of walk positions that the most visited node has, roughly."""
        graph = self.graph
        if len(graph.indices) == 0:
            return 1.0 / graph.n_nodes
        arriving = np.bincount(graph.indices, weights=graph.weights, minlength=graph.n_nodes)
        return float(arriving.max() / arriving.sum())

    def _graph_arrays(self) -> GraphArrays:
        graph = self.graph
        accept, alias = np.empty(0, np.float32), np.empty(0, np.int32)
        if graph.weights is not None:
            accept, alias = alias_tables(graph.indptr, graph.weights)
        return GraphArrays(graph.indptr, graph.indices, accept, alias)

    def _node2vec(self) -> Node2Vec | None:
        p, q = self.contexts.node2vec_p, self.contexts.node2vec_q
        return None if p == q == 1 else Node2Vec(1.0 / p, 1.0 / q, max(1.0, 1.0 / p, 1.0 / q))

    def _starts(self, r2: float) -> Starts:
        """Let walks start at all nodes, or at those with neighbours where a node is no pair with itself."""
        n_nodes, everywhere = self.graph.n_nodes, np.empty(0, np.int64)
        if self.contexts.self_pairs or r2 == 0:
            return Starts(everywhere, n_nodes, _scattering_stride(n_nodes))
        connected = np.flatnonzero(np.diff(self.graph.indptr) > 0)
        if len(connected) == 0:
            raise DataError("the graph has no edges, so walks yield no pairs of two nodes")
        nodes = connected if len(connected) < n_nodes else everywhere
        return Starts(nodes, len(connected), _scattering_stride(len(connected)))

    def _label_arrays(self, labels: Classes | None, r2: float) -> LabelArrays | None:
        if r2 == 1.0:
            return None
        if labels is None:
            raise ParameterError(f"r2={r2} draws contexts from labels, but there are no labels", parameter="r2")
        if labels.shape[0] != self.graph.n_nodes:
            raise DataError(f"{labels.shape[0]:,} labels for {self.graph.n_nodes:,} nodes")
        by_node = None
        if isinstance(labels, sparse.csr_array):
            of_class = labels.tocsc()
            members, sizes = of_class.indices, np.diff(of_class.indptr)
            sizes = sizes[sizes > 0].astype(np.float64)
            by_node = NodeLabels(labels.indptr.astype(np.int64), labels.indices.astype(np.int64))
        else:
            codes = np.asarray(labels)
            members = np.flatnonzero(codes >= 0)
            members = members[np.argsort(codes[members], kind="stable")]
            sizes = np.unique(codes[members], return_counts=True)[1].astype(np.float64)
        same = sizes**2 if self.contexts.self_pairs else sizes * (sizes - 1)
        other = sizes * (len(members) - sizes)
        if same.sum() == 0:
            raise DataError(f"r2={r2}: no two labelled nodes have the same label, so there is no positive pair")
        if other.sum() == 0 and self.contexts.r1 < 1:
            raise DataError(f"r2={r2}, r1={self.contexts.r1}: all labels are the same, so there is no negative pair")
        class_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shares = _cumulative_shares(same), _cumulative_shares(other)
        return LabelArrays(*shares, class_start, members.astype(np.int64), by_node)


def _n_labelled(labels: Classes) -> int:
    known = np.diff(labels.indptr) > 0 if isinstance(labels, sparse.csr_array) else np.asarray(labels) >= 0
    return int(known.sum())


def empty_pairs(size: int) -> Pairs:
    """Return memory for so many pairs."""
    i, c = np.empty(size, np.int64), np.empty(size, np.int64)
    return Pairs(i, c, np.empty(size, np.int8), np.empty(size, np.float32))


def _cumulative_shares(mass: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total = mass.sum()
    return np.cumsum(mass) / total if total else np.ones_like(mass)


def _scattering_stride(n: int) -> int:
    """Return a step, coprime to n and near the golden section of it, that visits 0..n-1 in scattered order."""
    stride = max(1, round(n * 0.6180339887498949))
    while gcd(stride, n) != 1:
        stride += 1
    return stride
