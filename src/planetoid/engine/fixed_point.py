"""Dot products in fixed point: integers, whose sum is the same in any order and over any split of the columns.

A product x y of two floats is rounded to a multiple of 2^-18 by adding 1.5 2^23 to it in units of that: what is left of
the sum's fraction, read as bits, is the integer, with a constant on top. So a column costs a multiplication and two
additions, all of which run in vector registers, and whoever adds up the columns, in whatever order, gets the same 32
bits. Products up to 16 and scores up to 8,000 fit; beyond, they stay large, which is all that a logistic function sees.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Nodes, Row, Table
from planetoid.engine.compiling import exact

__all__ = ["UNIT", "fixed_dot", "fixed_dots", "scale_up"]

F32, I32 = np.float32, np.int32
FRACTION_BITS = 18
TO_FIXED, UNIT = F32(2.0**FRACTION_BITS), F32(2.0**-FRACTION_BITS)
ROUNDING = F32(1.5 * 2.0**23)
BITS_OF_ROUNDING = I32(ROUNDING.view(np.int32))
NOTHING = I32(0)


@exact
def scale_up(row: Row, out: Row) -> None:
    """Write a row in units of the fixed point; a power of two changes no digit."""
    for f in range(len(row)):
        out[f] = row[f] * TO_FIXED


@exact
def fixed_dot(scaled: Row, row: Row) -> np.int32:
    """Return the dot product of a scaled row and another one, in units of 2^-18."""
    total = NOTHING
    for f in range(len(scaled)):
        rounded = F32(F32(scaled[f] * row[f]) + ROUNDING)
        total = I32(total + I32(rounded.view(np.int32) - BITS_OF_ROUNDING))
    return total


@exact
def fixed_dots(scaled: Row, table: Table, rows: Nodes, count: np.int64, out: Nodes) -> None:
    """Score a scaled row against several, four at a time to read it from registers; ``count`` is a multiple of 4."""
    surplus = I32(I32(len(scaled)) * BITS_OF_ROUNDING)
    for k in range(0, count, 4):
        r0 = table[rows[k]]
        r1 = table[rows[k + 1]]
        r2 = table[rows[k + 2]]
        r3 = table[rows[k + 3]]
        s0 = s1 = s2 = s3 = NOTHING
        for f in range(len(scaled)):
            x = scaled[f]
            s0 = I32(s0 + F32(F32(x * r0[f]) + ROUNDING).view(np.int32))
            s1 = I32(s1 + F32(F32(x * r1[f]) + ROUNDING).view(np.int32))
            s2 = I32(s2 + F32(F32(x * r2[f]) + ROUNDING).view(np.int32))
            s3 = I32(s3 + F32(F32(x * r3[f]) + ROUNDING).view(np.int32))
        out[k] = I32(s0 - surplus)
        out[k + 1] = I32(s1 - surplus)
        out[k + 2] = I32(s2 - surplus)
        out[k + 3] = I32(s3 - surplus)
