"""The engine beside gensim, PecanPy and fastnode2vec: speed, quality, threads, growth, memory.

    python benchmarks/bench_skipgram.py [--quick] [--only speed,quality,threads,end,growth,memory,cold]

Every figure is the median of ``--repeat`` runs; ours and the peer's take turns,
each in a process of its own, one after the other. A pair is one positive pair
with its five negatives (r1 = 1/6). gensim gets ready-made walks, so its time is
that of the updates; ours draws its walks in the same loop. Data sets come from
``PLANETOID_DATA`` or ``../shared/data``. Results: ``benchmarks/results/skipgram.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
PEER_PYTHON = HERE.parent / ".venv-bench" / "bin" / "python"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


# ---- in a process of its own ---------------------------------------------------


def ours(job: dict) -> dict:
    from planetoid.engine import Contexts, ContextSampler, SkipGram
    from planetoid.engine.skipgram import new_tables
    from planetoid.graph import EdgeList, Graph
    from planetoid.ids import NodeIds

    with np.load(job["graph"]) as arrays:
        indptr, indices = arrays["indptr"], arrays["indices"]
    n = len(indptr) - 1
    graph = Graph.from_rows(EdgeList(np.repeat(np.arange(n), np.diff(indptr)), indices, None), NodeIds(n))
    contexts = Contexts(r1=1 / (1 + job["negatives"]), q=job["q"], d=job["window"] + 1)
    sampler = ContextSampler(graph, contexts, seed=job["seed"])
    options = {"n_jobs": job.get("n_jobs", 1), "negatives": job.get("share", "shared")}
    small = new_tables(n, 4, 0)
    started = time.perf_counter()
    SkipGram(sampler, *small, **options).train(0, 1, 1)
    first_call = time.perf_counter() - started
    del small
    e, w = new_tables(n, job["dimension"], job["seed"])
    started = time.perf_counter()
    trainer = SkipGram(sampler, e, w, **options)
    total = trainer.n_batches(job["n_walks"])
    loss = trainer.train(0, total, total)
    seconds = time.perf_counter() - started
    if job.get("embedding"):
        np.save(job["embedding"], e)
    held = e.nbytes + w.nbytes + graph.nbytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pairs = total * trainer.n_slots * sampler.pairs_per_walk
    digest = float(np.abs(e[:: max(1, n // 1000)]).sum())
    return {
        "seconds": seconds * job["n_walks"] / (total * trainer.n_slots), "pairs": pairs, "loss": loss,
        "first_call": first_call, "peak": peak, "held": held, "digest": digest,
    }  # fmt: skip


def accuracy(job: dict) -> dict:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    e = normalize(np.load(job["embedding"]))
    with np.load(job["graph"]) as arrays:
        y, train, test = arrays["y"], arrays["train"], arrays["test"]
    model = LogisticRegression(max_iter=1000).fit(e[train], y[train])
    return {"accuracy": float(model.score(e[test], y[test]))}


# ---- the conductor -------------------------------------------------------------


def run(what: str, job: dict, peer: bool = False, **extra: str) -> dict:
    program = [str(PEER_PYTHON), str(HERE / "peers.py")] if peer else [sys.executable, __file__, "--worker"]
    environment = {**os.environ, **ONE_THREAD, **extra}
    done = subprocess.run([*program, what, json.dumps(job)], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{what} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def data_set(name: str, folder: Path) -> str:
    import planetoid as pl

    root = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
    data = pl.datasets.load(name, root=root)
    split = data.split("public")
    path = folder / f"{name}.npz"
    np.savez(path, indptr=data.graph.indptr, indices=data.graph.indices, y=data.y, train=split.train, test=split.test)
    return str(path)


def random_graph(n: int, m: int, folder: Path) -> str:
    from scipy import sparse

    path = folder / f"random-{n}-{m}.npz"
    if not path.exists():
        rng = np.random.default_rng(0)
        ends = rng.integers(0, n, (2, m))
        half = sparse.coo_array((np.ones(m, bool), (ends[0], ends[1])), shape=(n, n)).tocsr()
        whole = (half + half.T).tocsr()
        np.savez(path, indptr=whole.indptr, indices=whole.indices)
    return str(path)


def ratio_of(job: dict, peer: str, repeat: int) -> dict:
    """Let the two take turns; report medians and their ratio."""
    us, them = [], []
    for turn in range(repeat):
        us.append(run("ours", {**job, "seed": turn})["seconds"])
        them.append(run(peer, {**job, "seed": turn}, peer=True)["seconds"])
    return {"ours_s": median(us), "peer_s": median(them), "ratio": median(them) / median(us), "runs": [us, them]}


def speed(folder: Path, quick: bool, repeat: int) -> list[dict]:
    rows = []
    job = {"dimension": 128, "q": 40, "window": 5, "negatives": 5}
    big = (100_000, 400_000) if quick else (1_000_000, 4_000_000)
    for name, graph, n_walks in (
        ("cora", data_set("cora", folder), 2708 * (1 if quick else 4)),
        (f"random {big[0]:,} nodes", random_graph(*big, folder), 2_000 if quick else 16_000),
    ):
        pairs = n_walks * (2 * 5 * 40 - 5 * 6)
        found = ratio_of({**job, "graph": graph, "n_walks": n_walks}, "gensim", repeat)
        own = run("ours", {**job, "graph": graph, "n_walks": n_walks, "seed": 0, "share": "own"})["seconds"]
        rows.append(
            {
                "what": f"M pairs/s, one thread, d = 128, {name}",
                "ours": pairs / found["ours_s"] / 1e6,
                "peer": pairs / found["peer_s"] / 1e6,
                "ratio": found["ratio"],
                "note": f"gensim; with own negatives {pairs / own / 1e6:.1f} M pairs/s",
            }
        )
    return rows


def quality(folder: Path, quick: bool, repeat: int) -> list[dict]:
    rows = []
    for name in ("cora",) if quick else ("cora", "pubmed", "nell-0.1"):
        graph = data_set(name, folder)
        with np.load(graph) as arrays:
            n = len(arrays["indptr"]) - 1
        job = {"graph": graph, "dimension": 128, "q": 10, "window": 3, "negatives": 5, "n_walks": 20 * n}
        scores: dict[str, list[float]] = {"ours": [], "gensim": []}
        for turn in range(min(3, repeat)):
            for who, kept in scores.items():
                embedding = str(folder / f"{who}.npy")
                run(who, {**job, "seed": turn, "embedding": embedding}, peer=who == "gensim")
                kept.append(run("accuracy", {"embedding": embedding, "graph": graph})["accuracy"])
        us, them = np.mean(scores["ours"]), np.mean(scores["gensim"])
        difference = f"{100 * (us - them):+.1f} points"
        rows.append(
            {
                "what": f"accuracy, 20 passes, {name}", "ours": 100 * us, "peer": 100 * them,
                "ratio": us / them, "note": f"gensim; {min(3, repeat)} seeds; difference {difference}",
            }
        )  # fmt: skip
    return rows


def threads(folder: Path, quick: bool, repeat: int) -> list[dict]:
    rows = []
    job = {"dimension": 128, "q": 40, "window": 5, "negatives": 5, "seed": 0}
    graphs = [("pubmed", data_set("pubmed", folder), 20_000)]
    if not quick:
        graphs.append(("random 1,000,000 nodes", random_graph(1_000_000, 4_000_000, folder), 40_000))
    for name, graph, n_walks in graphs:
        one, two = [], []
        for _ in range(repeat):
            one.append(run("ours", {**job, "graph": graph, "n_walks": n_walks}))
            two.append(run("ours", {**job, "graph": graph, "n_walks": n_walks, "n_jobs": 2}))
        assert {r["digest"] for r in one + two} == {one[0]["digest"]}, "not bit-identical"
        s1, s2 = median(r["seconds"] for r in one), median(r["seconds"] for r in two)
        rows.append(
            {
                "what": f"seconds, 2 threads against 1, {name}",
                "ours": s2,
                "peer": s1,
                "ratio": s1 / s2,
                "note": "bit-identical",
            }
        )
    return rows


def end(folder: Path, quick: bool, repeat: int) -> list[dict]:
    rows = []
    for name in ("cora",) if quick else ("cora", "pubmed"):
        graph = data_set(name, folder)
        with np.load(graph) as arrays:
            n = len(arrays["indptr"]) - 1
        passes = 1 if quick else 2
        job = {
            "graph": graph,
            "dimension": 128,
            "q": 40,
            "window": 5,
            "negatives": 5,
            "passes": passes,
            "n_walks": passes * n,
        }
        for peer in ("pecanpy", "fastnode2vec"):
            found = ratio_of(job, peer, repeat)
            rows.append(
                {
                    "what": f"seconds, walks and training, {name}",
                    "ours": found["ours_s"],
                    "peer": found["peer_s"],
                    "ratio": found["ratio"],
                    "note": peer,
                }
            )
    return rows


def growth(folder: Path, quick: bool, repeat: int) -> list[dict]:
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000, 4_000_000)
    seconds = []
    for n in sizes:
        job = {
            "graph": random_graph(n, 4 * n, folder),
            "dimension": 32,
            "q": 10,
            "window": 2,
            "negatives": 5,
            "n_walks": n,
            "seed": 0,
        }
        seconds.append(median(run("ours", job)["seconds"] for _ in range(1 if n > 500_000 else min(3, repeat))))
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    note = ", ".join(f"{n:,}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    return [
        {"what": "growth of time with nodes, log-log slope", "ours": slope, "peer": None, "ratio": None, "note": note}
    ]


def memory(folder: Path, quick: bool, _repeat: int) -> list[dict]:
    n = 440_000 if quick else 4_400_000
    job = {
        "graph": random_graph(n, n * 45 // 44, folder),
        "dimension": 64,
        "q": 10,
        "window": 2,
        "negatives": 5,
        "n_walks": n // 100,
        "seed": 0,
    }
    found = run("ours", job)
    over = (found["peak"] - found["held"]) / 1e9
    note = f"peak {found['peak'] / 1e9:.2f} GB, tables and graph {found['held'] / 1e9:.2f} GB"
    return [
        {
            "what": f"GB above tables and graph, {n:,} nodes, d = 64",
            "ours": over,
            "peer": None,
            "ratio": None,
            "note": note,
        }
    ]


def cold(folder: Path, quick: bool, _repeat: int) -> list[dict]:
    job = {
        "graph": data_set("cora", folder),
        "dimension": 128,
        "q": 10,
        "window": 2,
        "negatives": 5,
        "n_walks": 100,
        "seed": 0,
    }
    times = []
    for turn in range(1 if quick else 3):
        times.append(run("ours", job, NUMBA_CACHE_DIR=str(folder / f"cache{turn}"))["first_call"])
    return [
        {
            "what": "seconds of the first call, cold cache",
            "ours": median(times),
            "peer": None,
            "ratio": None,
            "note": "without import",
        }
    ]


PARTS = {
    "speed": speed,
    "quality": quality,
    "threads": threads,
    "end": end,
    "growth": growth,
    "memory": memory,
    "cold": cold,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small, under two minutes")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    repeat = 1 if options.quick else options.repeat
    results = HERE / "results" / ("skipgram-quick.json" if options.quick else "skipgram.json")
    kept = json.loads(results.read_text()) if results.exists() else {}
    kept["machine"] = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    results.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for part in options.only.split(","):
            rows = PARTS[part](Path(name), options.quick, repeat)
            kept[part] = rows
            for row in rows:
                shown = [f"{row[key]:10.2f}" if row[key] is not None else " " * 10 for key in ("ours", "peer", "ratio")]
                print(f"{row['what']:58s} {' '.join(shown)}  {row['note']}", flush=True)
            results.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"written to {results.relative_to(HERE.parent)}")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        print(json.dumps(globals()[sys.argv[2]](json.loads(sys.argv[3]))))
    else:
        main()
