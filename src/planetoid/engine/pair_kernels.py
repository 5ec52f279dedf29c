"""Compiled steps on rows that torch computed: Equation 3 for a list of pairs, Adam on a few rows, a sparse gradient.

The fused steps of :mod:`planetoid.engine.steps` and this loss share the loops over rows
(:mod:`planetoid.engine.loops`). They differ in the logistic function: there a polynomial in float32, for speed; here
the exact one in double precision, because autograd takes this loss on to a network, and its tests compare it with
numerical derivatives.

Processes that divide the columns compute the same loss in two steps: each scores the pairs on its own columns
(:func:`score_pairs`), the scores are added up, and then each has the gradients of its columns
(:func:`loss_of_scored_pairs`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Nodes, Row, Signs, Table
from planetoid.engine.compiling import entry, fast, fast_entry
from planetoid.engine.fixed_point import UNIT, fixed_dot, scale_up
from planetoid.engine.loops import add_row, dot
from planetoid.engine.prefetch import prefetch

__all__ = ["adam_on_rows", "add_transposed_product", "loss_of_pairs", "loss_of_scored_pairs", "score_pairs"]

AHEAD = 6  # rows that are on their way while one is computed

Floats = npt.NDArray[np.floating]


@fast
def logistic_loss(score: float) -> tuple[float, float]:
    """Return -log sigma(score), and sigma(-score)."""
    rest = np.exp(-abs(score))
    return np.log1p(rest) - min(score, 0.0), (rest if score > 0 else 1.0) / (1.0 + rest)


@fast_entry
def loss_of_pairs(
    e: Floats, row: Integers, w: Floats, c: Integers, slot: Integers, gamma: Signs, share: Row, gradient_e: Floats,
    gradient_w: Floats,
) -> float:  # fmt: skip
    """Return the sum of -share log sigma(gamma w_c . e_i); add its gradients to ``gradient_e`` and ``gradient_w``.

    Row ``row[k]`` of e and row ``c[k]`` of w make pair k; ``slot[k]`` is the row of ``gradient_w`` for that context.
    """
    loss = 0.0
    for k in range(len(row)):
        prefetch(w, c[min(k + AHEAD, len(row) - 1)])
        centre, context = e[row[k]], w[c[k]]
        score = gamma[k] * dot(centre.dtype.type(0), centre, context)
        value, slope = logistic_loss(score)
        loss += share[k] * value
        factor = centre.dtype.type(-share[k] * gamma[k] * slope)
        add_row(context, factor, gradient_e[row[k]])
        add_row(centre, factor, gradient_w[slot[k]])
    return loss


@entry
def score_pairs(e: Table, row: Integers, w: Table, c: Integers, scaled: Table, scores: Nodes) -> None:
    """Set the scores w_c . e_i of pairs on some columns, in fixed point; ``scaled`` is memory of the shape of e."""
    for i in range(len(e)):
        scale_up(e[i], scaled[i])
    for k in range(len(row)):
        scores[k] = fixed_dot(scaled[row[k]], w[c[k]])


@entry
def loss_of_scored_pairs(
    scores: Nodes, e: Table, row: Integers, w: Table, c: Integers, slot: Integers, gamma: Signs, share: Row,
    gradient_e: Table, gradient_w: Table,
) -> float:  # fmt: skip
    """Do as :func:`loss_of_pairs` on some columns, for pairs whose scores on all columns are known."""
    loss = 0.0
    for k in range(len(row)):
        score = gamma[k] * np.float64(scores[k]) * UNIT
        value, slope = logistic_loss(score)
        loss += share[k] * value
        factor = np.float32(-share[k] * gamma[k] * slope)
        add_row(w[c[k]], factor, gradient_e[row[k]])
        add_row(e[row[k]], factor, gradient_w[slot[k]])
    return loss


@fast_entry
def adam_on_rows(
    table: Floats, mean: Floats, square: Floats, rows: Integers, gradient: Floats, rate: float, beta1: float,
    beta2: float, epsilon: float, step: int,
) -> None:  # fmt: skip
    """Take one step of Adam on some rows; the others, and their moments, stay as they are."""
    kind = table.dtype.type
    b1, b2, small = kind(beta1), kind(beta2), kind(epsilon)
    size = kind(rate / (1.0 - beta1**step))
    scale = kind(1.0 / np.sqrt(1.0 - beta2**step))
    one = kind(1)
    for k in range(len(rows)):
        ahead = rows[min(k + AHEAD, len(rows) - 1)]
        for memory in (table, mean, square):
            prefetch(memory, ahead)
        row, m, v, g = table[rows[k]], mean[rows[k]], square[rows[k]], gradient[k]
        for f in range(len(row)):
            m[f] = b1 * m[f] + (one - b1) * g[f]
            v[f] = b2 * v[f] + (one - b2) * g[f] * g[f]
            row[f] -= size * m[f] / (np.sqrt(v[f]) * scale + small)


@fast_entry
def add_transposed_product(columns: Integers, starts: Integers, values: Row, rows: Floats, out: Floats) -> None:
    """Add ``X^T rows`` to ``out``, for the rows of a sparse X that begin at ``starts``, in their order."""
    for r in range(len(starts)):
        row = rows[r]
        for k in range(starts[r], starts[r + 1] if r + 1 < len(starts) else len(columns)):
            total, value = out[columns[k]], values[k]
            for f in range(len(row)):
                total[f] += value * row[f]
