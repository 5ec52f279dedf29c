"""Skip-gram training as Algorithms 1 and 2 print it: one pair per walk, a step on each batch of N2 such pairs.

Unlike :mod:`planetoid.engine.steps`, this is plain SGD: no gradient is cut, so too large a learning rate diverges.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Pairs, RateSchedule, Row, Sampling, Table, Tables, WalkBlock
from planetoid.engine.compiling import exact, fast, fast_entry
from planetoid.engine.loops import add_row, dot
from planetoid.engine.pair_lists import one_pair_per_walk
from planetoid.engine.prefetch import NEAR, prefetch
from planetoid.engine.sampler import empty_pairs
from planetoid.engine.steps import rate_at

__all__ = ["Memory", "train_on_single_pairs"]

AHEAD = 8  # pairs whose rows are on their way while one is computed
SLOTS = 1 << 13  # in which the rows of a batch are counted; few of them share one

Counts: TypeAlias = npt.NDArray[np.uint8]


class Memory(NamedTuple):
    """The memory of a batch."""

    pairs: Pairs
    steps: Row  # (pair): how far its rows move
    of_i: Counts  # (slot): rows of e in it, up to two
    of_c: Counts  # and of w
    shared: Integers  # pairs that share a row with another one
    gradients: Table  # (shared pair, column): of e
    gradient: Row  # of a pair that shares none

    @classmethod
    def empty(cls, size: int, dimension: int) -> Memory:
        """Return memory for batches of ``size`` pairs."""
        return cls(
            pairs=empty_pairs(size),
            steps=np.empty(size, np.float32),
            of_i=np.empty(SLOTS, np.uint8),
            of_c=np.empty(SLOTS, np.uint8),
            shared=np.empty(size, np.int64),
            gradients=np.empty((size, dimension), np.float32),
            gradient=np.empty(dimension, np.float32),
        )


@exact
def count_rows(rows: Integers, counts: Counts) -> None:
    """Count, up to two, the rows that fall in each slot."""
    counts[:] = 0
    for row in rows:
        counts[row % SLOTS] = min(counts[row % SLOTS] + 1, 2)


@fast
def set_multiple(row: Row, factor: np.floating, out: Row) -> None:
    """Set ``out`` to a multiple of a row."""
    for f in range(len(out)):
        out[f] = factor * row[f]


@fast_entry
def train_on_single_pairs(
    sampling: Sampling, tables: Tables, schedule: RateSchedule, walks: WalkBlock, memory: Memory
) -> float:
    """Take a step on each batch of as many pairs as there is memory for; return the sum of all losses.

    All scores and gradients of a batch are taken from the tables as they were before it. Most pairs share no row with
    another one: their rows change at once, while they are at hand; those of the others after the last score.
    """
    (e, w, frozen), (pairs, steps, of_i, of_c, shared, gradients, gradient) = tables, memory
    size, total, far = len(steps), 0.0, e.size > NEAR
    for number in range(schedule.first, schedule.last):
        one_pair_per_walk(sampling, number * size, walks, pairs)
        count_rows(pairs.i, of_i)
        count_rows(pairs.c, of_c)
        rate = rate_at(number, schedule)
        n_shared = 0
        for k in range(size):
            if far:
                ahead = min(k + AHEAD, size - 1)
                prefetch(e, pairs.i[ahead])
                prefetch(w, pairs.c[ahead])
            i, c, gamma = pairs.i[k], pairs.c[k], pairs.gamma[k]
            score = gamma * dot(0.0, e[i], w[c])
            rest = np.exp(-abs(score))
            total += np.log1p(rest) - min(score, 0.0)
            steps[k] = rate * gamma * (rest if score > 0 else 1.0) / (1.0 + rest)  # rate * gamma * sigma(-score)
            if of_i[i % SLOTS] + of_c[c % SLOTS] == 2:
                set_multiple(w[c], steps[k], gradient)
                if c >= frozen:
                    add_row(e[i], steps[k], w[c])
                if i >= frozen:
                    add_row(gradient, np.float32(1), e[i])
            else:
                set_multiple(w[c], steps[k], gradients[n_shared])
                shared[n_shared] = k
                n_shared += 1
        for x in range(n_shared):
            k = shared[x]
            if pairs.c[k] >= frozen:
                add_row(e[pairs.i[k]], steps[k], w[pairs.c[k]])
        for x in range(n_shared):
            i = pairs.i[shared[x]]
            if i >= frozen:
                add_row(gradients[x], np.float32(1), e[i])
    return total
