"""Steps of weighted walks: alias tables beside a binary search in cumulative weights.

    python benchmarks/bench_weighted_steps.py [--steps 2000000]

The same walks on graphs with random weights, the two ways taking turns, median
of five. The engine uses what wins here. Results: ``benchmarks/results/weighted_steps.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median

import numpy as np
from numba import njit

from planetoid.engine.alias import alias_tables
from planetoid.engine.arrays import GraphArrays
from planetoid.engine.draws import step
from planetoid.engine.generator import U64, bits_at, unit
from planetoid.graph import Graph

KEY = U64(1)
RESULTS = Path(__file__).resolve().parent / "results" / "weighted_steps.json"


@njit
def by_alias(n_steps, graph):
    node, total = np.int64(0), 0
    for k in range(n_steps):
        node = step(node, bits_at(KEY, k), graph)
        if node < 0:
            node = np.int64(k % (len(graph.indptr) - 1))
        total += node
    return total


@njit
def by_cumulation(n_steps, indptr, indices, cumulated):
    node, total = np.int64(0), 0
    for k in range(n_steps):
        low, high = np.int64(indptr[node]), np.int64(indptr[node + 1])
        if low == high:
            node = np.int64(k % (len(indptr) - 1))
            continue
        chance = unit(KEY, k) * cumulated[high - 1]
        high -= 1
        while low < high:
            middle = (low + high) // 2
            if cumulated[middle] <= chance:
                low = middle + 1
            else:
                high = middle
        node = np.int64(indices[low])
        total += node
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2_000_000)
    n_steps = parser.parse_args().steps
    rows = []
    for n, m in ((3_000, 6_000), (3_000, 300_000), (1_000_000, 4_000_000)):
        rng = np.random.default_rng(0)
        graph = Graph.from_edges(*rng.integers(0, n, (2, m)), rng.random(m) + 0.01, nodes=n)
        arrays = GraphArrays(graph.indptr, graph.indices, *alias_tables(graph.indptr, graph.weights))
        cumulated = np.concatenate([np.cumsum(part) for part in np.split(graph.weights, graph.indptr[1:-1])])
        ways = {
            "alias": lambda k, g=arrays: by_alias(k, g),
            "cumulated": lambda k, g=graph, c=cumulated: by_cumulation(k, g.indptr, g.indices, c),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():
            way(10)
        for _ in range(5):
            for name, way in ways.items():
                started = time.perf_counter()
                way(n_steps)
                times[name].append((time.perf_counter() - started) / n_steps * 1e9)
        row = {"nodes": n, "edges": m} | {f"{name}_ns": median(found) for name, found in times.items()}
        rows.append(row)
        shown = "   ".join(f"{name} {row[f'{name}_ns']:6.1f} ns" for name in ways)
        print(f"{n:>9,} nodes {m:>9,} edges   {shown} a step")
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
