"""The innermost loops of the engine: dot products, sums of rows, the logistic function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["F32", "FAST", "add_row", "add_rows", "dots", "filled_up", "sigmoids"]

F32, I32 = np.float32, np.int32
# Sums may be reordered and fused, which lets them run in vector registers; NaN and infinity stay exact.
FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(fastmath=FAST, error_model="numpy")
def dots(row: Any, table: Any, rows: Any, count: Any, out: Any) -> None:
    """Score one row against several, four at a time to read it from registers; ``count`` is a multiple of 4."""
    for k in range(0, count, 4):
        r0, r1, r2, r3 = table[rows[k]], table[rows[k + 1]], table[rows[k + 2]], table[rows[k + 3]]
        s0 = s1 = s2 = s3 = F32(0)
        for f in range(len(row)):
            x = row[f]
            s0 += x * r0[f]
            s1 += x * r1[f]
            s2 += x * r2[f]
            s3 += x * r3[f]
        out[k], out[k + 1], out[k + 2], out[k + 3] = s0, s1, s2, s3


@njit(fastmath=FAST, error_model="numpy")
def add_rows(table: Any, rows: Any, factors: Any, count: Any, out: Any) -> None:
    """Add a combination of several rows to ``out``, four at a time; ``count`` is a multiple of 4."""
    for k in range(0, count, 4):
        r0, r1, r2, r3 = table[rows[k]], table[rows[k + 1]], table[rows[k + 2]], table[rows[k + 3]]
        g0, g1, g2, g3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for f in range(len(out)):
            out[f] += g0 * r0[f] + g1 * r1[f] + g2 * r2[f] + g3 * r3[f]


@njit(fastmath=FAST, error_model="numpy")
def add_row(row: Any, factor: Any, out: Any) -> None:
    """Add a multiple of one row to ``out``."""
    for f in range(len(out)):
        out[f] += factor * row[f]


@njit(error_model="numpy")
def filled_up(rows: Any, factors: Any, count: Any) -> Any:
    """Fill a list of rows up to a multiple of 4 with rows that count nothing."""
    while count % 4:
        rows[count], factors[count] = rows[0], F32(0)
        count += 1
    return count


@njit(fastmath=FAST - {"reassoc"}, error_model="numpy", cache=True)
def sigmoids(values: Any, count: Any) -> None:
    """Logistic function in place: 2^t as an exponent field times a polynomial, error under 1e-6.

    Whole numbers stay 32 bits wide and a division asks nothing of its divisor: only then is the loop a vector's.
    """
    for k in range(count):
        t = values[k] * F32(-1.4426950408889634)
        t = F32(43.280851) if t > F32(43.280851) else t
        t = F32(-43.280851) if t < F32(-43.280851) else t
        whole = I32(I32(t + F32(64.5)) - I32(64))
        x = t - F32(whole)
        power = F32(1.0) + x * (
            F32(0.6931471806)
            + x
            * (
                F32(0.2402265070)
                + x * (F32(0.0555041087) + x * (F32(0.0096181291) + x * (F32(0.0013333558) + x * F32(0.0001540353))))
            )
        )
        scale = I32(I32(whole + I32(127)) << I32(23)).view(np.float32)
        values[k] = F32(1) / (F32(1) + power * scale)
