"""Compiled skip-gram steps; arrays and scalars in, arrays changed in place.

A batch is a number of slots. A slot is a random walk, whose every position is
a centre with the positions around it as contexts, or a row of label pairs. All
scores of a batch are taken from the tables as they were before it, then all
gradients are added: plain mini-batch SGD. Three phases, each over rows that
belong to one thread alone, in an order that does not depend on the number of
threads, so the result is the same bit for bit:

1. ``draw_and_score`` (threads share the slots): draw, score, keep the
   coefficient of every pair and the gradient of every centre;
2. ``update_contexts`` (threads share the rows of w);
3. ``update_centres`` (threads share the rows of e).

The walks of a group share their negatives: the centres at position j of all of
them, which have nothing to do with each other, are set against the same
``n_pool`` nodes, drawn uniformly. So a negative row is read once for a group.
(Sharing among successive positions of one walk would be as cheap, but those are
near each other in the graph, and pushing one node away from all of them at once
makes worse embeddings.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from planetoid.engine.draws import (
    LABEL,
    NEGATIVE,
    POOL,
    WALK,
    below,
    bits_at,
    context_of,
    key_of,
    labelled_centre,
    pairs_in_walk,
    start_of,
    unit,
    walk,
)
from planetoid.engine.loops import F32, FAST, add_row, add_rows, dots, filled_up, sigmoids
from planetoid.engine.prefetch import prefetch
from planetoid.engine.threads import barrier

MAX_SCORE_STEP = F32(1.0)
LOSS_EVERY = 4  # slots
NEAR = 1 << 21  # floats of a table that the caches hold; asking ahead for its rows only costs time


@njit(error_model="numpy")
def draw_slot(
    b: Any, index: Any, seed: Any, n: Any, starts: Any, stride: Any, graph: Any, labels: Any, rules: Any, batch: Any
) -> None:
    """Draw one slot: its kind, its nodes and what they are paired with."""
    indptr, indices, accept, alias, back, out = graph
    same, other, class_start, members = labels
    r1, r2, _, self_pairs, _, n_own, _ = rules
    paths, lengths, signs, _pools, frees, _, _ = batch
    path, free = paths[b], frees[b]
    key = key_of(seed, WALK, index)
    if unit(bits_at(key, 1 << 40)) < r2:
        place = start_of(seed, index, len(starts) if len(starts) else n, stride)
        start = np.int64(starts[place]) if len(starts) else place
        lengths[b] = walk(path, key, start, indptr, indices, accept, alias, back, out)
        signs[b, 0] = 0
        key = key_of(seed, NEGATIVE, index)
        for j in range(lengths[b] if n_own else 0):
            for k in range(n_own):
                free[j, k] = below(bits_at(key, j * n_own + k), n)
        return
    lengths[b] = len(path)
    key = key_of(seed, LABEL, index)
    width = free.shape[1]
    for j in range(len(path)):
        place = j * (width + 4)
        gamma = 1 if unit(bits_at(key, place)) < r1 else -1
        signs[b, j] = gamma
        shares = same if gamma > 0 else other
        at, k = labelled_centre(unit(bits_at(key, place + 1)), bits_at(key, place + 2), shares, class_start)
        path[j] = members[at]
        for x in range(width):
            free[j, x] = context_of(at, k, bits_at(key, place + 3 + x), gamma, class_start, members, self_pairs)


@njit(error_model="numpy")
def draw_pools(first_slot: Any, last_slot: Any, index: Any, seed: Any, n: Any, group: Any, pools: Any) -> None:
    """Draw the shared negatives of the groups that begin in a range of slots."""
    for b in range(first_slot, last_slot, group):
        key = key_of(seed, POOL, (index + b) // group)
        pool = pools[b // group]
        for j in range(pool.shape[0]):
            for k in range(pool.shape[1]):
                pool[j, k] = below(bits_at(key, j * pool.shape[1] + k), n)


@njit(error_model="numpy")
def prefetch_next(
    member: Any, j: Any, path: Any, length: Any, pool: Any, reach: Any, group: Any, e: Any, w: Any
) -> None:
    """Ask for the rows that the next position of a walk brings; the members of a group share the pool's."""
    if j + 1 < length:
        prefetch(e, path[j + 1])
        prefetch(w, path[min(j + 1 + reach, length - 1)])
        for k in range(member, pool.shape[1], group):
            prefetch(w, pool[j + 1, k])


