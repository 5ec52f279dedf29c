"""Skip-gram steps on some columns of the tables, in compiled code; several processes have the others.

A batch is large, for its scores are exchanged among the processes. It has two phases:

1. ``score_batch``: the part of each score that the own columns contribute, in fixed point, as one list of integers.
   The processes add up their lists, and a sum of integers has no order, so all get the same scores however the columns
   are divided;
2. ``update_batch``: the coefficient of every pair from its score, then one group of walks after the other: gradients of
   its centres, rows of w, rows of e. A column is changed by itself alone.

So all coefficients of a batch belong to the tables as they were before it, but a group already reads the rows that the
groups before it have changed: a row is fetched from memory once for scores and once for updates. No arithmetic here may
be reordered or fused, so a column gets the same bits whichever columns stand beside it, and on whichever processor.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine import loops
from planetoid.engine.arrays import Batch, Nodes, Row, Rules, Sampling, Table, Tables, Turned
from planetoid.engine.compiling import disjoint, entry, exact
from planetoid.engine.draws import window
from planetoid.engine.fixed_point import UNIT, fixed_dot, fixed_dots, scale_up
from planetoid.engine.loops import F32, ONE, ZERO, fill_up
from planetoid.engine.prefetch import NEAR, prefetch
from planetoid.engine.slots import draw_slots
from planetoid.engine.steps import LOSS_EVERY, MAX_SCORE_STEP, TINY, loss_of, negative_rate, positive_rate

__all__ = ["draw_batch", "score_batch", "update_batch"]

add_row, add_rows = disjoint(loops.add_row.py_func), disjoint(loops.add_rows.py_func)
sigmoids = exact(loops.sigmoids.py_func)
START = np.int64(0)


@entry
def draw_batch(number: int, sampling: Sampling, rules: Rules, batch: Batch) -> None:
    """Draw all slots of a batch."""
    n_slots = len(batch.paths)
    draw_slots(START, n_slots, number * n_slots, sampling, rules, batch)


@exact
def n_contexts(b: np.int64, j: np.int64, rules: Rules, batch: Batch) -> np.int64:
    """Return how many contexts a centre is scored against."""
    return batch.n_positive[b, j] + rules.n_shared + rules.n_own if batch.is_walk[b] else rules.n_label


@exact
def ask_ahead(b: np.int64, j: np.int64, group: np.int64, tables: Tables, batch: Batch) -> None:
    """Ask for the rows that the next group of walks has at one position; its slots divide their negatives."""
    following = b + group
    if following < len(batch.paths) and j < batch.lengths[following]:
        node = batch.paths[following, j]
        prefetch(tables.e, node)
        prefetch(tables.w, node)
        shared = batch.shared_negatives[following // group, j]
        for x in range(following % group, len(shared), group):
            prefetch(tables.w, shared[x])


@entry
def score_batch(rules: Rules, tables: Tables, batch: Batch, scaled: Row, out: Nodes) -> int:
    """Write the own part of the scores of all centres: of each its contexts, then its squared length; count them."""
    e, w = tables.e, tables.w
    far = w.size > NEAR
    used = START
    for leader in range(0, len(batch.paths), rules.group):
        for j in range(batch.paths.shape[1]):
            for b in range(leader, leader + rules.group):
                if j >= batch.lengths[b]:
                    continue
                if far:
                    ask_ahead(b, j, rules.group, tables, batch)
                count = n_contexts(b, j, rules, batch)
                row, contexts = e[batch.paths[b, j]], batch.contexts[b, j]
                scale_up(row, scaled)
                padded = fill_up(contexts, batch.coefficients[b, j], count)
                fixed_dots(scaled, w, contexts, padded, out[used:])
                out[used + count] = fixed_dot(scaled, row)
                used += count + 1
    return used


@exact
def to_probabilities(scores: Nodes, count: np.int64, probabilities: Row) -> None:
    """Apply the logistic function to all scores of a batch at once, which is what vector registers like best."""
    for k in range(count):
        probabilities[k] = F32(scores[k]) * UNIT
    sigmoids(probabilities, count)


@exact
def coefficients_of(
    probabilities: Row, squared_length: np.int32, count: np.int64, n_positive: np.int64, pull: np.float32,
    push: np.float32, coefficients: Row,
) -> None:  # fmt: skip
    """Turn the probabilities of one centre's pairs into what each of them adds to its two rows."""
    most = F32(MAX_SCORE_STEP / F32(TINY + F32(squared_length) * UNIT))
    for k in range(n_positive):
        step = F32(pull - pull * probabilities[k])
        coefficients[k] = most if step > most else step
    for k in range(n_positive, count):
        step = F32(push * probabilities[k])
        coefficients[k] = -most if step > most else -step


