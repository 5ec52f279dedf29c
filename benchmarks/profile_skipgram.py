"""Where the engine's time goes on Cora: nanoseconds a centre for each phase, and for its loops in the nearest cache.

    python benchmarks/profile_skipgram.py

One thread, d = 128, walks of 40, window 5, five negatives a positive. Nothing is written.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import planetoid as pl
from planetoid.engine import ContextSampler, SkipGram, loops, slots, steps
from planetoid.engine.arrays import Tables
from planetoid.engine.skipgram import new_tables

PIECES, CALLS = 9, 20_000


@njit
def draw(batches, sampling, rules, batch):
    for number in range(batches):
        slots.draw_slots(0, len(batch.paths), number * len(batch.paths), sampling, rules, batch)


@njit
def score(batches, sampling, rules, tables, batch, losses):
    for _ in range(batches):
        steps.score_slots(
            0, len(batch.paths), sampling.r1, sampling.d, rules, tables, np.float32(1e-6), batch, losses
        )  # fmt: skip


@njit
def update_contexts(batches, sampling, rules, tables, batch):
    for _ in range(batches):
        steps.update_contexts(0, 1, sampling.d, sampling.self_pairs, rules, tables, batch)
        steps.update_shared_negatives(0, 1, rules.n_shared, rules.group, tables, batch)


@njit
def update_centres(batches, tables, batch):
    for _ in range(batches):
        steps.update_centres(0, 1, tables, batch)


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
    sampler = ContextSampler(graph, pl.Contexts(r1=1 / 6, q=40, d=6, self_pairs=False), seed=0)
    engine = SkipGram(sampler, *new_tables(graph.n_nodes, 128, 0))
    tables = Tables(engine.e, engine.w, 0)
    batches = 40
    centres = batches * engine.n_slots * sampler.contexts.q
    sampling, rules, batch = sampler.sampling, engine.rules, engine.batch
    losses = np.zeros(engine.n_slots)
    table, rows = np.random.default_rng(0).normal(size=(24, 128)).astype(np.float32), np.arange(20)
    out = np.full(24, 1e-6, np.float32)
    found = {
        "draw": best(draw, centres, batches, sampling, rules, batch),
        "score": best(score, centres, batches, sampling, rules, tables, batch, losses),
        "update contexts": best(update_contexts, centres, batches, sampling, rules, tables, batch),
        "update centres": best(update_centres, centres, batches, tables, batch),
        "20 dot products, nearest cache": best(twenty_dots, CALLS, CALLS, table[23], table, rows, out),
        "20 rows added, nearest cache": best(twenty_sums, CALLS, CALLS, table * 0, rows, out, table[22]),
        "20 logistic functions": best(twenty_sigmoids, CALLS, CALLS, out),
    }
    print(f"{engine.n_slots} walks a batch, {rules.group} share negatives; nanoseconds a centre:")
    for name, value in found.items():
        print(f"  {name:32s} {value:6.0f}")


if __name__ == "__main__":
    main()
