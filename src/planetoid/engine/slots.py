"""Drawing a batch of training: each slot is a random walk with its negatives, or a row of label pairs."""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Batch, Integers, LabelArrays, Nodes, Rules, Sampling
from planetoid.engine.compiling import exact
from planetoid.engine.draws import (
    ZERO,
    label_centre,
    label_context,
    negative,
    next_node,
    pairs_in_walk,
    start_of_walk,
    window,
)
from planetoid.engine.generator import KIND, LABEL_PAIRS, NEGATIVES, SHARED_NEGATIVES, WALKS, key_of, unit

__all__ = ["draw_slots"]


@exact
def copy(source: Nodes, first: np.int64, last: np.int64, target: Nodes, count: np.int64) -> np.int64:
    """Append part of a list to another that has ``count`` entries; return how many it has then."""
    for k in range(first, last):
        target[count + k - first] = source[k]
    return count + last - first


@exact
def contexts_in_walk(
    path: Nodes, length: np.int64, d: np.int64, self_pairs: bool, shared: Nodes, contexts: Nodes, n_positive: Integers
) -> None:
    """List the contexts of every position of a walk: the positions around it, then the shared negatives."""
    for j in range(length):
        low, high = window(j, length, d)
        count = copy(path, low, j + self_pairs, contexts[j], ZERO)
        n_positive[j] = copy(path, j + 1, high, contexts[j], count)
        copy(shared[j], ZERO, shared.shape[1], contexts[j], n_positive[j])


@exact
def draw_label_pairs(
    key: np.uint64, r1: float, labels: LabelArrays | None, self_pairs: bool, n_contexts: np.int64, path: Nodes,
    contexts: Nodes, n_positive: Integers,
) -> None:  # fmt: skip
    """Draw a row of label pairs: at each position gamma, a centre, and contexts of the kind that gamma asks for."""
    if labels is None:
        return
    for j in range(len(path)):
        counter = j * (n_contexts + 4)
        gamma = 1 if unit(key, counter) < r1 else -1
        centre = label_centre(key, counter + 1, gamma, labels, self_pairs)
        path[j] = centre.node
        n_positive[j] = n_contexts if gamma > 0 else 0
        for x in range(n_contexts):
            contexts[j, x] = label_context(key, counter + 3 + x, gamma, centre, labels.members, labels.by_node)


@exact
def walk_together(first: np.int64, last: np.int64, index: np.int64, sampling: Sampling, batch: Batch) -> None:
    """Draw the walks among a range of slots, all of them one step at a time: so their memory accesses overlap."""
    seed, q = sampling.seed, batch.paths.shape[1]
    for b in range(first, last):
        batch.is_walk[b] = unit(key_of(seed, WALKS, index + b), KIND) < sampling.r2
        batch.lengths[b] = q
        if batch.is_walk[b]:
            batch.paths[b, 0] = start_of_walk(seed, index + b, sampling.starts)
    for j in range(1, q):
        for b in range(first, last):
            if batch.is_walk[b] and batch.lengths[b] == q:
                key = key_of(seed, WALKS, index + b)
                node = next_node(batch.paths[b], j, key, sampling.graph, sampling.node2vec)
                if node < 0:
                    batch.lengths[b] = j
                else:
                    batch.paths[b, j] = node


@exact
def draw_slots(
    first: np.int64, last: np.int64, index: np.int64, sampling: Sampling, rules: Rules, batch: Batch
) -> None:
    """Draw a range of slots; slot 0 of the batch has number ``index`` in the whole training."""
    seed, n_nodes, self_pairs = sampling.seed, sampling.n_nodes, sampling.self_pairs
    n_shared, n_own = rules.n_shared, rules.n_own
    walk_together(first, last, index, sampling, batch)
    for b in range(first, last):
        shared = batch.shared_negatives[b // rules.group]
        if b % rules.group == 0:
            key = key_of(seed, SHARED_NEGATIVES, (index + b) // rules.group)
            for j in range(len(shared)):
                for x in range(n_shared):
                    shared[j, x] = negative(key, j * n_shared + x, n_nodes)
        path, contexts, n_positive = batch.paths[b], batch.contexts[b], batch.n_positive[b]
        if batch.is_walk[b]:
            length = batch.lengths[b]
            contexts_in_walk(path, length, sampling.d, self_pairs, shared, contexts, n_positive)
            key = key_of(seed, NEGATIVES, index + b)
            for j in range(length):
                for x in range(n_own):
                    contexts[j, n_positive[j] + x] = negative(key, j * n_own + x, n_nodes)
            batch.n_pairs[b] = pairs_in_walk(length, sampling.d, self_pairs)
        else:
            key = key_of(seed, LABEL_PAIRS, index + b)
            draw_label_pairs(key, sampling.r1, sampling.labels, self_pairs, rules.n_label, path, contexts, n_positive)
            batch.n_pairs[b] = rules.label_row
