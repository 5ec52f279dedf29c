"""A context is a neighbourhood: the contexts of a node that walks with restart visit, as the input of a network.

Algorithm 1 draws contexts c of a node i by random walks, as targets. Here they are inputs: the network sees the mean of
the features of a few sampled contexts, ``sum_c weight_c x_c``. A walk starts at i and restarts (that is, ends) after
every step with probability ``restart``; each visit counts with the importance of the node visited, and the weights of
one sample add up to 1. :func:`expected_contexts` is the mean over all samples, by products with the sparse matrix.

A sample is a pure function of (seed, index). The memory of a batch depends on its size, but for one integer per node of
the graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.arrays import GraphArrays, Integers, Nodes, Row, Table, aligned_zeros
from planetoid.engine.compiling import exact
from planetoid.engine.draws import step
from planetoid.engine.filters import add_powers, column_blocks
from planetoid.engine.generator import NEIGHBOURHOODS, bits_at, key_of, unit

__all__ = ["Visits", "Walks", "draw_visits", "expected_contexts", "new_visits"]

ZERO = np.int64(0)


class Walks(NamedTuple):
    """How the contexts of a node are drawn."""

    seed: np.uint64
    graph: GraphArrays
    importance: Row  # (node): what a visit counts
    per_sample: int  # walks
    length: int  # steps of a walk at most
    log_continue: float  # log(1 - restart); -inf where no walk leaves its start


class Visits(NamedTuple):
    """The sampled contexts of the nodes of a batch; each distinct context has a slot."""

    first: Integers  # (node + 1): the visits of node b are first[b] to first[b + 1]
    slot: Nodes  # (visit)
    weight: Row  # (visit): those of one node add up to 1
    contexts: Nodes  # (slot): the distinct contexts
    slot_of: Nodes  # (node of the graph): its slot, or -1


def new_visits(n_nodes: int, batch_size: int, walks: Walks) -> Visits:
    """Return the memory for the visits of a batch."""
    most = batch_size * walks.per_sample * (walks.length + 1)
    return Visits(
        first=np.zeros(batch_size + 1, np.int64),
        slot=np.empty(most, np.int32),
        weight=np.empty(most, np.float32),
        contexts=np.empty(min(most, n_nodes), np.int32),
        slot_of=np.full(n_nodes, -1, np.int32),
    )


@exact
def steps_of_walk(chance: float, walks: Walks) -> np.int64:
    """Return after how many steps a walk restarts, from one number in [0, 1)."""
    if walks.log_continue == 0.0:
        return walks.length
    steps = np.log(1.0 - chance) / walks.log_continue
    return np.int64(steps) if steps < walks.length else np.int64(walks.length)


@exact
def draw_visits(index: np.int64, nodes: npt.NDArray[np.integer], walks: Walks, visits: Visits) -> np.int64:
    """Sample the contexts of each node; the first sample has number ``index``. Return how many slots are in use."""
    used, n_slots = ZERO, ZERO
    for b in range(len(nodes)):
        visits.first[b] = used
        total = 0.0
        for k in range(walks.per_sample):
            key = key_of(walks.seed, NEIGHBOURHOODS, (index + b) * walks.per_sample + k)
            steps = steps_of_walk(unit(key, ZERO), walks)
            node = np.int64(nodes[b])
            for j in range(steps + 1):
                if j > 0:
                    node = step(node, bits_at(key, j), walks.graph)
                    if node < 0:  # a dead end
                        break
                slot = np.int64(visits.slot_of[node])
                if slot < 0:
                    slot = n_slots
                    visits.slot_of[node] = slot
                    visits.contexts[slot] = node
                    n_slots += 1
                visits.slot[used] = slot
                visits.weight[used] = walks.importance[node]
                total += walks.importance[node]
                used += 1
        scale = np.float32(1.0 / total)
        for k in range(visits.first[b], used):
            visits.weight[k] *= scale
    visits.first[len(nodes)] = used
    for slot in range(n_slots):
        visits.slot_of[visits.contexts[slot]] = -1
    return n_slots


def expected_contexts(
    adjacency: sparse.csr_array, importance: Row, restart: float, length: int, values: Table, n_threads: int = 1
) -> Table:
    """Return for every node the mean of ``values`` over its contexts, each visit weighted, over all walks.

    A row of zeros where no context has an importance.

    >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
    >>> values = np.array([[4.0], [0.0], [0.0]], np.float32)
    >>> expected_contexts(path, np.ones(3, np.float32), 0.0, 1, values).ravel().tolist()
    [2.0, 1.0, 0.0]
    """
    degrees = adjacency @ np.ones(adjacency.shape[1])
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    steps = sparse.csr_array(sparse.diags_array((1.0 - restart) * inverse) @ adjacency, dtype=np.float32)
    weight = importance.copy()
    add_powers(steps, importance[:, None], length, weight[:, None])  # a single column: scipy is as fast
    blocks = list(column_blocks(values.shape[1], len(values)))
    if len(blocks) == 1:
        return _mean_over_contexts(steps, importance, weight, length, values, n_threads)
    means = np.empty(values.shape, np.float32)
    for block in blocks:
        means[:, block] = _mean_over_contexts(steps, importance, weight, length, values[:, block], n_threads)
    return means


def _mean_over_contexts(
    steps: sparse.csr_array, importance: Row, weight: Row, length: int, values: Table, n_threads: int
) -> Table:
    weighted, total = aligned_zeros(*values.shape), aligned_zeros(*values.shape)
    np.multiply(importance[:, None], values, out=weighted)
    total[:] = weighted
    add_powers(steps, weighted, length, total, n_threads=n_threads)
    return np.divide(total, weight[:, None], out=total, where=weight[:, None] > 0)
