"""Algorithm 1 of the paper: sampling (i, c, gamma) from a graph and a few labels."""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.engine import draws as kernels
from planetoid.errors import DataError, ParameterError
from planetoid.graph import Graph

__all__ = ["ContextSampler", "Pairs"]


class Pairs(NamedTuple):
    """A batch of contexts: instance i, context c, gamma = +1 or -1, and a weight."""

    i: npt.NDArray[np.int64]
    c: npt.NDArray[np.int64]
    gamma: npt.NDArray[np.int8]
    weight: npt.NDArray[np.float32]


class ContextSampler:
    """Draws from p(i, c, gamma), Algorithm 1; nothing is stored but a batch.

    Parameters
    ----------
    graph : Graph
        The next node of a walk is drawn with probability a_ij / sum_j a_ij. A
        walk ends early at a node without outgoing edges.
    labels : int array, optional
        Class of each node, -1 where unknown; needed if ``r2 < 1``.
    r1 : float, default 5/6
        Probability of a positive pair (gamma = +1).
    r2 : float, default 1
        Probability that a pair comes from a walk, else from the labels.
    q : int, default 10
        Nodes in a walk.
    d : int, default 3
        Window: two nodes of a walk are a pair if |j - k| < d.
    self_pairs : bool, default True
        Whether j = k (and, among labels, a node with itself) counts as a pair,
        as the paper prints it.
    node2vec_p, node2vec_q : float, default 1
        node2vec's return and in-out parameters; 1 is the paper's walk.
    seed : int, default 0

    Notes
    -----
    A draw is a pure function of ``(seed, index)``. :meth:`draw` takes one pair
    from each walk, as printed. :meth:`draw_walks` takes every pair within the
    window of each walk, which has the same distribution (a walk cut short
    weighs its pairs up) and is far cheaper; skip-gram training does the same in
    its compiled loop. The walks of ``n`` successive indices start once at each
    of the ``n`` nodes.

    Examples
    --------
    >>> import planetoid as pl
    >>> from planetoid.engine import ContextSampler
    >>> path = pl.Graph.from_edges([0, 1], [1, 2])
    >>> pairs = ContextSampler(path, q=3, d=2, r1=1.0, self_pairs=False).draw(1000)
    >>> set(zip(pairs.i.tolist(), pairs.c.tolist())) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    True
    """

    def __init__(
        self,
        graph: Graph,
        labels: npt.NDArray[Any] | None = None,
        *,
        r1: float = 5 / 6,
        r2: float = 1.0,
        q: int = 10,
        d: int = 3,
        self_pairs: bool = True,
        node2vec_p: float = 1.0,
        node2vec_q: float = 1.0,
        seed: int = 0,
    ) -> None:
        check_context_parameters(r1, r2, q, d, self_pairs, node2vec_p, node2vec_q)
        self.graph, self.seed = graph, np.uint64(int(seed) % 2**64)
        self.r1, self.r2, self.q, self.d, self.self_pairs = float(r1), float(r2), int(q), int(d), bool(self_pairs)
        if graph.n_nodes == 0:
            raise DataError("the graph has no nodes to walk on")
        self.starts = self._start_nodes()
        self.stride = _scattering_stride(len(self.starts) or graph.n_nodes)
        accept, alias = np.empty(0, np.float32), np.empty(0, np.int32)
        if graph.weights is not None:
            accept, alias = kernels.alias_tables(graph.indptr, graph.weights)
        self.graph_arrays = (graph.indptr, graph.indices, accept, alias, 1.0 / node2vec_p, 1.0 / node2vec_q)
        self.label_arrays = self._label_arrays(labels)

    @property
    def pairs_per_walk(self) -> int:
        """Ordered pairs within the window of a walk that is not cut short."""
        return int(kernels.pairs_in_walk(self.q, self.d, self.self_pairs))

    def draw(self, size: int, first: int = 0) -> Pairs:
        """Return the draws of index ``first`` to ``first + size``, one pair a walk."""
        i, c = np.empty(size, np.int64), np.empty(size, np.int64)
        gamma = np.empty(size, np.int8)
        kernels.draw_single(
            self.seed, first, i, c, gamma, self.graph.n_nodes, self.starts, self.stride,
            self.graph_arrays, self.label_arrays, self.r1, self.r2, self.q, self.d, self.self_pairs,
        )  # fmt: skip
        return Pairs(i, c, gamma, np.ones(size, np.float32))

    def draw_walks(self, n_walks: int, first: int = 0) -> Pairs:
        """Return every pair of the walks (or label slots) of index ``first`` to ``first + n_walks``.

        Each positive pair of a walk comes with (1 - r1) / r1 negative ones on
        average; a slot of label pairs has as many draws as a walk.
        """
        slot = int(np.ceil(self.pairs_per_walk / self.r1)) + self.pairs_per_walk
        room = n_walks * slot
        i, c = np.empty(room, np.int64), np.empty(room, np.int64)
        gamma, weight = np.empty(room, np.int8), np.empty(room, np.float32)
        used = kernels.draw_all(
            self.seed, first, n_walks, i, c, gamma, weight, self.graph.n_nodes, self.starts, self.stride,
            self.graph_arrays, self.label_arrays, self.r1, self.r2, self.q, self.d, self.self_pairs,
        )  # fmt: skip
        return Pairs(i[:used], c[:used], gamma[:used], weight[:used])

    def busiest_share(self) -> float:
        """Return the share of walk positions that the most visited node has, roughly."""
        graph = self.graph
        if len(graph.indices) == 0:
            return 1.0 / graph.n_nodes
        arriving = np.bincount(graph.indices, weights=graph.weights, minlength=graph.n_nodes)
        return float(arriving.max() / arriving.sum())

    def _start_nodes(self) -> npt.NDArray[np.int64]:
        """Nodes that have a pair to give; empty for all of them."""
        if self.self_pairs or self.r2 == 0:
            return np.empty(0, np.int64)
        connected = np.flatnonzero(np.diff(self.graph.indptr) > 0)
        if len(connected) == 0:
            raise DataError("the graph has no edges, so no walk gives a pair of two nodes")
        return connected if len(connected) < self.graph.n_nodes else np.empty(0, np.int64)

    def _label_arrays(self, labels: npt.NDArray[Any] | None) -> tuple[npt.NDArray[Any], ...]:
        """Shares of the classes among pairs of equal and of different labels, and the members of each class."""
        if self.r2 == 1.0:
            nothing = np.empty(0, np.float64)
            return nothing, nothing, np.zeros(1, np.int64), np.empty(0, np.int64)
        if labels is None:
            raise ParameterError(f"r2={self.r2}: contexts are to be drawn from labels, but there are none")
        codes = np.asarray(labels)
        if len(codes) != self.graph.n_nodes:
            raise DataError(f"{len(codes):,} labels for {self.graph.n_nodes:,} nodes")
        members = np.flatnonzero(codes >= 0)
        members = members[np.argsort(codes[members], kind="stable")]
        sizes = np.unique(codes[members], return_counts=True)[1].astype(np.float64)
        equal = sizes**2 if self.self_pairs else sizes * (sizes - 1)
        different = sizes * (len(members) - sizes)
        if equal.sum() == 0:
            raise DataError(f"r2={self.r2}: no two labelled nodes have the same label, so there is no positive pair")
        if different.sum() == 0 and self.r1 < 1:
            raise DataError(f"r2={self.r2}, r1={self.r1}: all labels are the same, so there is no negative pair")
        class_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return _shares(equal), _shares(different), class_start, members.astype(np.int64)


