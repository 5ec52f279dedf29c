"""Where the engine's time goes on Cora: nanoseconds a centre for each phase, and for its loops in the nearest cache.

    python benchmarks/profile_skipgram.py

One thread, d = 128, walks of 40, window 5, five negatives a positive. Nothing is written.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import planetoid as pl
from planetoid.engine import ContextSampler, SkipGram, loops
from planetoid.engine import steps as kernels
from planetoid.engine.skipgram import new_tables

PIECES, CALLS = 9, 20_000


@njit
def score(seed, batches, starts, stride, graph, labels, rules, e, w, batch, losses):
    for number in range(batches):
        kernels.draw_and_score(
            0, len(batch[0]), number * len(batch[0]), seed, len(e), starts, stride, graph, labels, rules, e, w,
            np.float32(1e-6), batch, losses,
        )  # fmt: skip


@njit
def draw(seed, batches, n, starts, stride, graph, labels, rules, batch):
    for number in range(batches):
        kernels.draw_batch(number * len(batch[0]), seed, n, starts, stride, graph, labels, rules, batch)


@njit
def update_contexts(batches, rules, e, w, batch):
    for _ in range(batches):
        kernels.update_contexts(0, 1, len(batch[0]), rules, 0, e, w, batch)


@njit
def update_centres(batches, e, batch):
    for _ in range(batches):
        kernels.update_centres(0, 1, len(batch[0]), 0, e, batch)


@njit
def twenty_dots(calls, row, table, rows, out):
    for _ in range(calls):
        loops.dots(row, table, rows, 20, out)


@njit
def twenty_sums(calls, table, rows, factors, out):
    for _ in range(calls):
        loops.add_rows(table, rows, factors, 20, out)


@njit
def twenty_sigmoids(calls, values):
    for _ in range(calls):
        loops.sigmoids(values, 20)


def best(function, per_call: int, *arguments) -> float:
    """Return nanoseconds of the quickest of some calls, after one that compiles."""
    function(*arguments)
    times = []
    for _ in range(PIECES):
        started = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - started)
    return 1e9 * min(times) / per_call


def main() -> None:
    graph = pl.datasets.load("cora-bundled").graph
    sampler = ContextSampler(graph, r1=1 / 6, q=40, d=6, self_pairs=False, seed=0)
    e, w = new_tables(graph.n_nodes, 128, 0)
    engine = SkipGram(sampler, e, w)
    batches = 40
    centres = batches * engine.n_slots * sampler.q
    drawn = (sampler.starts, sampler.stride, sampler.graph_arrays, sampler.label_arrays, engine.rules)
    losses = np.zeros(engine.n_slots)
    table, rows = np.random.default_rng(0).normal(size=(24, 128)).astype(np.float32), np.arange(20)
    out = np.full(24, 1e-6, np.float32)
    found = {
        "draw": best(draw, centres, sampler.seed, batches, len(e), *drawn, engine.batch),
        "draw and score": best(score, centres, sampler.seed, batches, *drawn, e, w, engine.batch, losses),
        "update contexts": best(update_contexts, centres, batches, engine.rules, e, w, engine.batch),
        "update centres": best(update_centres, centres, batches, e, engine.batch),
        "20 dot products, nearest cache": best(twenty_dots, CALLS, CALLS, table[23], table, rows, out),
        "20 rows added, nearest cache": best(twenty_sums, CALLS, CALLS, table * 0, rows, out, table[22]),
        "20 logistic functions": best(twenty_sigmoids, CALLS, CALLS, out),
    }
    print(f"{engine.n_slots} walks a batch, {engine.rules[6]} share negatives; nanoseconds a centre:")
    for name, value in found.items():
        print(f"  {name:32s} {value:6.0f}")


if __name__ == "__main__":
    main()
