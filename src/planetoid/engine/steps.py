"""Skip-gram steps: stochastic gradient descent on Equation 3, L_u = -E log sigma(gamma w_c . e_i), in compiled code.

A batch is a number of slots (:mod:`planetoid.engine.slots`). Every position of a walk is a centre i, and the positions
around it are its contexts c. All scores of a batch are taken from the tables as they were before it, then all gradients
are added: plain mini-batch SGD. Three phases, each over rows that belong to one thread alone, in an order that does not
depend on the number of threads, so the result is the same bit for bit:

1. ``draw_and_score`` (threads share the slots): draw, score, keep the coefficient of every pair and the gradient of
   every centre;
2. ``update_contexts`` (threads share the rows of w);
3. ``update_centres`` (threads share the rows of e).

The walks of a group share their negatives: the centres at position j of all of them, which have nothing to do with each
other, are set against the same ``n_shared`` nodes, drawn uniformly. So a negative row is read once for a group.
(Sharing among successive positions of one walk would be as cheap, but those are near each other in the graph, and
pushing one node away from all of them at once makes worse embeddings.)
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Batch, Integers, Nodes, RateSchedule, Row, Rules, Sampling, Table, Tables
from planetoid.engine.barrier import barrier
from planetoid.engine.centre_lists import centres_around, centres_of_negative
from planetoid.engine.compiling import exact, fast, fast_entry
from planetoid.engine.loops import F32, ONE, ZERO, add_row, add_rows, dot, dots, fill_up, sigmoids
from planetoid.engine.prefetch import NEAR, prefetch
from planetoid.engine.slots import draw_slots

__all__ = ["LOSS_EVERY", "MAX_SCORE_STEP", "train"]

MAX_SCORE_STEP = F32(1.0)
LOSS_EVERY = 4  # slots
TINY, SMALLEST = F32(1e-12), 1e-300


@exact
def rate_at(number: np.int64, schedule: RateSchedule) -> np.float32:
    """Return the learning rate of a batch."""
    return F32(schedule.first_rate + (schedule.last_rate - schedule.first_rate) * (number / schedule.total))


@exact
def negative_rate(pull: np.float32, n_positive: np.int64, n_negative: np.int64, r1: float) -> np.float32:
    """Return the learning rate of a negative pair: together they weigh (1 - r1) / r1 times the positive ones."""
    return F32(pull * n_positive * (1.0 - r1) / (r1 * n_negative)) if n_negative else pull


@exact
def positive_rate(rate: np.float32, full_walk: np.int64, n_pairs: float) -> np.float32:
    """Return the learning rate of a positive pair; where a slot has fewer pairs than a full walk, each weighs more."""
    return F32(rate * full_walk / n_pairs)


@exact
def loss_of(
    probabilities: Row, n_positive: np.int64, count: np.int64, pull: np.float32, push: np.float32, rate: np.float32
) -> float:
    """Return the weighted sum of -log sigma(gamma score); a product takes one logarithm instead of many."""
    right = wrong = 1.0
    for k in range(count):
        p = probabilities[k] if k < n_positive else ONE - probabilities[k]
        p = TINY if p < TINY else p
        if k < n_positive:
            right *= p
        else:
            wrong *= p
    right = SMALLEST if right < SMALLEST else right
    wrong = SMALLEST if wrong < SMALLEST else wrong
    return -(np.log(right) * pull + np.log(wrong) * push) / rate


@fast
def score_centre(
    row: Row, w: Table, contexts: Nodes, n_positive: np.int64, count: np.int64, pull: np.float32, push: np.float32,
    rate: np.float32, measured: bool, coefficients: Row, gradient: Row,
) -> float:  # fmt: skip
    """Score one centre against its contexts, positive ones first; keep coefficients and gradient, return the loss.

    ``pull`` and ``push`` are the learning rates of a positive and of a negative pair.
    """
    padded = fill_up(contexts, coefficients, count)
    dots(row, w, contexts, padded, coefficients)
    sigmoids(coefficients, padded)
    loss = loss_of(coefficients, n_positive, count, pull, push, rate) if measured else 0.0
    most = MAX_SCORE_STEP / dot(TINY, row, row)
    for k in range(padded):
        p = coefficients[k]
        step = pull - pull * p if k < n_positive else push * p
        step = most if step > most else step
        coefficients[k] = step if k < n_positive else -step if k < count else ZERO
    for f in range(len(gradient)):
        gradient[f] = ZERO
    add_rows(w, contexts, coefficients, padded, gradient)
    return loss


@fast
def score_slots(
    first: np.int64, last: np.int64, r1: float, d: np.int64, rules: Rules, tables: Tables, rate: np.float32,
    batch: Batch, losses: Row,
) -> None:  # fmt: skip
    """Score the centres of a range of slots."""
    e, w = tables.e, tables.w
    group, n_negative = rules.group, rules.n_shared + rules.n_own
    q = batch.paths.shape[1]
    far = w.size > NEAR
    # Position by position through the walks of a group, so that their shared negatives stay in the nearest cache.
    for leader in range(first, last, group):
        for j in range(q):
            for b in range(leader, leader + group):
                path, length = batch.paths[b], batch.lengths[b]
                if j >= length:
                    continue
                if far and j + 1 < length:  # ask for the rows of the next position; a group divides its negatives
                    prefetch(e, path[j + 1])
                    prefetch(w, path[min(j + d, length - 1)])
                    shared = batch.shared_negatives[leader // group, j + 1]
                    for x in range(b - leader, len(shared), group):
                        prefetch(w, shared[x])
                n_positive, count = batch.n_positive[b, j], rules.n_label
                pull = push = positive_rate(rate, rules.full_walk, batch.n_pairs[b])
                if batch.is_walk[b]:
                    count = n_positive + n_negative
                    push = negative_rate(pull, n_positive, n_negative, r1)
                losses[b] += score_centre(
                    e[path[j]], w, batch.contexts[b, j], n_positive, count, pull, push, rate, b % LOSS_EVERY == 0,
                    batch.coefficients[b, j], batch.gradients[b, j],
                )  # fmt: skip


@exact
def owns(thread: np.int64, n_threads: np.int64, row: np.int64, frozen: np.int64) -> bool:
    """Tell whether a row may be changed, and by this thread."""
    return (n_threads == 1 or row % n_threads == thread) and row >= frozen


@fast
def update_contexts(
    thread: np.int64, n_threads: np.int64, d: np.int64, self_pairs: bool, rules: Rules, tables: Tables, batch: Batch
) -> None:
    """Change the rows of w that belong to one thread: those of walks and label pairs, slot by slot."""
    e, w, frozen = tables.e, tables.w, tables.frozen
    rows, factors = batch.rows[thread], batch.factors[thread]
    far = w.size > NEAR
    for b in range(len(batch.paths)):
        path, length, coefficients = batch.paths[b], batch.lengths[b], batch.coefficients[b]
        n_contexts = rules.n_label
        if batch.is_walk[b]:
            n_contexts = rules.n_own
            for k in range(length):
                c = path[k]
                if far:
                    prefetch(w, path[min(k + 2, length - 1)])
                    prefetch(e, path[min(k + 1 + d, length - 1)])
                if owns(thread, n_threads, c, frozen):
                    count = centres_around(path, k, length, d, self_pairs, coefficients, rows, factors)
                    add_rows(e, rows, factors, fill_up(rows, factors, count), w[c])
        for j in range(length if n_contexts else 0):
            first = batch.n_positive[b, j] if batch.is_walk[b] else 0
            for x in range(first, first + n_contexts):
                c = batch.contexts[b, j, x]
                if owns(thread, n_threads, c, frozen):
                    add_row(e[path[j]], coefficients[j, x], w[c])


@fast
def update_shared_negatives(
    thread: np.int64, n_threads: np.int64, n_shared: np.int64, group: np.int64, tables: Tables, batch: Batch
) -> None:
    """Change the rows of w that belong to one thread: those of negatives that a group of walks shares."""
    e, w, frozen = tables.e, tables.w, tables.frozen
    rows, factors = batch.rows[thread], batch.factors[thread]
    far = w.size > NEAR
    for number in range(len(batch.shared_negatives)):
        shared = batch.shared_negatives[number]
        for j in range(len(shared)):
            for x in range(n_shared):
                c = shared[j, x]
                if far:
                    prefetch(w, shared[min(j + 1, len(shared) - 1), x])
                if owns(thread, n_threads, c, frozen):
                    first, last = number * group, (number + 1) * group
                    count = centres_of_negative(batch, first, last, j, x, rows, factors)
                    if count == 1:
                        add_row(e[rows[0]], factors[0], w[c])
                    else:
                        add_rows(e, rows, factors, fill_up(rows, factors, count), w[c])


@fast
def update_centres(thread: np.int64, n_threads: np.int64, tables: Tables, batch: Batch) -> None:
    """Change the rows of e that belong to one thread."""
    e = tables.e
    far = e.size > NEAR
    for b in range(len(batch.paths)):
        path, length = batch.paths[b], batch.lengths[b]
        for j in range(length):
            i = path[j]
            if far:
                prefetch(e, path[min(j + 4, length - 1)])
            if owns(thread, n_threads, i, tables.frozen):
                add_row(batch.gradients[b, j], ONE, e[i])


@fast_entry
def train(
    thread: int, n_threads: int, arrivals: Integers, sampling: Sampling, rules: Rules, tables: Tables,
    schedule: RateSchedule, batch: Batch, losses: Table,
) -> None:  # fmt: skip
    """Train on the batches of a schedule; called once in each thread."""
    d, self_pairs = sampling.d, sampling.self_pairs
    n_slots, n_groups = len(batch.paths), len(batch.shared_negatives)
    first = thread * n_groups // n_threads * rules.group
    last = (thread + 1) * n_groups // n_threads * rules.group
    for number in range(schedule.first, schedule.last):
        rate = rate_at(number, schedule)
        draw_slots(first, last, number * n_slots, sampling, rules, batch)
        score_slots(first, last, sampling.r1, d, rules, tables, rate, batch, losses[number - schedule.first])
        barrier(arrivals, n_threads)
        update_contexts(thread, n_threads, d, self_pairs, rules, tables, batch)
        update_shared_negatives(thread, n_threads, rules.n_shared, rules.group, tables, batch)
        barrier(arrivals, n_threads)
        update_centres(thread, n_threads, tables, batch)
        barrier(arrivals, n_threads)
