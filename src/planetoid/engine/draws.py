"""Compiled draws: arrays and scalars in, arrays out, no policy.

Every draw is a pure function of (seed, stream, index, place): a counter is
hashed, and nothing is carried from one draw to the next. So any slice of a
sequence of draws can be made by any thread, process or machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

U64 = np.uint64
STEP = U64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: successive counters differ in many bits
MIX_1 = U64(0xBF58476D1CE4E5B9)
MIX_2 = U64(0x94D049BB133111EB)
LOW_32 = U64(0xFFFFFFFF)
TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53

# Streams; as numbers of a machine type, or numba would compile their users once for each value.
WALK, LABEL, START, NEGATIVE, POOL = (np.int64(stream) for stream in (1, 2, 3, 4, 5))
MAX_TRIES = 64  # of node2vec's rejection step


@njit(error_model="numpy")
def mix(z: Any) -> Any:
    """Scramble 64 bits so that close inputs give unrelated outputs."""
    z = (z ^ (z >> U64(30))) * MIX_1
    z = (z ^ (z >> U64(27))) * MIX_2
    return z ^ (z >> U64(31))


@njit(error_model="numpy")
def key_of(seed: Any, stream: Any, index: Any) -> Any:
    """Return the key of one walk, pair or block of draws."""
    return mix(mix(U64(seed) + STEP * U64(stream)) + STEP * U64(index))


@njit(error_model="numpy")
def bits_at(key: Any, place: Any) -> Any:
    """Return 64 random bits for a place within a key's sequence."""
    return mix(key + STEP * U64(place + 1))


@njit(error_model="numpy")
def unit(bits: Any) -> Any:
    """Return a number in [0, 1)."""
    return np.float64(bits >> U64(11)) * TO_UNIT


@njit(error_model="numpy")
def below(bits: Any, n: Any) -> Any:
    """Return an integer in [0, n)."""
    return np.int64(np.float64(bits >> U64(11)) * TO_UNIT * n)


@njit(error_model="numpy")
def start_of(seed: Any, index: Any, n: Any, stride: Any) -> Any:
    """Return the place of a walk's first node: each once in n walks, in scattered order.

    The order is shifted by a random offset a pass, so a single draw is uniform.
    """
    turn = index // n
    return (below(bits_at(key_of(seed, START, turn), 0), n) + (index - turn * n) * stride) % n


@njit(error_model="numpy")
def step_from(node: Any, bits: Any, indptr: Any, indices: Any, accept: Any, alias: Any) -> Any:
    """Return a neighbour drawn in proportion to its weight, or -1 at a dead end."""
    first = np.int64(indptr[node])
    degree = np.int64(indptr[node + 1]) - first
    if degree == 0:
        return np.int64(-1)
    at = first + np.int64(((bits >> U64(32)) * U64(degree)) >> U64(32))
    if len(accept) and np.float32(bits & LOW_32) * np.float32(2.0**-32) >= accept[at]:
        at = first + np.int64(alias[at])
    return np.int64(indices[at])


@njit(error_model="numpy")
def has_edge(source: Any, target: Any, indptr: Any, indices: Any) -> Any:
    """Look an edge up in the sorted row of its source."""
    low, high = np.int64(indptr[source]), np.int64(indptr[source + 1])
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low < indptr[source + 1] and indices[low] == target


@njit(error_model="numpy")
def second_order_step(
    before: Any,
    node: Any,
    key: Any,
    place: Any,
    indptr: Any,
    indices: Any,
    accept: Any,
    alias: Any,
    back: Any,
    out: Any,
) -> Any:
    """Return node2vec's next node by rejection: 1/p to go back, 1 to stay near, 1/q to go out."""
    most = max(1.0, back, out)
    found = np.int64(-1)
    for attempt in range(MAX_TRIES):
        bits = bits_at(key, (place + 1) * 4096 + attempt)
        found = step_from(node, bits, indptr, indices, accept, alias)
        if found < 0:
            return found
        if found == before:
            ratio = back
        elif has_edge(before, found, indptr, indices):
            ratio = 1.0
        else:
            ratio = out
        if unit(mix(bits)) * most < ratio:
            return found
    return found


