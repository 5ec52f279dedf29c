"""The random number generator of the engine: a hash of a counter, with no state.

A usual generator carries its state from one number to the next, so the thousandth number needs the 999 before it. Here
every number is a pure function of four integers::

    seed ─┐
    stream├─ key_of ──► key ─┐
    index ┘                  ├─ bits_at, unit, below ──► 64 random bits, a number in [0, 1) or an integer
                    counter ─┘

*stream* says what is drawn (the constants below), *index* which one of them (the number of a walk, say), and *counter*
which number of that one. So any thread, process or machine can draw any slice of a sequence, in any order, and all get
the same bits; that is what makes results independent of ``n_jobs`` and lets a training go on from a checkpoint.

The hash is the output function of SplitMix64 (Steele, Lea and Flood 2014): a multiple of 2^64 / golden ratio is added
for each counter, and two rounds of xor-shift and multiplication spread every input bit over all 64 output bits.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.compiling import exact

__all__ = [
    "BATCHES", "DROPPED_FEATURES", "DROPPED_UNITS", "KIND", "LABEL_PAIRS", "NEGATIVES", "NEIGHBOURHOODS", "ROW_ORDERS",
    "SHARED_NEGATIVES", "STARTS", "WALKS", "below", "bits_at", "key_of", "mix", "to_unit", "unit",
]  # fmt: skip

U64 = np.uint64
GOLDEN = U64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: successive counters differ in many bits
MIX_1 = U64(0xBF58476D1CE4E5B9)
MIX_2 = U64(0x94D049BB133111EB)
ELEVEN = U64(11)
TO_UNIT = 2.0**-53

# Streams, one for each kind of thing that is drawn, so that no two of them share numbers. They are NumPy integers, or
# numba would compile key_of once for each value.
WALKS, LABEL_PAIRS, STARTS, NEGATIVES, SHARED_NEGATIVES = (np.int64(stream) for stream in (1, 2, 3, 4, 5))
NEIGHBOURHOODS, BATCHES, DROPPED_FEATURES, DROPPED_UNITS = (np.int64(stream) for stream in (6, 7, 8, 9))
ROW_ORDERS = np.int64(10)

# In the stream of walks, the steps of a walk use small counters; what is decided about a walk uses these and beyond.
KIND = np.int64(1 << 40)


@exact
def mix(z: np.uint64) -> np.uint64:
    """Scramble 64 bits so that close inputs give unrelated outputs."""
    z = (z ^ (z >> U64(30))) * MIX_1
    z = (z ^ (z >> U64(27))) * MIX_2
    return z ^ (z >> U64(31))


@exact
def key_of(seed: np.uint64, stream: np.int64, index: np.int64) -> np.uint64:
    """Return the key of one walk, one row of label pairs or one group of negatives."""
    return mix(mix(seed + GOLDEN * U64(stream)) + GOLDEN * U64(index))


@exact
def bits_at(key: np.uint64, counter: np.int64) -> np.uint64:
    """Return the 64 random bits that a key has at a counter."""
    return mix(key + GOLDEN * U64(counter + 1))


@exact
def to_unit(bits: np.uint64) -> float:
    """Turn bits into a number in [0, 1), by their upper 53."""
    return (bits >> ELEVEN) * TO_UNIT


@exact
def unit(key: np.uint64, counter: np.int64) -> float:
    """Return the number in [0, 1) that a key has at a counter."""
    return to_unit(bits_at(key, counter))


@exact
def below(key: np.uint64, counter: np.int64, n: np.int64) -> np.int64:
    """Return the integer in [0, n) that a key has at a counter."""
    return np.int64(unit(key, counter) * n)