@exact
def turn_positive(
    j: np.int64, length: np.int64, d: np.int64, self_pairs: bool, coefficients: Row, around: Table
) -> None:
    """Copy the coefficients of centre j to the lists of the positions around it, in the order of their contexts."""
    low, high = window(j, length, d)
    x = START
    for k in range(low, high):
        if self_pairs or j != k:
            before = j - window(k, length, d)[0]  # of the positions around k, itself included
            around[k, before if self_pairs or j < k else before - 1] = coefficients[x]
            x += 1


@exact
def gradients_of_group(
    leader: np.int64, sampling: Sampling, rules: Rules, tables: Tables, rate: np.float32, scores: Nodes,
    probabilities: Row, batch: Batch, turned: Turned, losses: Row,
) -> np.int64:  # fmt: skip
    """Take the coefficients of a group of slots and the gradients of its centres; return how many scores it has."""
    used, d = START, sampling.d
    far = tables.w.size > NEAR
    for j in range(batch.paths.shape[1]):
        for b in range(leader, leader + rules.group):
            if j >= batch.lengths[b]:
                continue
            if far:
                ask_ahead(b, j, rules.group, tables, batch)
            n_positive, count = batch.n_positive[b, j], n_contexts(b, j, rules, batch)
            pull = push = positive_rate(rate, rules.full_walk, batch.n_pairs[b])
            if batch.is_walk[b]:
                push = negative_rate(pull, n_positive, count - n_positive, sampling.r1)
            coefficients, gradient = batch.coefficients[b, j], batch.gradients[b - leader, j]
            own = probabilities[used : used + count]
            coefficients_of(own, scores[used + count], count, n_positive, pull, push, coefficients)
            if batch.is_walk[b]:
                turn_positive(j, batch.lengths[b], d, sampling.self_pairs, coefficients, turned.around[b - leader])
                for x in range(rules.n_shared):
                    turned.negatives[j, x, b - leader] = coefficients[n_positive + x]
            if b % LOSS_EVERY == 0:
                losses[b] += loss_of(own, n_positive, count, pull, push, rate)
            used += count + 1
            for f in range(len(gradient)):
                gradient[f] = ZERO
            contexts = batch.contexts[b, j]
            add_rows(tables.w, contexts, coefficients, fill_up(contexts, coefficients, count), gradient)
    return used


@exact
def update_contexts(b: np.int64, rules: Rules, tables: Tables, batch: Batch, around: Table) -> None:
    """Change the rows of w that are contexts of one slot, but for negatives that a group shares."""
    e, w = tables.e, tables.w
    path, length, coefficients = batch.paths[b], batch.lengths[b], batch.coefficients[b]
    own = rules.n_label
    if batch.is_walk[b]:
        own = rules.n_own
        for k in range(length):
            # The positions around k are its contexts, and it is theirs; where the list is filled up, factors are 0.
            add_rows(e, batch.contexts[b, k], around[k], (batch.n_positive[b, k] + 3) // 4 * 4, w[path[k]])
    for j in range(length if own else START):
        first = batch.n_positive[b, j] if batch.is_walk[b] else START
        for x in range(first, first + own):
            add_row(e[path[j]], coefficients[j, x], w[batch.contexts[b, j, x]])


@exact
def update_shared_negatives(leader: np.int64, rules: Rules, tables: Tables, batch: Batch, turned: Turned) -> None:
    """Change the rows of w that a group of walks has as negatives; a walk that has ended has factors of 0."""
    shared, count = batch.shared_negatives[leader // rules.group], (rules.group + 3) // 4 * 4
    for j in range(len(shared)):
        for b in range(rules.group):
            turned.centres[b] = batch.paths[leader + b, j]
        for x in range(rules.n_shared):
            add_rows(tables.e, turned.centres, turned.negatives[j, x], count, tables.w[shared[j, x]])


@entry
def update_batch(
    sampling: Sampling, rules: Rules, tables: Tables, rate: np.float32, scores: Nodes, probabilities: Row,
    batch: Batch, turned: Turned, losses: Row,
) -> None:  # fmt: skip
    """Change the own columns of both tables by a batch whose scores are complete; ``probabilities`` is memory."""
    used = START
    to_probabilities(scores, len(scores), probabilities)
    for leader in range(0, len(batch.paths), rules.group):
        turned.around[:] = ZERO
        turned.negatives[:] = ZERO
        used += gradients_of_group(
            leader, sampling, rules, tables, rate, scores[used:], probabilities[used:], batch, turned, losses
        )
        for b in range(leader, leader + rules.group):
            update_contexts(b, rules, tables, batch, turned.around[b - leader])
        update_shared_negatives(leader, rules, tables, batch, turned)
        for b in range(leader, leader + rules.group):
            for j in range(batch.lengths[b]):
                add_row(batch.gradients[b - leader, j], ONE, tables.e[batch.paths[b, j]])
