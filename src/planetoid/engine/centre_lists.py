"""The centres that a context is scored against, with their coefficients: what a row of w is changed by."""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Batch, Nodes, Row, Table
from planetoid.engine.compiling import exact
from planetoid.engine.draws import window

__all__ = ["centres_around", "centres_of_negative"]

NONE = np.int64(0)


@exact
def centres_around(
    path: Nodes, k: np.int64, length: np.int64, d: np.int64, self_pairs: bool, coefficients: Table, rows: Nodes,
    factors: Row,
) -> np.int64:  # fmt: skip
    """List the centres around position k of a walk, which is a context of each of them; return how many there are."""
    count = NONE
    low, high = window(k, length, d)
    for j in range(low, high):
        if self_pairs or j != k:
            before = k - window(j, length, d)[0]  # of the positions around j, itself included
            rows[count] = path[j]
            factors[count] = coefficients[j, before if self_pairs or k < j else before - 1]
            count += 1
    return count


@exact
def centres_of_negative(
    batch: Batch, first: np.int64, last: np.int64, j: np.int64, x: np.int64, rows: Nodes, factors: Row
) -> np.int64:
    """List the centres at position j of a group of walks, which share negative x; return how many there are."""
    count = NONE
    for b in range(first, last):
        if batch.is_walk[b] and j < batch.lengths[b]:
            rows[count] = batch.paths[b, j]
            factors[count] = batch.coefficients[b, j, batch.n_positive[b, j] + x]
            count += 1
    return count
