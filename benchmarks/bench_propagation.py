"""The label-propagation family on a graph of the size of DIEL, beside scikit-network's diffusion.

    python benchmarks/bench_propagation.py [--nodes 4373008] [--edges 4464261] [--jobs 2]

Every row is a process of its own, so that its peak memory is its own; all read
the same graph. The time of one iteration is the difference between a long and
a short run, divided by the difference of their iterations, median of
``--repeat`` pairs. scikit-network runs in ``.venv-bench`` (see
``benchmarks/requirements.txt``); the row is left out, with a note, where that
is missing. Results go to ``benchmarks/results/propagation.json``.
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
import warnings
from pathlib import Path
from statistics import median

import numpy as np

HERE = Path(__file__).resolve().parent
OTHER_PYTHON = HERE.parent / ".venv-bench" / "bin" / "python"
SHORT, LONG = 5, 25

FITS = {
    "LabelPropagation, auto": ("LabelPropagation", {}),
    "LabelPropagation, class-mass normalisation": ("LabelPropagation", {"class_mass_normalization": True}),
    "LocalGlobalConsistency, auto": ("LocalGlobalConsistency", {}),
    "ModifiedAdsorption, auto": ("ModifiedAdsorption", {}),
    "ModifiedAdsorption, 10 iterations as Junto": (
        "ModifiedAdsorption",
        {"solver": "iterative", "max_iter": 10, "tol": 0.0},
    ),
}
STEPS = {
    "LabelPropagation": ("LabelPropagation", {}),
    "LocalGlobalConsistency": ("LocalGlobalConsistency", {}),
    "ModifiedAdsorption": ("ModifiedAdsorption", {}),
}


def write_graph(path: Path, n_nodes: int, n_edges: int, n_classes: int) -> None:
    """Lists and items at random: every item in one list at least, a few in very many."""
    rng = np.random.default_rng(0)
    n_lists = n_nodes * 8 // 25
    n_items = n_nodes - n_lists
    more = n_edges - n_items
    items = np.concatenate([np.arange(n_items), (n_items * rng.random(more) ** 3).astype(np.int64)])
    lists = rng.integers(0, n_lists, n_edges)
    y = np.full(n_nodes, -1)
    seeds = rng.choice(n_lists, n_nodes // 1000, replace=False)
    y[seeds] = rng.integers(0, n_classes, len(seeds))
    np.savez(path, source=lists.astype(np.int32), target=(items + n_lists).astype(np.int32), y=y)


def load_ours(path: Path):
    import planetoid as pl
    from planetoid.graph import EdgeList
    from planetoid.ids import NodeIds

    arrays = np.load(path)
    graph = pl.Graph.from_rows(EdgeList(arrays["source"], arrays["target"], None), NodeIds(len(arrays["y"])))
    return graph, arrays["y"]


def compile_kernels() -> None:
    """First use compiles (or loads from the cache); that is not what is measured."""
    import planetoid as pl

    ring = pl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    for solver in ("cg", "iterative"):
        pl.LabelPropagation(solver=solver).fit(y=[0, 1, -1, -1], graph=ring)


def run_fit(path: Path, name: str, jobs: int, _repeat: int) -> dict:
    import planetoid as pl

    compile_kernels()
    graph, y = load_ours(path)
    cls, parameters = FITS[name]
    model = getattr(pl, cls)(**parameters, n_jobs=jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(y=y, graph=graph)
    return {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "iterations": int(model.n_iter_),
    }


def run_step(path: Path, name: str, jobs: int, repeat: int) -> dict:
    import planetoid as pl

    compile_kernels()
    graph, y = load_ours(path)
    cls, parameters = STEPS[name]

    def fit(n_iter: int) -> None:
        getattr(pl, cls)(**parameters, solver="iterative", tol=0.0, max_iter=n_iter, n_jobs=jobs).fit(y=y, graph=graph)

    return per_iteration(fit, repeat)


def run_other(path: Path, _name: str, _jobs: int, repeat: int) -> dict:
    from scipy import sparse
    from sknetwork.classification import DiffusionClassifier

    arrays = np.load(path)
    y, n = arrays["y"], len(arrays["y"])
    half = sparse.coo_matrix((np.ones(len(arrays["source"])), (arrays["source"], arrays["target"])), (n, n))
    adjacency = ((half + half.T) > 0).astype(float).tocsr()
    return per_iteration(lambda n_iter: DiffusionClassifier(n_iter=n_iter).fit(adjacency, y), repeat)


def per_iteration(fit, repeat: int) -> dict:
    wall, cpu = [], []
    for _ in range(repeat):
        marks = [(time.perf_counter(), time.process_time())]
        for n_iter in (SHORT, LONG):
            fit(n_iter)
            marks.append((time.perf_counter(), time.process_time()))
        (w0, c0), (w1, c1), (w2, c2) = marks
        wall.append((w2 - w1 - (w1 - w0)) / (LONG - SHORT))
        cpu.append((c2 - c1 - (c1 - c0)) / (LONG - SHORT))
    return {"seconds_per_iteration": median(wall), "cpu_seconds_per_iteration": median(cpu)}


RUNNERS = {"fit": run_fit, "step": run_step, "other": run_other}


def child(kind: str, path: str, name: str, jobs: str, repeat: str) -> None:
    warnings.simplefilter("ignore")
    result = RUNNERS[kind](Path(path), name, int(jobs), int(repeat))
    result["peak_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps(result))


def spawn(python: Path | str, kind: str, path: Path, name: str, jobs: int, repeat: int) -> dict:
    command = [str(python), __file__, "--child", kind, str(path), name, str(jobs), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    result = {"name": name, "threads": jobs, **json.loads(done.stdout.splitlines()[-1])}
    print(", ".join(f"{key} {value:.3g}" if isinstance(value, float) else str(value) for key, value in result.items()))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4_373_008)
    parser.add_argument("--edges", type=int, default=4_464_261)
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "propagation.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        write_graph(path, options.nodes, options.edges, options.classes)
        fits = [spawn(sys.executable, "fit", path, name, options.jobs, 1) for name in FITS]
        steps = []
        if OTHER_PYTHON.exists():
            steps.append(spawn(OTHER_PYTHON, "other", path, "scikit-network DiffusionClassifier", 1, options.repeat))
        else:
            print(f"no scikit-network: {OTHER_PYTHON} is missing")
        for jobs in sorted({1, options.jobs}):
            steps += [spawn(sys.executable, "step", path, name, jobs, options.repeat) for name in STEPS]
    report = {
        "what": "label propagation family on a random bipartite graph",
        "nodes": options.nodes,
        "edges": options.edges,
        "classes": options.classes,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()[0]},
        "fit": fits,
        "iteration": steps,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
