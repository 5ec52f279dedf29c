"""The loops that methods on labels and edges spend their time in.

A row is summed in the order of its entries by one thread, and sums over rows
are taken block by block, so no result depends on the number of threads.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import uintp

from planetoid.engine.compiling import cached_njit, entry
from planetoid.engine.generator import ROW_ORDERS, below, key_of

__all__ = [
    "descend_dual", "peel_trees", "plant_trees", "propagate_rows", "step_rows", "turn_rows", "visit_nodes",
    "weigh_rows",
]  # fmt: skip

Integers = npt.NDArray[np.integer]
Floats = npt.NDArray[np.floating]

ROWS_IN_CACHE = 512


@cached_njit(nogil=True)
def _multiply(
    indptr: Integers, indices: Integers, weights: Floats, values: Floats, product: Floats, start: int, stop: int
) -> None:
    """Set ``product = A @ values`` in rows ``start..stop``.

    Four sums in registers and unsigned indices (no test for negative ones) make
    this as fast as memory allows.
    """
    one, two, three, four = uintp(1), uintp(2), uintp(3), uintp(4)
    columns = uintp(values.shape[1])
    in_fours = columns - columns % four
    for i in range(uintp(start), uintp(stop)):
        for c in range(uintp(0), in_fours, four):
            sum_0 = sum_1 = sum_2 = sum_3 = np.float32(0.0)
            for at in range(uintp(indptr[i]), uintp(indptr[i + one])):
                j = uintp(indices[at])
                weight = weights[at]
                sum_0 += weight * values[j, c]
                sum_1 += weight * values[j, c + one]
                sum_2 += weight * values[j, c + two]
                sum_3 += weight * values[j, c + three]
            product[i, c] = sum_0
            product[i, c + one] = sum_1
            product[i, c + two] = sum_2
            product[i, c + three] = sum_3
        for c in range(in_fours, columns):
            sum_0 = np.float32(0.0)
            for at in range(uintp(indptr[i]), uintp(indptr[i + one])):
                sum_0 += weights[at] * values[uintp(indices[at]), c]
            product[i, c] = sum_0


@cached_njit(nogil=True, fastmath={"nnan", "nsz"})  # lets the maximum be vectorised; changes no sum
def propagate_rows(
    indptr: Integers,
    indices: Integers,
    weights: Floats,
    scale: Floats,
    bias: Floats,
    old: Floats,
    new: Floats,
    start: int,
    stop: int,
) -> float:
    """Set ``new = scale * (A @ old) + bias`` in rows ``start..stop``; return the largest change."""
    largest = np.float32(0.0)
    for begin in range(start, stop, ROWS_IN_CACHE):
        end = min(begin + ROWS_IN_CACHE, stop)
        _multiply(indptr, indices, weights, old, new, begin, end)
        for i in range(uintp(begin), uintp(end)):
            for c in range(uintp(old.shape[1])):
                value = scale[i] * new[i, c] + bias[i, c]
                change = abs(value - old[i, c])
                if change > largest:
                    largest = change
                new[i, c] = value
    return float(largest)


@cached_njit(nogil=True)
def weigh_rows(
    indptr: Integers,
    indices: Integers,
    weights: Floats,
    diagonal: Floats,
    direction: Floats,
    weighed: Floats,
    curve: Floats,
    start: int,
    stop: int,
) -> None:
    """Set ``weighed = (M - A) @ direction`` in these rows; add their part of direction . weighed to ``curve``."""
    for begin in range(start, stop, ROWS_IN_CACHE):
        end = min(begin + ROWS_IN_CACHE, stop)
        _multiply(indptr, indices, weights, direction, weighed, begin, end)
        for i in range(uintp(begin), uintp(end)):
            for c in range(uintp(direction.shape[1])):
                value = diagonal[i] * direction[i, c] - weighed[i, c]
                weighed[i, c] = value
                curve[c] += value * direction[i, c]


@cached_njit(nogil=True)
def step_rows(
    length: Floats,
    direction: Floats,
    weighed: Floats,
    inverse: Floats,
    values: Floats,
    residual: Floats,
    sums: Floats,
    start: int,
    stop: int,
) -> None:
    """Go ``length`` along ``direction``; add these rows' part of r . r and r . M^-1 r to ``sums``."""
    for i in range(uintp(start), uintp(stop)):
        for c in range(uintp(len(length))):
            values[i, c] += length[c] * direction[i, c]
            left = residual[i, c] - length[c] * weighed[i, c]
            residual[i, c] = left
            sums[0, c] += left * left
            sums[1, c] += left * left * inverse[i]


@cached_njit(nogil=True)
def turn_rows(turn: Floats, inverse: Floats, residual: Floats, direction: Floats, start: int, stop: int) -> None:
    """Set ``direction = M^-1 residual + turn * direction`` in these rows."""
    for i in range(uintp(start), uintp(stop)):
        for c in range(uintp(len(turn))):
            direction[i, c] = inverse[i] * residual[i, c] + turn[c] * direction[i, c]


