"""Class probabilities of rows by their features alone, in compiled code: for a few rows, calls of NumPy take longer.

A row is scaled, looked up among the known rows by its key, and, if it is not one of them, goes through the network
``softmax(relu(x W1 + b1) W2 + b2 + x direct)``. Sums are taken in the order of the entries.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Nodes, Row, Table
from planetoid.engine.compiling import entry, exact
from planetoid.engine.consistency import softmax
from planetoid.engine.loops import add_multiple

__all__ = ["NORMS", "label_rows", "row_keys"]

F32 = np.float32
ZERO = F32(0.0)
NORMS = {None: 0, "l1": 1, "l2": 2}

Doubles = npt.NDArray[np.float64]


@exact
def norm_of(data: Row, norm: np.int64) -> np.float64:
    """Return what the entries of a row are divided by, as in :func:`planetoid.data.scaling.scale_rows`."""
    if norm == 0:
        return 1.0
    total = 0.0
    for at in range(len(data)):
        total += np.float64(abs(data[at]) if norm == 1 else F32(data[at] * data[at]))
    if norm == 2:
        total = np.sqrt(total)
    return total if total != 0.0 else 1.0


@exact
def key_of_row(indices: Nodes, data: Row, size: np.float64, column_keys: Doubles) -> np.float64:
    """Return the key of a row whose entries are divided by ``size``."""
    key = 0.0
    for at in range(len(data)):
        key += np.float64(F32(data[at] / size)) * column_keys[indices[at]]
    return key


@exact
def place_of(key: np.float64, keys: Doubles) -> np.int64:
    """Return the place of a key among sorted ones, or -1."""
    low, high = np.int64(0), np.int64(len(keys))
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else np.int64(-1)


@entry
def row_keys(indptr: Integers, indices: Nodes, data: Row, column_keys: Doubles, keys: Doubles) -> None:
    """Set the key of each row."""
    for row in range(len(keys)):
        first, last = indptr[row], indptr[row + 1]
        keys[row] = key_of_row(indices[first:last], data[first:last], 1.0, column_keys)


@entry
def label_rows(
    indptr: Integers, indices: Nodes, data: Row, norm: int, column_keys: Doubles, keys: Doubles, known: Table,
    W1: Table, b1: Row, W2: Table, b2: Row, direct: Table, hidden: Row, found: Table,
) -> None:  # fmt: skip
    """Set the class probabilities of rows: those of the known row with the same key, or those of the network."""
    for row in range(len(found)):
        first, last = indptr[row], indptr[row + 1]
        size = norm_of(data[first:last], norm)
        if first < last:
            place = place_of(key_of_row(indices[first:last], data[first:last], size, column_keys), keys)
            if place >= 0:
                for k in range(known.shape[1]):
                    found[row, k] = known[place, k]
                continue
        for f in range(len(hidden)):
            hidden[f] = ZERO
        scores = found[row]
        for k in range(len(scores)):
            scores[k] = b2[k]
        for at in range(first, last):
            value = F32(data[at] / size)
            add_multiple(W1[indices[at]], value, hidden)
            add_multiple(direct[indices[at]], value, scores)
        for f in range(len(hidden)):
            value = hidden[f] + b1[f]
            if value > ZERO:
                add_multiple(W2[f], value, scores)
        softmax(scores)
