"""Compiled steps on rows that torch computed: the loss of pairs with its gradients, and Adam on a few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from planetoid.engine.loops import FAST

__all__ = ["adam_on_rows", "loss_of_pairs"]


@njit(fastmath=FAST, error_model="numpy", nogil=True, cache=True)
def loss_of_pairs(
    e: Any, place: Any, w: Any, c: Any, slot: Any, gamma: Any, share: Any, gradient_e: Any, gradient_w: Any
) -> Any:
    """Return sum of -share log sigma(gamma w_c . e_i); add its gradients to ``gradient_e`` and ``gradient_w``.

    Row ``place[k]`` of e and row ``c[k]`` of w make pair k; ``slot[k]`` is the row of ``gradient_w`` for that context.
    """
    loss = 0.0
    for k in range(len(place)):
        row, context = e[place[k]], w[c[k]]
        score = row[0] * 0
        for f in range(len(row)):
            score += row[f] * context[f]
        signed = np.float64(gamma[k] * score)
        rest = np.exp(-abs(signed))
        loss += share[k] * (np.log1p(rest) - min(signed, 0.0))
        wrong = (rest if signed > 0 else 1.0) / (1.0 + rest)  # sigma(-signed)
        factor = row.dtype.type(-share[k] * gamma[k] * wrong)
        of_row, of_context = gradient_e[place[k]], gradient_w[slot[k]]
        for f in range(len(row)):
            of_row[f] += factor * context[f]
            of_context[f] += factor * row[f]
    return loss


@njit(fastmath=FAST, error_model="numpy", nogil=True, cache=True)
def adam_on_rows(
    table: Any, mean: Any, square: Any, rows: Any, gradient: Any, rate: Any, beta1: Any, beta2: Any, epsilon: Any,
    step: Any,
) -> None:  # fmt: skip
    """Take one step of Adam on some rows; the others, and what is remembered of them, stay as they are."""
    kind = table.dtype.type
    b1, b2, small = kind(beta1), kind(beta2), kind(epsilon)
    size = kind(rate / (1.0 - beta1**step))
    scale = kind(1.0 / np.sqrt(1.0 - beta2**step))
    one = kind(1)
    for k in range(len(rows)):
        row, m, v, g = table[rows[k]], mean[rows[k]], square[rows[k]], gradient[k]
        for f in range(len(row)):
            m[f] = b1 * m[f] + (one - b1) * g[f]
            v[f] = b2 * v[f] + (one - b2) * g[f] * g[f]
            row[f] -= size * m[f] / (np.sqrt(v[f]) * scale + small)