@cached_njit()
def peel_trees(
    indptr: Integers, indices: Integers, weights: Floats, free: npt.NDArray[np.bool_], diagonal: Floats, right: Floats
) -> tuple[Integers, Integers, Floats]:
    """Eliminate, leaf by leaf, the unknowns that hang on the rest by one entry.

    ``diagonal`` and ``right`` are changed to those of the system that remains.
    Returns the eliminated rows in order, the row that each hung on (-1: none),
    and the weight of that entry.
    """
    n = len(free)
    entries = np.zeros(n, dtype=np.int64)
    left = free.copy()
    order = np.empty(n, dtype=indices.dtype)
    count = 0
    for i in range(n):
        if free[i]:
            for at in range(indptr[i], indptr[i + 1]):
                if indices[at] == i:
                    diagonal[i] -= weights[at]
                elif free[indices[at]]:
                    entries[i] += 1
            if entries[i] <= 1:
                order[count] = i
                count += 1
    parents = np.full(n, -1, dtype=indices.dtype)
    ties = np.zeros(n)
    done = 0
    while done < count:
        i = order[done]
        left[i] = False
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            if left[j]:
                share = weights[at] / diagonal[i]
                diagonal[j] -= share * weights[at]
                for c in range(right.shape[1]):
                    right[j, c] += share * right[i, c]
                parents[done] = j
                ties[done] = weights[at]
                entries[j] -= 1
                if entries[j] == 1:
                    order[count] = j
                    count += 1
        done += 1
    return order[:count], parents[:count], ties[:count]


@cached_njit()
def plant_trees(
    order: Integers, parents: Integers, ties: Floats, diagonal: Floats, right: Floats, values: Floats
) -> None:
    """Fill in the values of the eliminated rows, the last one first."""
    for k in range(len(order) - 1, -1, -1):
        i = order[k]
        for c in range(values.shape[1]):
            pull = ties[k] * values[parents[k], c] if parents[k] >= 0 else 0.0
            values[i, c] = (right[i, c] + pull) / diagonal[i]


@cached_njit()
def visit_nodes(
    indptr: Integers,
    indices: Integers,
    shares: Floats,
    order: Integers,
    content: Floats,
    relation: Floats,
    labels: Integers,
) -> int:
    """Give each node, in turn, the best label by its content and its neighbours' labels of now.

    ``shares`` weighs the entries of the CSR, ``relation[a, b]`` is what a
    neighbour of class a says for class b. Changes ``labels``; returns how many changed.
    """
    n_classes = content.shape[1]
    changed = 0
    scores = np.empty(n_classes)
    for i in order:
        for c in range(n_classes):
            scores[c] = content[i, c]
        for at in range(indptr[i], indptr[i + 1]):
            said = relation[labels[indices[at]]]
            for c in range(n_classes):
                scores[c] += shares[at] * said[c]
        best = np.argmax(scores)
        if best != labels[i]:
            labels[i] = best
            changed += 1
    return changed


@entry
def descend_dual(
    indptr: Integers, indices: Integers, data: Floats, sign: Floats, upper: Floats, diagonal: Floats, curvature: Floats,
    seed: np.uint64, tol: float, max_iter: int, dual: Floats, plane: Floats, order: Integers,
) -> int:  # fmt: skip
    """Coordinate descent on the dual of a linear SVM (Hsieh et al. 2008), from any start; return the number of passes.

    ``plane`` is the sum of ``dual * sign * x`` over the rows, with a 1 after each x. Rows in ``order`` are visited in a
    random order in every pass; those that stay at a bound are left out until the others are solved. There are more
    passes than ``max_iter`` if it has not converged.
    """
    active, highest, lowest = len(order), np.inf, -np.inf
    for number in range(max_iter):
        key = key_of(seed, ROW_ORDERS, number)
        largest, smallest = -np.inf, np.inf
        for k in range(active - 1, 0, -1):
            other = below(key, k, k + 1)
            order[k], order[other] = order[other], order[k]
        k = 0
        while k < active:
            i = order[k]
            slope = plane[-1]
            for at in range(indptr[i], indptr[i + 1]):
                slope += data[at] * plane[indices[at]]
            slope = sign[i] * slope - 1.0 + diagonal[i] * dual[i]
            at_bound = (dual[i] == 0.0 and slope >= 0.0) or (dual[i] == upper[i] and slope <= 0.0)
            if at_bound and (slope > highest or slope < lowest):
                active -= 1
                order[k], order[active] = order[active], i
                continue
            projected = 0.0 if at_bound else slope
            largest, smallest = max(largest, projected), min(smallest, projected)
            if abs(projected) > 1e-12:
                before = dual[i]
                dual[i] = min(max(before - slope / curvature[i], 0.0), upper[i])
                change = (dual[i] - before) * sign[i]
                plane[-1] += change
                for at in range(indptr[i], indptr[i + 1]):
                    plane[indices[at]] += change * data[at]
            k += 1
        if largest - smallest <= tol:
            if active == len(order):
                return number + 1
            active, highest, lowest = len(order), np.inf, -np.inf
            continue
        highest = largest if largest > 0.0 else np.inf
        lowest = smallest if smallest < 0.0 else -np.inf
    return max_iter + 1