def check_context_parameters(
    r1: float, r2: float, q: int, d: int, self_pairs: bool, node2vec_p: float = 1.0, node2vec_q: float = 1.0
) -> None:
    """Raise ``ParameterError`` for a value that Algorithm 1 cannot work with."""
    if not 0 < r1 <= 1:
        raise ParameterError(f"r1={r1!r}; the probability of a positive pair is in (0, 1]")
    if not 0 <= r2 <= 1:
        raise ParameterError(f"r2={r2!r}; the probability of a pair from the graph is in [0, 1]")
    if int(q) != q or q < 1 or (q < 2 and not self_pairs):
        raise ParameterError(f"q={q!r}; a walk has a whole number of nodes, two at least without self pairs")
    if int(d) != d or d < 1 or (d < 2 and not self_pairs):
        raise ParameterError(f"d={d!r}; pairs have |j - k| < d, so d is 2 at least, or 1 for self pairs alone")
    for name, value in (("node2vec_p", node2vec_p), ("node2vec_q", node2vec_q)):
        if not 0 < value < np.inf:
            raise ParameterError(f"{name}={value!r}; it is a positive number")


def _shares(mass: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total = mass.sum()
    return np.cumsum(mass) / total if total else np.ones_like(mass)


def _scattering_stride(n: int) -> int:
    """Return a step, coprime to n and near the golden section of it, that visits 0..n-1 in scattered order."""
    stride = max(1, round(n * 0.6180339887498949))
    while gcd(stride, n) != 1:
        stride += 1
    return stride
