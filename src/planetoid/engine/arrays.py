"""What the kernels are given: arrays and numbers under names, in tuples that numba compiles.

``Sampling`` is Algorithm 1 for one graph, one set of labels and one seed; ``Batch`` is the memory that the steps of
skip-gram training work in.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "Batch", "GraphArrays", "Integers", "LabelArrays", "LabelCentre", "Node2Vec", "NodeLabels", "Nodes", "Pairs",
    "RateSchedule", "Row", "Rules", "Sampling", "Signs", "Starts", "Table", "Tables", "Turned", "WalkBlock",
    "aligned_zeros",
]  # fmt: skip

Integers: TypeAlias = npt.NDArray[np.int64]
Nodes: TypeAlias = npt.NDArray[np.int32]
Signs: TypeAlias = npt.NDArray[np.int8]
Row: TypeAlias = npt.NDArray[np.float32]
Table: TypeAlias = npt.NDArray[np.float32]

LINE = 16  # floats in a line of the cache


def aligned_zeros(*shape: int) -> Table:
    """Return a table that starts with a line of the cache, so that its rows are in as few lines as possible."""
    size = int(np.prod(shape))
    memory = np.zeros(size + LINE, np.float32)
    first = -memory.ctypes.data % (4 * LINE) // 4
    return memory[first : first + size].reshape(shape)


class Pairs(NamedTuple):
    """Pairs of Algorithm 1: instance i, context c, gamma = +1 or -1, and a weight."""

    i: Integers
    c: Integers
    gamma: Signs
    weight: Row

    def first(self, count: int) -> Pairs:
        """Return the first pairs."""
        return Pairs(self.i[:count], self.c[:count], self.gamma[:count], self.weight[:count])


class WalkBlock(NamedTuple):
    """The memory of walks that go side by side."""

    paths: Nodes  # (walk, position)
    keys: npt.NDArray[np.uint64]  # (walk): of its random numbers
    last: Integers  # (walk): the last position that is needed
    moving: Integers  # the walks that are not there yet

    @classmethod
    def empty(cls, q: int, count: int = 32) -> WalkBlock:
        """Return memory for walks of ``q`` nodes; of 32, enough are on their way to hide each other's waiting."""
        return cls(np.empty((count, q), np.int32), np.empty(count, np.uint64), *np.empty((2, count), np.int64))


class GraphArrays(NamedTuple):
    """A graph as walks read it: CSR rows, and alias tables of the weights."""

    indptr: Nodes | Integers
    indices: Nodes | Integers
    accept: Row  # empty for a graph without weights
    alias: Nodes


class Node2Vec(NamedTuple):
    """The ratios of node2vec's steps: back to the previous node, away from its neighbours, and the largest."""

    back: float  # 1 / p
    outward: float  # 1 / q
    largest: float  # of these and 1, the ratio of a step to a neighbour of the previous node


class Starts(NamedTuple):
    """Where walks start: at each of ``count`` nodes once in ``count`` walks, ``stride`` apart."""

    nodes: Integers  # empty for all nodes
    count: int
    stride: int


class NodeLabels(NamedTuple):
    """The classes of each node, in order: those of node i are classes[start[i] : start[i + 1]]."""

    start: Integers
    classes: Integers


class LabelArrays(NamedTuple):
    """The labelled nodes class by class, and the cumulative shares of the classes in pairs."""

    same_class: npt.NDArray[np.float64]  # among pairs of nodes with the same label
    other_class: npt.NDArray[np.float64]  # among pairs of nodes with different labels
    class_start: Integers  # class k is members[class_start[k] : class_start[k + 1]]
    members: Integers
    by_node: NodeLabels | None = None  # only if nodes may have several labels; a node is then a member of each class


class LabelCentre(NamedTuple):
    """The first node of a label pair, and where the second one is: among ``count`` members, with a gap in between."""

    node: np.int64
    first: np.int64
    count: np.int64
    gap: np.int64  # members from this one on are ``width`` positions further
    width: np.int64


class Sampling(NamedTuple):
    """Everything that decides what Algorithm 1 draws."""

    seed: np.uint64
    n_nodes: int
    starts: Starts
    graph: GraphArrays
    node2vec: Node2Vec | None  # None for the walks of the paper; numba then leaves the code out
    labels: LabelArrays | None  # None if all draws are walks; numba then leaves the code out
    r1: float
    r2: float
    d: int
    self_pairs: bool
    directed: bool  # only then can a walk reach a dead end


class Rules(NamedTuple):
    """What a batch consists of."""

    n_shared: int  # negatives of a centre that a group of walks draws together; if any, there are no own ones
    n_own: int  # negatives that a centre draws for itself
    n_label: int  # contexts of the centre of label pairs
    group: int  # walks that share negatives
    full_walk: int  # pairs within the window of a walk that is not cut short
    label_row: float  # draws in a row of label pairs, times r1


class Tables(NamedTuple):
    """Embeddings e and context parameters w; rows before ``frozen`` are never changed."""

    e: Table
    w: Table
    frozen: int


class RateSchedule(NamedTuple):
    """Batches ``first`` to ``last`` of ``total``, over which the learning rate changes linearly."""

    first: int
    last: int
    total: int
    first_rate: float
    last_rate: float


class Batch(NamedTuple):
    """The memory of a batch. A slot is a walk or a row of label pairs; each of its positions is a centre."""

    is_walk: npt.NDArray[np.bool_]  # (slot)
    lengths: Integers  # (slot): positions in use
    n_pairs: npt.NDArray[np.float64]  # (slot): positive pairs of a walk; draws of label pairs, times r1
    paths: Nodes  # (slot, position): the centres: nodes of a walk, or first nodes of label pairs
    contexts: Nodes  # (slot, position, number): positive ones first, then shared negatives, then own ones
    n_positive: Integers  # (slot, position): how many contexts are positive
    coefficients: Table  # (slot, position, number): what the step adds, per context
    gradients: Table  # (slot, position, dimension): of each centre
    shared_negatives: Nodes  # (group of slots, position, number)
    rows: Nodes  # (thread, number): rows to be added up
    factors: Table  # (thread, number): and what each of them counts


class Turned(NamedTuple):
    """The coefficients of a group of slots by context instead of by centre; 0 where there is no pair."""

    around: Table  # (slot, position of the context, number among its own contexts)
    negatives: Table  # (position, number of the shared negative, slot)
    centres: Nodes  # (slot): rows of e at one position