@njit(error_model="numpy")
def walk(
    path: Any, key: Any, start: Any, indptr: Any, indices: Any, accept: Any, alias: Any, back: Any, out: Any
) -> Any:
    """Fill ``path`` with a random walk and return its length, less than asked at a dead end."""
    node = np.int64(start)
    path[0] = node
    first_order = back == 1.0 and out == 1.0
    for j in range(1, len(path)):
        if first_order or j == 1:
            node = step_from(node, bits_at(key, j), indptr, indices, accept, alias)
        else:
            node = second_order_step(np.int64(path[j - 2]), node, key, j, indptr, indices, accept, alias, back, out)
        if node < 0:
            return j
        path[j] = node
    return len(path)


@njit(error_model="numpy")
def labelled_centre(chance: Any, bits: Any, shares: Any, class_start: Any) -> Any:
    """Return the place in ``members`` of a pair's first node, and its class.

    ``shares`` are the cumulative shares that the classes have of all such pairs.
    """
    k = 0
    while k < len(shares) - 1 and chance >= shares[k]:
        k += 1
    begin, end = class_start[k], class_start[k + 1]
    return begin + below(bits, end - begin), k


@njit(error_model="numpy")
def context_of(at: Any, k: Any, bits: Any, gamma: Any, class_start: Any, members: Any, self_pairs: Any) -> Any:
    """Return a labelled node of the same class as the one at ``at``, or of another.

    ``members`` lists the labelled nodes class by class.
    """
    begin, end = class_start[k], class_start[k + 1]
    if gamma > 0:
        if self_pairs:
            return members[begin + below(bits, end - begin)]
        partner = begin + below(bits, end - begin - 1)
        return members[partner + 1 if partner >= at else partner]
    partner = below(bits, len(members) - (end - begin))
    return members[partner + (end - begin) if partner >= begin else partner]


@njit(cache=True)
def pairs_in_walk(length: Any, d: Any, self_pairs: Any) -> Any:
    """Count the ordered pairs (j, k) with |j - k| < d in a walk."""
    total = length if self_pairs else 0
    for offset in range(1, min(d, length)):
        total += 2 * (length - offset)
    return total


@njit(error_model="numpy")
def nth_pair(number: Any, length: Any, d: Any, self_pairs: Any) -> Any:
    """Return the places (j, k) of the pair of that number, row by row."""
    for j in range(length):
        low, high = max(0, j - d + 1), min(length - 1, j + d - 1)
        count = high - low + (1 if self_pairs else 0)
        if number < count:
            k = low + number
            return j, (k if self_pairs or k < j else k + 1)
        number -= count
    return -1, -1


@njit(cache=True, nogil=True)
def draw_single(
    seed: Any,
    first: Any,
    centers: Any,
    contexts: Any,
    gammas: Any,
    n: Any,
    starts: Any,
    stride: Any,
    graph: Any,
    labels: Any,
    r1: Any,
    r2: Any,
    q: Any,
    d: Any,
    self_pairs: Any,
) -> None:
    """Algorithm 1 as printed: one walk and one pair for each draw."""
    indptr, indices, accept, alias, back, out = graph
    same, other, class_start, members = labels
    path = np.empty(q, np.int64)
    for number in range(len(centers)):
        index = first + number
        key = key_of(seed, WALK, index)
        gamma = 1 if unit(bits_at(key, 1 << 40)) < r1 else -1
        if unit(bits_at(key, (1 << 40) + 1)) < r2:
            place = start_of(seed, index, len(starts) if len(starts) else n, stride)
            start = starts[place] if len(starts) else place
            length = walk(path, key, start, indptr, indices, accept, alias, back, out)
            chosen = below(bits_at(key, (1 << 40) + 2), pairs_in_walk(length, d, self_pairs))
            j, k = nth_pair(chosen, length, d, self_pairs)
            i, c = path[j], path[k]
            if gamma < 0:
                c = below(bits_at(key, (1 << 40) + 3), n)
        else:
            key = key_of(seed, LABEL, index)
            shares = same if gamma > 0 else other
            at, k = labelled_centre(unit(bits_at(key, 0)), bits_at(key, 1), shares, class_start)
            i = members[at]
            c = context_of(at, k, bits_at(key, 2), gamma, class_start, members, self_pairs)
        centers[number], contexts[number], gammas[number] = i, c, gamma