@njit(fastmath=FAST, error_model="numpy")
def score_centre(
    b: Any, j: Any, pool: Any, rows: Any, full: Any, rules: Any, e: Any, w: Any, rate: Any, batch: Any, losses: Any
) -> None:
    """Score one centre against its contexts and negatives; keep the coefficients and the gradient."""
    r1, _, d, self_pairs, n_pool, n_own, _ = rules
    paths, lengths, signs, _pools, frees, factors, gradients = batch
    reach = d - 1
    path, length, out = paths[b], lengths[b], factors[b, j]
    is_walk = signs[b, 0] == 0
    count = 0
    if is_walk:
        for k in range(max(0, j - reach), min(length - 1, j + reach) + 1):
            if self_pairs or k != j:
                rows[count] = path[k]
                count += 1
        n_positive = count
        for k in range(n_pool):
            rows[count] = pool[j, k]
            count += 1
        for x in range(n_own):
            rows[count] = frees[b, j, x]
            count += 1
        present = pairs_in_walk(length, d, self_pairs)
        scale = F32(rate * full / present) if present else rate
        against = F32(scale * n_positive * (1.0 - r1) / (r1 * max(1, n_pool + n_own)))
    else:
        n_free = frees.shape[2]
        for x in range(n_free):
            rows[count] = frees[b, j, x]
            count += 1
        scale = F32(rate * full / (r1 * len(path) * n_free))
        against = scale
        n_positive = count if signs[b, j] > 0 else 0
    row = e[path[j]]
    padded = filled_up(rows, out, count)
    dots(row, w, rows, padded, out)
    sigmoids(out, padded)
    if b % LOSS_EVERY == 0:
        right = wrong = 1.0
        for k in range(n_positive):
            right *= max(out[k], F32(1e-12))
        for k in range(n_positive, count):
            wrong *= max(F32(1) - out[k], F32(1e-12))
        losses[b] -= (np.log(max(right, 1e-300)) * scale + np.log(max(wrong, 1e-300)) * against) / rate
    size = F32(1e-12)
    for f in range(len(row)):
        size += row[f] * row[f]
    most = MAX_SCORE_STEP / size
    for k in range(n_positive):
        step = scale - scale * out[k]
        out[k] = most if step > most else step
    for k in range(n_positive, count):
        step = against * out[k]
        out[k] = -most if step > most else -step
    for k in range(count, padded):
        out[k] = F32(0)
    gradient = gradients[b, j]
    for f in range(len(row)):
        gradient[f] = F32(0)
    add_rows(w, rows, out, padded, gradient)


