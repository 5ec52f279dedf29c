"""``Planetoid``: time beside a graph network, growth with the size of the graph, memory, and rows per second.

    python benchmarks/bench_planetoid.py [--only time,growth,student,nell,lists] [--repeat 5]

- ``time``: ``fit`` with default parameters on Cora and Pubmed beside 200 epochs of a two-layer GCN (that of
  ``bench_models.py``), taking turns in one process on two threads.
- ``growth``: graphs of 10^4, 10^5 and 10^6 nodes with the same mean degree, the same number of steps: the exponents of
  the times of training and of predicting all nodes, and peak memory.
- ``student``: rows per second that ``predict`` labels from features alone, in batches of 100 test nodes of Pubmed
  that it has never seen, beside a forward pass of the GCN over the whole graph, and over nothing but their two hops.
- ``nell``, ``lists``: peak memory and time on NELL and on 4.4 million nodes in lists, each in a process of its own.

Results: ``benchmarks/results/planetoid.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np
from scipy import sparse

from bench_models import ROOT, apart_in, gcn_seconds, peak

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "planetoid.json"
SIZES = (10_000, 100_000, 1_000_000)
DEGREE, STEPS, WORDS = 6, 100, 1_000
ROWS_AT_ONCE, BATCHES = 100, 50
HIDDEN = 16  # of the GCN


def timing(options: argparse.Namespace) -> dict:
    import planetoid as pl

    found = {}
    for name in ("cora", "pubmed"):
        data = pl.datasets.load(name, root=ROOT)
        split = data.split("public")
        y = pl.mask_labels(data.y, split.train)
        pl.Planetoid(n_jobs=2).fit(data.X, y, graph=data.graph)  # compiles
        ours, theirs = [], []
        for seed in range(options.repeat):
            started = time.perf_counter()
            pl.Planetoid(n_jobs=2, random_state=seed).fit(data.X, y, graph=data.graph)
            ours.append(time.perf_counter() - started)
            theirs.append(gcn_seconds(data, split))
        found[name] = {"Planetoid_s": median(ours), "GCN_s": median(theirs), "ratio": median(ours) / median(theirs)}
    return found


def made_graph(n: int):
    """Return communities of 1,000 nodes with words of their own, of which every tenth class has the same label."""
    rng = np.random.default_rng(0)
    community = np.arange(n) // 1_000
    m = n * DEGREE // 2
    source = rng.integers(0, n, m)
    inside = community[source] * 1_000 + rng.integers(0, 1_000, m)
    target = np.where(rng.random(m) < 0.8, np.minimum(inside, n - 1), rng.integers(0, n, m))
    kept = source != target
    adjacency = sparse.coo_array((np.ones(kept.sum(), np.float32), (source[kept], target[kept])), shape=(n, n))
    words = rng.integers(0, WORDS, (n, 10))
    words[:, :3] = (community[:, None] * 7 + rng.integers(0, 20, (n, 3))) % WORDS
    X = sparse.csr_array((np.ones(n * 10, np.float32), words.ravel(), np.arange(0, 10 * n + 1, 10)), shape=(n, WORDS))
    X.sum_duplicates()
    return sparse.csr_array(adjacency + adjacency.T), X, community % 10


def growth_worker(job: dict) -> dict:
    import planetoid as pl
    from planetoid.models.node_contexts import NodeContexts
    from planetoid.training.consistency_loss import ConsistencyLoss

    adjacency, X, classes = made_graph(job["n"])
    labelled = np.random.default_rng(1).choice(job["n"], 200, replace=False)
    model = pl.Planetoid(training=pl.Consistency(steps=STEPS), view="neighbourhood", student=False, calibrate=False)
    seconds = {"train": 0.0, "predict": 0.0}

    def timed(name: str, method):
        def call(self, *arguments):
            started = time.perf_counter()
            found = method(self, *arguments)
            seconds[name] += time.perf_counter() - started
            return found

        return call

    small, x, y = made_graph(2_000)
    pl.Planetoid(view="neighbourhood").fit(x, pl.mask_labels(y, np.arange(0, 2_000, 50)), graph=small)  # compiles
    ConsistencyLoss.step = timed("train", ConsistencyLoss.step)
    NodeContexts.mean = timed("predict", NodeContexts.mean)
    graph = pl.Graph.from_scipy(adjacency)
    started = time.perf_counter()
    model.fit(X, pl.mask_labels(classes, labelled), graph=graph)
    return {"nodes": job["n"], "fit_s": time.perf_counter() - started, **seconds, **peak()}


def growth(_: argparse.Namespace) -> dict:
    found = []
    for n in SIZES:
        found.append(apart_in(__file__, "growth_worker", {"n": n}))
        print(" ", found[-1], flush=True)
    logs = np.log([row["nodes"] for row in found])
    slopes = {
        name: float(np.polyfit(logs, np.log([row[name] for row in found]), 1)[0])
        for name in ("train", "predict", "fit_s", "peak_gb")
    }
    return {"sizes": found, "slopes": slopes}


def student(options: argparse.Namespace) -> dict:
    import planetoid as pl

    data = pl.datasets.load("pubmed", root=ROOT)
    split = data.split("public")
    seen = data.without(split.test)
    y = pl.mask_labels(seen.y, seen.rows_from_parent(split.train))
    model = pl.Planetoid(n_jobs=2).fit(seen.X, y, graph=seen.graph)
    rng = np.random.default_rng(0)
    A = sparse.csr_array(data.graph.to_scipy() + sparse.eye_array(data.n_nodes, dtype=np.float32))
    scale = sparse.diags_array((1 / np.sqrt(A.sum(axis=1))).astype(np.float32))
    S = sparse.csr_array(scale @ A @ scale)
    W = [rng.normal(size=(data.n_features, HIDDEN)).astype(np.float32), rng.normal(size=(HIDDEN, 3)).astype(np.float32)]
    batches = [rng.choice(split.test, ROWS_AT_ONCE, replace=False) for _ in range(BATCHES)]

    def two_hops(rows) -> None:
        second = S[rows]
        one_hop = np.unique(second.indices)
        first = S[one_hop]
        around = np.unique(first.indices)
        hidden = np.maximum(first[:, around] @ (data.X[around] @ W[0]), 0)
        second[:, one_hop] @ (hidden @ W[1])

    def whole_graph(rows) -> None:
        (S @ (np.maximum(S @ (data.X @ W[0]), 0) @ W[1]))[rows]

    seconds: dict[str, list[float]] = {"student": [], "GCN": [], "GCN_two_hops": []}
    arrived = [data.X[rows] for rows in batches]  # new rows come as a matrix of their own
    given = (arrived, batches, batches)
    for _ in range(options.repeat):
        for name, label, work in zip(seconds, (model.predict_proba, whole_graph, two_hops), given, strict=True):
            started = time.perf_counter()
            for rows in work:
                label(rows)
            seconds[name].append((time.perf_counter() - started) / (BATCHES * ROWS_AT_ONCE))
    rows_per_s = {name: 1 / median(taken) for name, taken in seconds.items()}
    return {
        "rows_per_s": rows_per_s,
        "ratio": rows_per_s["student"] / rows_per_s["GCN"],
        "ratio_two_hops": rows_per_s["student"] / rows_per_s["GCN_two_hops"],
    }


def nell_worker(_: dict) -> dict:
    import planetoid as pl

    data = pl.datasets.load("nell-0.1", root=ROOT)
    split = data.split("public")
    started = time.perf_counter()
    model = pl.Planetoid(n_jobs=2).fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    scored = float((model.predict()[split.test] == data.y[split.test]).mean())
    return {"accuracy": scored, "seconds": time.perf_counter() - started, **peak()}


def lists_worker(_: dict) -> dict:
    import planetoid as pl

    data = pl.datasets.make_coordinate_lists(scale=1.0, seed=0)
    before = peak()["peak_gb"]
    started = time.perf_counter()
    model = pl.Planetoid(n_jobs=2).fit(data.X, data.y, graph=data.graph)
    n = len(model.predict())
    return {"nodes": n, "view": model.view_, "seconds": time.perf_counter() - started, "data_gb": before, **peak()}


PARTS = {
    "time": timing,
    "growth": growth,
    "student": student,
    "nell": lambda _: apart_in(__file__, "nell_worker", {}),
    "lists": lambda _: apart_in(__file__, "lists_worker", {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in options.only.split(","):
        kept[part] = PARTS[part](options)
        print(part, kept[part], flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        print(json.dumps(globals()[sys.argv[2]](json.loads(sys.argv[3]))))
    else:
        main()
