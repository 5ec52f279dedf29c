"""Algorithm 1 as lists of pairs: one pair per walk as printed, all pairs of a walk, or those of a training batch."""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Batch, Nodes, Pairs, Rules, Sampling, WalkBlock
from planetoid.engine.compiling import entry
from planetoid.engine.draws import (
    ZERO,
    label_pair,
    length_of_walk,
    negative,
    next_node,
    nth_pair,
    pairs_in_walk,
    start_at,
    start_of_walk,
    start_position,
    walk,
    window,
)
from planetoid.engine.generator import KIND, LABEL_PAIRS, NEGATIVES, WALKS, below, key_of, unit
from planetoid.engine.slots import draw_slots

__all__ = ["all_pairs", "one_pair_per_walk", "pairs_of_batch"]

NO_WALK = np.int64(-1)


@entry
def one_pair_per_walk(sampling: Sampling, first: int, walks: WalkBlock, pairs: Pairs) -> None:
    """Algorithm 1 line by line: draw as many triplets (i, c, gamma) as ``pairs`` has room for.

    Which nodes of a walk are its pair is drawn before the walk, which ends at the second of them. The walks of a block
    go side by side, so that one moves on while others wait for memory.
    """
    n_nodes, d, self_pairs = sampling.n_nodes, sampling.d, sampling.self_pairs
    starts, (paths, keys, last, moving) = sampling.starts, walks
    position, left = ZERO, ZERO  # of the next start; walks until the order of starts is shifted
    for begin in range(0, len(pairs.i), len(keys)):
        count = min(len(keys), len(pairs.i) - begin)
        n_moving = 0
        for x in range(count):
            number = begin + x
            index = first + number
            if left == 0:
                position, left = start_position(sampling.seed, index, starts)
            key = keys[x] = key_of(sampling.seed, WALKS, index)
            gamma = pairs.gamma[number] = 1 if unit(key, KIND) < sampling.r1 else -1
            if unit(key, KIND + 1) < sampling.r2:
                paths[x, 0] = start_at(position, starts)
                length = length_of_walk(paths[x], key, sampling)
                chosen = below(key, KIND + 2, pairs_in_walk(length, d, self_pairs))
                j, k = nth_pair(chosen, length, d, self_pairs)
                pairs.i[number], pairs.c[number] = j, k if gamma > 0 else negative(key, KIND + 3, n_nodes)
                last[x] = k if gamma > 0 and k > j else j
            else:
                key = key_of(sampling.seed, LABEL_PAIRS, index)
                pairs.i[number], pairs.c[number] = label_pair(key, ZERO, gamma, sampling.labels, self_pairs)
                last[x] = NO_WALK
            position, left = position + starts.stride, left - 1
            position -= starts.count if position >= starts.count else 0
            moving[n_moving] = x
            n_moving += last[x] > 0
        for j in range(1, paths.shape[1]):  # without a branch on where a walk ends, which no hardware would guess
            left_over = 0
            for number in range(n_moving):
                x = moving[number]
                paths[x, j] = next_node(paths[x], j, keys[x], sampling.graph, sampling.node2vec)
                moving[left_over] = x
                left_over += last[x] > j
            n_moving = left_over
        for x in range(count):
            number = begin + x
            if last[x] != NO_WALK:
                pairs.i[number] = paths[x, pairs.i[number]]
                if pairs.gamma[number] > 0:
                    pairs.c[number] = paths[x, pairs.c[number]]


@entry
def all_pairs(sampling: Sampling, first: int, last: int, path: Nodes, pairs: Pairs) -> int:
    """Draw every pair within the window of each walk, each with its own negatives; return how many."""
    r1, d, self_pairs = sampling.r1, sampling.d, sampling.self_pairs
    full = pairs_in_walk(len(path), d, self_pairs)
    used = 0
    for index in range(first, last):
        key = key_of(sampling.seed, WALKS, index)
        if unit(key, KIND) < sampling.r2:
            start = start_of_walk(sampling.seed, index, sampling.starts)
            length = walk(path, key, start, sampling.graph, sampling.node2vec)
            weight = full / pairs_in_walk(length, d, self_pairs)
            key, counter = key_of(sampling.seed, NEGATIVES, index), ZERO
            for j in range(length):
                low, high = window(j, length, d)
                for k in range(low, high):
                    if j == k and not self_pairs:
                        continue
                    n_negatives = np.int64((1.0 - r1) / r1 + unit(key, counter))
                    for number in range(n_negatives + 1):  # the positive pair comes first
                        pairs.i[used], pairs.weight[used] = path[j], weight
                        pairs.gamma[used] = -1 if number else 1
                        pairs.c[used] = negative(key, counter + number, sampling.n_nodes) if number else path[k]
                        used += 1
                    counter += n_negatives + 1
        else:
            key = key_of(sampling.seed, LABEL_PAIRS, index)
            for number in range(np.int64(full / r1 + unit(key, ZERO))):
                counter = 4 * number + 1
                gamma = 1 if unit(key, counter) < r1 else -1
                pairs.i[used], pairs.c[used] = label_pair(key, counter + 1, gamma, sampling.labels, self_pairs)
                pairs.gamma[used], pairs.weight[used] = gamma, 1.0
                used += 1
    return used


@entry
def pairs_of_batch(index: int, sampling: Sampling, rules: Rules, batch: Batch, pairs: Pairs) -> int:
    """Draw a batch of training and write its pairs out, with the weights that training gives them; return how many."""
    r1, n_negative = sampling.r1, rules.n_shared + rules.n_own
    draw_slots(0, len(batch.paths), index, sampling, rules, batch)
    used = 0
    for b in range(len(batch.paths)):
        for j in range(batch.lengths[b]):
            n_positive = batch.n_positive[b, j]
            count = rules.n_label
            positive = other = rules.full_walk / batch.n_pairs[b]
            if batch.is_walk[b]:
                count = n_positive + n_negative
                other = positive * n_positive * ((1.0 - r1) / r1) / max(1, n_negative)
            for k in range(count):
                pairs.i[used], pairs.c[used] = batch.paths[b, j], batch.contexts[b, j, k]
                pairs.gamma[used] = 1 if k < n_positive else -1
                pairs.weight[used] = positive if k < n_positive else other
                used += 1
    return used