@njit(cache=True)
def alias_tables(indptr: Any, weights: Any) -> Any:
    """Walker's alias tables of every row: constant-time draws in proportion to weights."""
    accept = np.ones(len(weights), np.float32)
    alias = np.zeros(len(weights), np.int32)
    widest = 0
    for row in range(len(indptr) - 1):
        widest = max(widest, indptr[row + 1] - indptr[row])
    scaled, small, large = np.empty(widest), np.empty(widest, np.int64), np.empty(widest, np.int64)
    for row in range(len(indptr) - 1):
        first, degree = indptr[row], indptr[row + 1] - indptr[row]
        total = 0.0
        for k in range(degree):
            total += weights[first + k]
        n_small = n_large = 0
        for k in range(degree):
            scaled[k] = weights[first + k] * degree / total
            if scaled[k] < 1.0:
                small[n_small] = k
                n_small += 1
            else:
                large[n_large] = k
                n_large += 1
        while n_small and n_large:
            n_small -= 1
            low, high = small[n_small], large[n_large - 1]
            accept[first + low], alias[first + low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                n_large -= 1
                small[n_small] = high
                n_small += 1
    return accept, alias


@njit(cache=True, nogil=True)
def draw_all(
    seed: Any,
    first: Any,
    n_walks: Any,
    centers: Any,
    contexts: Any,
    gammas: Any,
    weights: Any,
    n: Any,
    starts: Any,
    stride: Any,
    graph: Any,
    labels: Any,
    r1: Any,
    r2: Any,
    q: Any,
    d: Any,
    self_pairs: Any,
) -> Any:
    """Every pair within the window of each walk, each with its own negatives; returns how many."""
    indptr, indices, accept, alias, back, out = graph
    same, other, class_start, members = labels
    path = np.empty(q, np.int64)
    full = pairs_in_walk(q, d, self_pairs)
    negatives = (1.0 - r1) / r1
    used = 0
    for index in range(first, first + n_walks):
        key = key_of(seed, WALK, index)
        if unit(bits_at(key, 1 << 40)) < r2:
            place = start_of(seed, index, len(starts) if len(starts) else n, stride)
            start = starts[place] if len(starts) else place
            length = walk(path, key, start, indptr, indices, accept, alias, back, out)
            weight = full / pairs_in_walk(length, d, self_pairs)
            key = key_of(seed, NEGATIVE, index)
            place = 0
            for j in range(length):
                for k in range(max(0, j - d + 1), min(length - 1, j + d - 1) + 1):
                    if j == k and not self_pairs:
                        continue
                    centers[used], contexts[used], gammas[used], weights[used] = path[j], path[k], 1, weight
                    used += 1
                    extra = np.int64(negatives + unit(bits_at(key, place)))
                    place += 1
                    for _ in range(extra):
                        c = below(bits_at(key, place), n)
                        place += 1
                        centers[used], contexts[used], gammas[used], weights[used] = path[j], c, -1, weight
                        used += 1
        else:
            key = key_of(seed, LABEL, index)
            count = np.int64(full / r1 + unit(bits_at(key, 0)))
            for number in range(count):
                place = 4 * number + 1
                gamma = 1 if unit(bits_at(key, place)) < r1 else -1
                shares = same if gamma > 0 else other
                at, k = labelled_centre(unit(bits_at(key, place + 1)), bits_at(key, place + 2), shares, class_start)
                c = context_of(at, k, bits_at(key, place + 3), gamma, class_start, members, self_pairs)
                centers[used], contexts[used], gammas[used], weights[used] = members[at], c, gamma, 1.0
                used += 1
    return used
