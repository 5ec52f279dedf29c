"""Skip-gram training as Algorithms 1 and 2 print it: one pair per walk, a step on each batch of N2 such pairs.

Unlike :mod:`planetoid.engine.steps`, this is plain SGD: no gradient is cut, so too large a learning rate diverges.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Pairs, RateSchedule, Row, Sampling, Table, Tables, WalkBlock
from planetoid.engine.compiling import fast_entry
from planetoid.engine.loops import add_row, dot
from planetoid.engine.pair_lists import one_pair_per_walk
from planetoid.engine.prefetch import NEAR, prefetch
from planetoid.engine.steps import rate_at

__all__ = ["train_on_single_pairs"]

AHEAD = 8  # pairs whose rows are on their way while one is computed


@fast_entry
def train_on_single_pairs(
    sampling: Sampling, tables: Tables, schedule: RateSchedule,
    walks: WalkBlock, pairs: Pairs, steps: Row, gradients: Table,
) -> float:  # fmt: skip
    """Take a step on each batch of ``len(pairs.i)`` pairs; return the sum of all losses.

    All scores and gradients of a batch are taken from the tables as they were before it.
    """
    e, w, size = tables.e, tables.w, len(pairs.i)
    total, far = 0.0, e.size > NEAR
    for number in range(schedule.first, schedule.last):
        one_pair_per_walk(sampling, number * size, walks, pairs)
        rate = rate_at(number, schedule)
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
            for f in range(e.shape[1]):
                gradients[k, f] = steps[k] * w[c, f]
        for k in range(size):
            if pairs.c[k] >= tables.frozen:
                add_row(e[pairs.i[k]], steps[k], w[pairs.c[k]])
        for k in range(size):
            if pairs.i[k] >= tables.frozen:
                add_row(gradients[k], np.float32(1), e[pairs.i[k]])
    return total
