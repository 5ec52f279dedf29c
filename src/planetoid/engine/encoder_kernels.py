"""Compiled parts of a step on L_u through one layer on sparse rows: the rows, the layer forward and back, numbering.

Planetoid-I takes thousands of such steps, each so small that calls of torch would take most of the time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Nodes, Row, Table
from planetoid.engine.compiling import entry, fast_entry
from planetoid.engine.loops import add_row, add_rows

__all__ = ["LINEAR", "RELU", "TANH", "Numbering", "add_to_rows", "back_through_layer", "copy_rows", "encode_rows"]

LINEAR, RELU, TANH = 0, 1, 2
UNSEEN = np.int32(-1)
ZERO = np.float32(0)


@entry
def copy_rows(
    indptr: Nodes | Integers, indices: Nodes | Integers, data: npt.NDArray[np.floating], rows: Nodes | Integers,
    starts: Nodes | Integers, columns: Nodes | Integers, values: npt.NDArray[np.floating],
) -> None:  # fmt: skip
    """Copy the entries of some rows of a CSR matrix, one row after the other from ``starts`` on."""
    for r in range(len(rows)):
        first, start = indptr[rows[r]], starts[r]
        for k in range(indptr[rows[r] + 1] - first):
            columns[start + k] = indices[first + k]
            values[start + k] = data[first + k]


@fast_entry
def encode_rows(
    columns: Nodes | Integers, starts: Nodes | Integers, values: Row, weight: Table, bias: Row, activation: int,
    out: Table,
) -> None:  # fmt: skip
    """Set ``out`` to activation(X weight + bias), for the rows of a sparse X that begin at ``starts``."""
    for r in range(len(starts)):
        row = out[r]
        for f in range(len(row)):
            row[f] = bias[f]
        first, last = starts[r], starts[r + 1] if r + 1 < len(starts) else len(columns)
        in_fours = (last - first) // 4 * 4
        add_rows(weight, columns[first:last], values[first:last], in_fours, row)
        for k in range(first + in_fours, last):
            add_row(weight[columns[k]], values[k], row)
        if activation == RELU:
            for f in range(len(row)):
                row[f] = max(row[f], ZERO)
        elif activation == TANH:
            for f in range(len(row)):
                row[f] = np.tanh(row[f])


@fast_entry
def back_through_layer(e: Table, activation: int, gradient: Table, of_bias: Row) -> None:
    """Turn the gradient of the output e into that of the activation's input; add its sum to ``of_bias``."""
    for r in range(len(e)):
        for f in range(e.shape[1]):
            if activation == RELU:
                gradient[r, f] = gradient[r, f] if e[r, f] > ZERO else ZERO
            elif activation == TANH:
                gradient[r, f] *= np.float32(1) - e[r, f] * e[r, f]
            of_bias[f] += gradient[r, f]


@fast_entry
def add_to_rows(table: Table, factor: np.float32, rows: Integers, out: Table) -> None:
    """Add a multiple of each row of a table to one of the rows of ``out``."""
    for k in range(len(rows)):
        add_row(table[k], factor, out[rows[k]])


@entry
def _collect(values: Nodes | Integers, numbers: Nodes, found: Integers) -> int:
    """Write the distinct values to ``found``; return how many. ``numbers`` is -1 before, and 0 at these after."""
    count = 0
    for k in range(len(values)):
        if numbers[values[k]] == UNSEEN:
            numbers[values[k]] = 0
            found[count] = values[k]
            count += 1
    return count


@entry
def _look_up(values: Nodes | Integers, distinct: Integers, numbers: Nodes, out: Integers) -> None:
    """Set ``out`` to the position of each value among the distinct ones; ``numbers`` is -1 again after."""
    for k in range(len(distinct)):
        numbers[distinct[k]] = k
    for k in range(len(values)):
        out[k] = numbers[values[k]]
    for k in range(len(distinct)):
        numbers[distinct[k]] = UNSEEN


class Numbering:
    """Numbers the distinct values of an array, like ``np.unique`` with its inverse, without sorting all of them.

    Parameters
    ----------
    size : int
        All values are below this.

    Examples
    --------
    >>> distinct, inverse = Numbering(10)(np.array([7, 3, 7]))
    >>> distinct.tolist(), inverse.tolist()
    ([3, 7], [1, 0, 1])
    """

    def __init__(self, size: int) -> None:
        self._numbers = np.full(size, UNSEEN)

    def __call__(self, values: Nodes | Integers) -> tuple[Integers, Integers]:
        found, inverse = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
        distinct = np.sort(found[: _collect(values, self._numbers, found)])
        _look_up(values, distinct, self._numbers, inverse)
        return distinct, inverse
