"""What Algorithm 1 draws, one function for each thing: the start of a walk, a walk, a negative, a label pair.

Whoever needs one of these calls the function here: :mod:`planetoid.engine.pair_lists`, which writes pairs out, and
:mod:`planetoid.engine.slots`, which draws the batches of skip-gram training. The random numbers are those of
:mod:`planetoid.engine.generator`; a caller chooses the key and the counter.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import (
    GraphArrays,
    Integers,
    LabelArrays,
    LabelCentre,
    Node2Vec,
    NodeLabels,
    Nodes,
    Sampling,
    Starts,
)
from planetoid.engine.compiling import exact
from planetoid.engine.generator import STARTS, U64, below, bits_at, key_of, mix, to_unit, unit

__all__ = [
    "label_centre", "label_context", "label_pair", "length_of_walk", "negative", "next_node", "nth_pair",
    "pairs_in_walk", "start_at", "start_of_walk", "start_position", "walk", "window",
]  # fmt: skip

# The upper half of 64 bits chooses an entry of a row, the lower half whether its alias is taken instead.
HALF, LOW_32, TO_UNIT_32 = U64(32), U64(0xFFFFFFFF), np.float32(2.0**-32)
DEAD_END = NOBODY = np.int64(-1)
# As numbers of a machine type: numba would compile a function once more for a literal among its arguments.
ZERO, ONE = np.int64(0), np.int64(1)
MAX_TRIES = 64  # of node2vec's rejection step, and of a negative pair of nodes that may have several labels
REDRAW = np.int64(1 << 40)  # between the counters of these tries; others are smaller


@exact
def start_position(seed: np.uint64, index: np.int64, starts: Starts) -> tuple[np.int64, np.int64]:
    """Return the position of a walk's first node among the starts, and how many walks are left in this pass over them.

    Each start comes once in a pass, ``stride`` positions after the one before. The order is shifted by a random offset
    in every pass, so a single draw is uniform.
    """
    round_ = index // starts.count
    done = index - round_ * starts.count
    offset = below(key_of(seed, STARTS, round_), ZERO, starts.count)
    return (offset + done * starts.stride) % starts.count, starts.count - done


@exact
def start_at(position: np.int64, starts: Starts) -> np.int64:
    """Return the node at a position among the starts."""
    return starts.nodes[position] if len(starts.nodes) else position


@exact
def start_of_walk(seed: np.uint64, index: np.int64, starts: Starts) -> np.int64:
    """Return the first node of a walk."""
    return start_at(start_position(seed, index, starts)[0], starts)


@exact
def step(node: np.int64, bits: np.uint64, graph: GraphArrays) -> np.int64:
    """Return a neighbour drawn with probability a_ij / sum_j a_ij, or -1 at a dead end."""
    first = graph.indptr[node]
    degree = graph.indptr[node + 1] - first
    if degree == 0:
        return DEAD_END
    at = first + np.int64(((bits >> HALF) * U64(degree)) >> HALF)
    if len(graph.accept):  # without a branch on the weights, which no hardware would guess
        other = first + graph.alias[at]
        rejected = np.int64(np.float32(bits & LOW_32) * TO_UNIT_32 >= graph.accept[at])
        at += rejected * (other - at)
    return np.int64(graph.indices[at])


@exact
def has_edge(source: np.int64, target: np.int64, graph: GraphArrays) -> bool:
    """Look an edge up in the sorted row of its source."""
    low, end = np.int64(graph.indptr[source]), np.int64(graph.indptr[source + 1])
    high = end
    while low < high:
        middle = (low + high) // 2
        if graph.indices[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low < end and graph.indices[low] == target


@exact
def second_order_step(path: Nodes, j: np.int64, key: np.uint64, graph: GraphArrays, node2vec: Node2Vec) -> np.int64:
    """Return node j of a walk of node2vec by rejection: 1/p to go back, 1 to stay near, 1/q to go outward."""
    previous = np.int64(path[j - 2])
    chosen = DEAD_END
    for attempt in range(MAX_TRIES):
        bits = bits_at(key, (j + 1) * 4096 + attempt)
        chosen = step(np.int64(path[j - 1]), bits, graph)
        if chosen < 0:
            break
        if chosen == previous:
            ratio = node2vec.back
        elif has_edge(previous, chosen, graph):
            ratio = 1.0
        else:
            ratio = node2vec.outward
        if to_unit(mix(bits)) * node2vec.largest < ratio:
            break
    return chosen


@exact
def next_node(path: Nodes, j: np.int64, key: np.uint64, graph: GraphArrays, node2vec: Node2Vec | None) -> np.int64:
    """Return node j of a walk whose first j nodes are known, or -1 at a dead end."""
    if node2vec is not None and j > 1:
        return second_order_step(path, j, key, graph, node2vec)
    return step(np.int64(path[j - 1]), bits_at(key, j), graph)


@exact
def walk(path: Nodes, key: np.uint64, start: np.int64, graph: GraphArrays, node2vec: Node2Vec | None) -> np.int64:
    """Fill ``path`` with a random walk and return its length, which is smaller than ``len(path)`` at a dead end."""
    path[0] = start
    for j in range(1, len(path)):
        node = next_node(path, j, key, graph, node2vec)
        if node < 0:
            return j
        path[j] = node
    return len(path)


@exact
def length_of_walk(path: Nodes, key: np.uint64, sampling: Sampling) -> np.int64:
    """Return the length of a walk from ``path[0]``, without drawing it where every edge leads to a node with edges."""
    graph, start = sampling.graph, np.int64(path[0])
    if sampling.directed:
        return walk(path, key, start, graph, sampling.node2vec)
    return len(path) if graph.indptr[start + 1] > graph.indptr[start] else 1


@exact
def negative(key: np.uint64, counter: np.int64, n_nodes: np.int64) -> np.int64:
    """Return a context drawn uniformly from all nodes."""
    return below(key, counter, n_nodes)


@exact
def label_centre(
    key: np.uint64, counter: np.int64, gamma: np.int64, labels: LabelArrays, self_pairs: bool
) -> LabelCentre:
    """Draw the first node of a label pair, by two counters: first its class, then a node of that class.

    The second node has the same label if ``gamma`` is positive, else any other.
    """
    shares = labels.same_class if gamma > 0 else labels.other_class
    chance = unit(key, counter)
    k = 0
    while k < len(shares) - 1 and chance >= shares[k]:
        k += 1
    first = labels.class_start[k]
    size = labels.class_start[k + 1] - first
    centre = first + below(key, counter + 1, size)
    if gamma < 0:  # all members but those of class k
        low, count, gap, width = ZERO, len(labels.members) - size, first, size
    else:  # those of class k, without the centre itself unless it may be its own context
        low, count, gap, width = first, size - 1 + self_pairs, centre, 1 - self_pairs
    return LabelCentre(labels.members[centre], low, count, gap, width)


@exact
def share_a_label(one: np.int64, other: np.int64, labels: NodeLabels) -> bool:
    """Compare the classes of two nodes, each in order."""
    i, j = labels.start[one], labels.start[other]
    while i < labels.start[one + 1] and j < labels.start[other + 1]:
        if labels.classes[i] == labels.classes[j]:
            return True
        if labels.classes[i] < labels.classes[j]:
            i += 1
        else:
            j += 1
    return False


@exact
def member(position: np.int64, centre: LabelCentre, members: Integers) -> np.int64:
    """Return a labelled node by its position, counted without the gap."""
    return members[position + centre.width if position >= centre.gap else position]


@exact
def label_context(
    key: np.uint64, counter: np.int64, gamma: np.int64, centre: LabelCentre, members: Integers,
    by_node: NodeLabels | None,
) -> np.int64:  # fmt: skip
    """Draw the second node of a label pair; where nodes have several labels, again if a negative one shares any."""
    context = member(centre.first + below(key, counter, centre.count), centre, members)
    if by_node is not None and gamma < 0:
        for attempt in range(1, MAX_TRIES):
            if not share_a_label(centre.node, context, by_node):
                break
            another = below(key, counter + attempt * REDRAW, centre.count)
            context = member(centre.first + another, centre, members)
    return context


@exact
def label_pair(
    key: np.uint64, counter: np.int64, gamma: np.int64, labels: LabelArrays | None, self_pairs: bool
) -> tuple[np.int64, np.int64]:
    """Draw the two nodes of a label pair, by three counters."""
    if labels is None:
        return NOBODY, NOBODY
    centre = label_centre(key, counter, gamma, labels, self_pairs)
    return centre.node, label_context(key, counter + 2, gamma, centre, labels.members, labels.by_node)


@exact
def window(j: np.int64, length: np.int64, d: np.int64) -> tuple[np.int64, np.int64]:
    """Return the first position k of a walk with |j - k| < d, and the one after the last."""
    return j - d + 1 if j >= d else 0, j + d if j + d < length else length


@exact
def pairs_in_walk(length: np.int64, d: np.int64, self_pairs: bool) -> np.int64:
    """Count the ordered pairs (j, k) with |j - k| < d in a walk."""
    total = length if self_pairs else 0
    for distance in range(1, d if d < length else length):
        total += 2 * (length - distance)
    return total


@exact
def nth_pair(number: np.int64, length: np.int64, d: np.int64, self_pairs: bool) -> tuple[np.int64, np.int64]:
    """Return the positions (j, k) of the pair of that number, row by row."""
    for j in range(length):
        first, end = window(j, length, d)
        count = end - first - (0 if self_pairs else 1)
        if number < count:
            k = first + number
            return j, (k if self_pairs or k < j else k + 1)
        number -= count
    return -1, -1