@njit(fastmath=FAST, error_model="numpy", inline="always")
def draw_and_score(
    first_slot: Any, last_slot: Any, index: Any, seed: Any, n: Any, starts: Any, stride: Any,
    graph: Any, labels: Any, rules: Any, e: Any, w: Any, rate: Any, batch: Any, losses: Any,
) -> None:  # fmt: skip
    """Phase 1, for the slots of one thread."""
    d, self_pairs, group = rules[2], rules[3], rules[6]
    paths, lengths, pools = batch[0], batch[1], batch[3]
    reach, q = d - 1, paths.shape[1]
    full = pairs_in_walk(q, d, self_pairs)
    rows = np.empty(batch[5].shape[2], np.int64)
    far = w.size > NEAR
    draw_pools(first_slot, last_slot, index, seed, n, group, pools)
    for b in range(first_slot, last_slot):
        draw_slot(b, index + b, seed, n, starts, stride, graph, labels, rules, batch)
        losses[b] = 0.0
    # Position by position through the walks of a group, so that their shared negatives stay in the nearest cache.
    for leader in range(first_slot, last_slot, group):
        pool = pools[leader // group]
        for j in range(q):
            for b in range(leader, leader + group):
                if j < lengths[b]:
                    if far:
                        prefetch_next(b - leader, j, paths[b], lengths[b], pool, reach, group, e, w)
                    score_centre(b, j, pool, rows, full, rules, e, w, rate, batch, losses)


@njit(fastmath=FAST, error_model="numpy", inline="always")
def update_contexts(
    thread: Any, n_threads: Any, n_slots: Any, rules: Any, frozen: Any, e: Any, w: Any, batch: Any
) -> None:
    """Phase 2, for the rows of w that belong to one thread."""
    _, _, d, self_pairs, n_pool, n_own, group = rules
    paths, lengths, signs, pools, frees, factors, _ = batch
    reach, q = d - 1, paths.shape[1]
    skipped = 0 if self_pairs else 1
    far = w.size > NEAR
    rows = np.empty(2 * reach + 4 + group, np.int64)
    used = np.empty(2 * reach + 4 + group, np.float32)
    for b in range(n_slots):
        path, length = paths[b], lengths[b]
        is_walk = signs[b, 0] == 0
        for k in range(length if is_walk else 0):
            c = np.int64(path[k])
            if far:
                prefetch(w, path[min(k + 2, length - 1)])
                prefetch(e, path[min(k + 2 + reach, length - 1)])
            if (n_threads == 1 or c % n_threads == thread) and c >= frozen:
                count = 0
                for j in range(max(0, k - reach), min(length - 1, k + reach) + 1):
                    if self_pairs or j != k:
                        at = k - max(0, j - reach) - (skipped if k > j else 0)
                        rows[count], used[count] = path[j], factors[b, j, at]
                        count += 1
                add_rows(e, rows, used, filled_up(rows, used, count), w[c])
        n_free = n_own if is_walk else frees.shape[2]
        for j in range(length if n_free else 0):
            around = min(length - 1, j + reach) - max(0, j - reach) + 1 - skipped
            first = around + n_pool if is_walk else 0
            for x in range(n_free):
                c = np.int64(frees[b, j, x])
                if (n_threads == 1 or c % n_threads == thread) and c >= frozen:
                    add_row(e[path[j]], factors[b, j, first + x], w[c])
    for number in range(n_slots // group if n_pool else 0):
        for j in range(q):
            for k in range(n_pool):
                c = np.int64(pools[number, j, k])
                if far:
                    prefetch(w, pools[number, min(j + 1, q - 1), k])
                if (n_threads == 1 or c % n_threads == thread) and c >= frozen:
                    count = 0
                    for b in range(number * group, (number + 1) * group):
                        if signs[b, 0] == 0 and j < lengths[b]:
                            around = min(lengths[b] - 1, j + reach) - max(0, j - reach) + 1 - skipped
                            rows[count], used[count] = paths[b, j], factors[b, j, around + k]
                            count += 1
                    if count == 1:
                        add_row(e[rows[0]], used[0], w[c])
                    else:
                        add_rows(e, rows, used, filled_up(rows, used, count), w[c])


@njit(fastmath=FAST, error_model="numpy", inline="always")
def update_centres(thread: Any, n_threads: Any, n_slots: Any, frozen: Any, e: Any, batch: Any) -> None:
    """Phase 3, for the rows of e that belong to one thread."""
    paths, lengths, gradients = batch[0], batch[1], batch[6]
    far = e.size > NEAR
    for b in range(n_slots):
        for j in range(lengths[b]):
            i = np.int64(paths[b, j])
            if far:
                prefetch(e, paths[b, min(j + 4, lengths[b] - 1)])
            if (n_threads == 1 or i % n_threads == thread) and i >= frozen:
                add_row(gradients[b, j], F32(1), e[i])


@njit(nogil=True, fastmath=FAST, error_model="numpy", cache=True)
def train(
    thread: Any, n_threads: Any, counters: Any, seed: Any, first: Any, last: Any, total: Any,
    rate_from: Any, rate_to: Any, starts: Any, stride: Any, graph: Any, labels: Any, rules: Any,
    frozen: Any, e: Any, w: Any, batch: Any, losses: Any,
) -> None:  # fmt: skip
    """Train on batches ``first`` to ``last`` of ``total``; one call for each thread."""
    n_slots = len(batch[0])
    group = rules[6]
    n_groups = n_slots // group
    low, high = thread * n_groups // n_threads * group, (thread + 1) * n_groups // n_threads * group
    for number in range(first, last):
        rate = F32(rate_from + (rate_to - rate_from) * (number / total))
        draw_and_score(
            low, high, number * n_slots, seed, len(e), starts, stride, graph, labels, rules, e, w, rate, batch,
            losses[number - first],
        )  # fmt: skip
        barrier(counters, n_threads)
        update_contexts(thread, n_threads, n_slots, rules, frozen, e, w, batch)
        barrier(counters, n_threads)
        update_centres(thread, n_threads, n_slots, frozen, e, batch)
        barrier(counters, n_threads)


@njit(nogil=True, cache=True)
def draw_batch(
    index: Any, seed: Any, n: Any, starts: Any, stride: Any, graph: Any, labels: Any, rules: Any, batch: Any
) -> None:
    """Draw all slots of a batch without scoring them."""
    draw_pools(0, len(batch[0]), index, seed, n, rules[6], batch[3])
    for b in range(len(batch[0])):
        draw_slot(b, index + b, seed, n, starts, stride, graph, labels, rules, batch)


@njit(nogil=True, cache=True)
def list_pairs(rules: Any, batch: Any, i: Any, c: Any, gamma: Any, weight: Any) -> Any:
    """Write the pairs of a drawn batch out, with the weights that phase 1 gives them; return their number."""
    r1, _, d, self_pairs, n_pool, n_own, group = rules
    paths, lengths, signs, pools, frees, _, _ = batch
    q = paths.shape[1]
    full = pairs_in_walk(q, d, self_pairs)
    negatives = (1.0 - r1) / r1
    used = 0
    for b in range(len(paths)):
        path, length = paths[b], lengths[b]
        if signs[b, 0] != 0:
            for j in range(length):
                for x in range(frees.shape[2]):
                    i[used], c[used], gamma[used] = path[j], frees[b, j, x], signs[b, j]
                    weight[used] = full / (r1 * q * frees.shape[2])
                    used += 1
            continue
        present = pairs_in_walk(length, d, self_pairs)
        for j in range(length if present else 0):
            first = used
            for k in range(max(0, j - d + 1), min(length - 1, j + d - 1) + 1):
                if self_pairs or k != j:
                    i[used], c[used], gamma[used], weight[used] = path[j], path[k], 1, full / present
                    used += 1
            against = full / present * (used - first) * negatives / max(1, n_pool + n_own)
            for k in range(n_pool):
                i[used], c[used], gamma[used], weight[used] = path[j], pools[b // group, j, k], -1, against
                used += 1
            for x in range(n_own):
                i[used], c[used], gamma[used], weight[used] = path[j], frees[b, j, x], -1, against
                used += 1
    return used
