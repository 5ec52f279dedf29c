"""The innermost loops of the engine: dot products, sums of rows, the logistic function."""

from __future__ import annotations

import numpy as np
from numba import njit

from planetoid.engine.arrays import Nodes, Row, Table
from planetoid.engine.compiling import FAST, INNER, disjoint, exact, fast

__all__ = [
    "F32",
    "add_multiple",
    "add_row",
    "add_rows",
    "add_rows_in_turn",
    "combine_rows",
    "dot",
    "dots",
    "fill_up",
    "sigmoids",
]

F32, I32 = np.float32, np.int32
ZERO, ONE = F32(0), F32(1)

# Of the logistic function: sigma(x) = 1 / (1 + 2^t), t = -x log2(e), where 2^t is put together from an exponent and a
# polynomial in what is left after rounding t. As numbers of their types, so that the kernel converts nothing.
MINUS_LOG2_E, LIMIT, ROUNDING = F32(-1.4426950408889634), F32(43.280851), F32(64.5)
P1, P2, P3 = F32(0.6931471806), F32(0.2402265070), F32(0.0555041087)
P4, P5, P6 = F32(0.0096181291), F32(0.0013333558), F32(0.0001540353)
OFFSET, BIAS, MANTISSA = I32(64), I32(127), I32(23)


@fast
def dot(start: np.floating, a: Row, b: Row) -> np.floating:
    """Return ``start`` plus the dot product of two rows, summed in the precision of ``start``."""
    for f in range(len(a)):
        start += a[f] * b[f]
    return start


@fast
def add_row(row: Row, factor: np.floating, out: Row) -> None:
    """Add a multiple of one row to ``out``."""
    for f in range(len(out)):
        out[f] += factor * row[f]


@fast
def dots(row: Row, table: Table, rows: Nodes, count: np.int64, out: Row) -> None:
    """Score one row against several, four at a time to read it from registers; ``count`` is a multiple of 4."""
    for k in range(0, count, 4):
        r0 = table[rows[k]]
        r1 = table[rows[k + 1]]
        r2 = table[rows[k + 2]]
        r3 = table[rows[k + 3]]
        s0 = s1 = s2 = s3 = ZERO
        for f in range(len(row)):
            x = row[f]
            s0 += x * r0[f]
            s1 += x * r1[f]
            s2 += x * r2[f]
            s3 += x * r3[f]
        out[k] = s0
        out[k + 1] = s1
        out[k + 2] = s2
        out[k + 3] = s3


@fast
def add_rows(table: Table, rows: Nodes, factors: Row, count: np.int64, out: Row) -> None:
    """Add a combination of several rows to ``out``, four at a time; ``count`` is a multiple of 4."""
    for k in range(0, count, 4):
        r0 = table[rows[k]]
        r1 = table[rows[k + 1]]
        r2 = table[rows[k + 2]]
        r3 = table[rows[k + 3]]
        g0 = factors[k]
        g1 = factors[k + 1]
        g2 = factors[k + 2]
        g3 = factors[k + 3]
        for f in range(len(out)):
            out[f] += g0 * r0[f] + g1 * r1[f] + g2 * r2[f] + g3 * r3[f]


@disjoint
def add_multiple(row: Row, factor: np.floating, out: Row) -> None:
    """Add a multiple of one row to ``out``, without fused operations."""
    for f in range(len(out)):
        out[f] += factor * row[f]


@disjoint
def combine_rows(table: Table, factors: Row, out: Row) -> None:
    """Add a combination of all rows of a table to ``out``, four at a time, with the bits of :func:`add_multiple`."""
    in_fours = len(factors) // 4 * 4
    for k in range(0, in_fours, 4):
        r0, r1, r2, r3 = table[k], table[k + 1], table[k + 2], table[k + 3]
        g0, g1, g2, g3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for f in range(len(out)):
            out[f] = (((out[f] + g0 * r0[f]) + g1 * r1[f]) + g2 * r2[f]) + g3 * r3[f]
    for k in range(in_fours, len(factors)):
        add_multiple(table[k], factors[k], out)


@njit(fastmath={"contract"}, **INNER)
def add_rows_in_turn(table: Table, first: np.int64, rows: Nodes, factors: Row, out: Row) -> None:
    """Add a combination of rows, from column ``first`` on, to ``out``, with the bits of :func:`add_row` for each."""
    last = first + len(out)
    in_fours = len(rows) // 4 * 4
    for k in range(0, in_fours, 4):
        r0 = table[rows[k]][first:last]
        r1 = table[rows[k + 1]][first:last]
        r2 = table[rows[k + 2]][first:last]
        r3 = table[rows[k + 3]][first:last]
        g0, g1, g2, g3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for f in range(len(out)):
            out[f] = (((out[f] + g0 * r0[f]) + g1 * r1[f]) + g2 * r2[f]) + g3 * r3[f]
    for k in range(in_fours, len(rows)):
        add_row(table[rows[k]][first:last], factors[k], out)


@exact
def fill_up(rows: Nodes, factors: Row, count: np.int64) -> np.int64:
    """Fill a list of rows up to a multiple of 4 with rows that count nothing; return its new length."""
    for k in range(count, count + 3):
        rows[k] = rows[0]
        factors[k] = ZERO
    return (count + 3) // 4 * 4


@njit(fastmath=FAST - {"reassoc"}, **INNER)
def sigmoids(values: Row, count: np.int64) -> None:
    """Logistic function in place: 2^t as an exponent field times a polynomial, error under 1e-6.

    Integers stay 32 bits wide and the division does not check for zero: only then is the loop vectorised.
    """
    for k in range(count):
        t = values[k] * MINUS_LOG2_E
        t = LIMIT if t > LIMIT else t
        t = -LIMIT if t < -LIMIT else t
        whole = I32(I32(t + ROUNDING) - OFFSET)
        x = t - F32(whole)
        power = ONE + x * (P1 + x * (P2 + x * (P3 + x * (P4 + x * (P5 + x * P6)))))
        scale = I32(I32(whole + BIAS) << MANTISSA).view(np.float32)
        values[k] = ONE / (ONE + power * scale)
