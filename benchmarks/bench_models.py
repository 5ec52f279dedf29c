"""The Planetoid models: time beside a graph network, accuracy, and memory on the large data.

    python benchmarks/bench_models.py [--only time,accuracy,nell,lists] [--seeds 5] [--scale 1.0]

``time``: ``PlanetoidT.fit`` on Cora beside 200 epochs of a two-layer GCN (hidden
16, sparse features, plain torch), taking turns in one process on two threads.
``accuracy``: public split, fixed budget and validation stopping; Planetoid-I on
test nodes that were never there. ``nell`` and ``lists``: peak memory in a process
of its own. Results: ``benchmarks/results/models.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "models.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")


def gcn_seconds(data, split) -> float:
    """Time 200 epochs of a two-layer graph convolutional network."""
    import torch
    from scipy import sparse

    n = data.graph.n_nodes
    A = data.graph.to_scipy() + sparse.eye_array(n, format="csr", dtype=np.float32)
    scale = sparse.diags_array(1 / np.sqrt(A.sum(axis=1)))
    S = (scale @ A @ scale).tocoo()
    S = torch.sparse_coo_tensor(np.vstack([S.row, S.col]), S.data.astype(np.float32), S.shape).to_sparse_csr()
    X = data.X.tocoo()
    X = torch.sparse_coo_tensor(np.vstack([X.row, X.col]), X.data, X.shape).to_sparse_csr()
    n_classes = len(data.class_names)
    generator = torch.Generator().manual_seed(0)
    W = [torch.empty(X.shape[1], 16), torch.empty(16, n_classes)]
    for weight in W:
        torch.nn.init.xavier_uniform_(weight, generator=generator).requires_grad_()
    optimizer = torch.optim.Adam(W, lr=0.01, weight_decay=5e-4)
    rows, y = torch.from_numpy(split.train.copy()), torch.from_numpy(data.y[split.train].astype(np.int64))
    started = time.perf_counter()
    for _ in range(200):
        optimizer.zero_grad()
        hidden = torch.nn.functional.dropout(torch.relu(S @ (X @ W[0])), 0.5)
        torch.nn.functional.cross_entropy((S @ (hidden @ W[1]))[rows], y).backward()
        optimizer.step()
    return time.perf_counter() - started


def timing(_: argparse.Namespace) -> dict:
    import planetoid as pl

    data = pl.datasets.load("cora", root=ROOT)
    split = data.split("public")
    y = pl.mask_labels(data.y, split.train)
    ours, theirs = [], []
    pl.PlanetoidT(n_jobs=2, training=pl.Training(steps=1, pretrain=1)).fit(data.X, y, graph=data.graph)  # compile
    for seed in range(7):
        started = time.perf_counter()
        pl.PlanetoidT(n_jobs=2, random_state=seed).fit(data.X, y, graph=data.graph)
        ours.append(time.perf_counter() - started)
        theirs.append(gcn_seconds(data, split))
    return {"PlanetoidT_s": median(ours), "GCN_s": median(theirs), "ratio": median(ours) / median(theirs)}


def accuracy(options: argparse.Namespace) -> dict:
    import planetoid as pl

    found: dict = {}
    for name in options.datasets.split(","):
        data = pl.datasets.load(name, root=ROOT)
        split = data.split("public")
        for protocol in ("fixed budget", "validation stopping"):
            held = split.val_labels(data.y) if protocol != "fixed budget" else None
            for cls in (pl.PlanetoidT, pl.PlanetoidG, pl.PlanetoidI):
                scores = []
                for seed in range(options.seeds):
                    scores.append(one_accuracy(pl, cls, data, split, held, seed))
                found[f"{cls.__name__} {name} {protocol}"] = [float(np.mean(scores)), float(np.std(scores))]
                print(
                    f"  {cls.__name__:11s} {name:9s} {protocol:20s} {np.mean(scores):.4f} +- {np.std(scores):.4f}",
                    flush=True,
                )
    return found


def one_accuracy(pl, cls, data, split, held, seed: int) -> float:
    model = cls(random_state=seed, n_jobs=2) if cls is not pl.PlanetoidI else cls(random_state=seed)
    if not cls.inductive:
        X = data.X if cls.uses_features == "required" else None
        model.fit(X, pl.mask_labels(data.y, split.train), graph=data.graph, validation=held)
        return float((model.predict()[split.test] == data.y[split.test]).mean())
    seen = data.without(split.test)
    y = pl.mask_labels(seen.y, seen.rows_from_parent(split.train))
    held = None if held is None else pl.mask_labels(seen.y, seen.rows_from_parent(split.val))
    model.fit(seen.X, y, graph=seen.graph, validation=held)
    return float((model.predict(data.X[split.test]) == data.y[split.test]).mean())


def nell_worker(job: dict) -> dict:
    import planetoid as pl

    data = pl.datasets.load("nell-0.1", root=ROOT)
    split = data.split("public")
    y = pl.mask_labels(data.y, split.train)
    started = time.perf_counter()
    cls = getattr(pl, job["cls"])
    model = cls().set_params(**job["parameters"])
    model.fit(data.X if cls.uses_features == "required" else None, y, graph=data.graph)
    scored = float((model.predict()[split.test] == data.y[split.test]).mean())
    return {"accuracy": scored, "seconds": time.perf_counter() - started, **peak()}


def lists_worker(job: dict) -> dict:
    import planetoid as pl

    data = pl.datasets.make_coordinate_lists(scale=job["scale"], seed=0)
    started = time.perf_counter()
    cls = getattr(pl, job["cls"])
    model = cls().set_params(**job["parameters"])
    model.fit(data.X if cls.uses_features == "required" else None, data.y, graph=data.graph)
    n = len(model.predict())
    return {"nodes": n, "seconds": time.perf_counter() - started, **peak()}


def peak() -> dict:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss includes what the parent had when it forked
        return {"peak_gb": int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) * 1024 / 1e9}
    return {"peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9}


def apart(worker: str, job: dict) -> dict:
    return apart_in(__file__, worker, job)


def apart_in(script: str, worker: str, job: dict) -> dict:
    """Run a function of a script in a process of its own."""
    done = subprocess.run([sys.executable, script, "--worker", worker, json.dumps(job)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def nell(_: argparse.Namespace) -> dict:
    found = {}
    for cls, parameters in (("PlanetoidT", {"n_jobs": 2}), ("PlanetoidG", {"n_jobs": 2}), ("PlanetoidI", {})):
        found[cls] = apart("nell_worker", {"cls": cls, "parameters": parameters})
        print(" ", cls, found[cls], flush=True)
    return found


def lists(options: argparse.Namespace) -> dict:
    found = json.loads(RESULTS.read_text()).get("lists", {}) if RESULTS.exists() else {}
    for cls, parameters in (
        ("PlanetoidG", {"dimension": 64, "training__pretrain": 1, "training__steps": 20, "n_jobs": 2}),
        ("PlanetoidI", {"dimension": 64, "training__pretrain": 0.05, "training__steps": 20, "training__N2": 2000}),
    ):
        if cls not in options.models:
            continue
        found[cls] = apart("lists_worker", {"cls": cls, "parameters": parameters, "scale": options.scale})
        print(" ", cls, found[cls], flush=True)
    return found


PARTS = {"time": timing, "accuracy": accuracy, "nell": nell, "lists": lists}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--datasets", default="cora", help="for accuracy, separated by commas")
    parser.add_argument(
        "--models", default="PlanetoidG,PlanetoidI", help="for the lists; the others keep their results"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the coordinate lists; 1 is DIEL's size")
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in options.only.split(","):
        print(part, flush=True)
        kept[part] = PARTS[part](options)
        print(" ", kept[part], flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        print(json.dumps(globals()[sys.argv[2]](json.loads(sys.argv[3]))))
    else:
        main()
