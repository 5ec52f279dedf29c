"""Several processes on one machine: exchange, speed, memory, and predictions with a worker that is killed.

    python benchmarks/bench_cluster.py [--nodes 1000000] [--walks 200000] [--repeat 3] [--predict-rows 10000000]
        [--torchrun .venv-torchrec/bin/torchrun] [--only training,prediction]
    python benchmarks/bench_cluster.py --accuracy cora [--seeds 3]

All processes have one thread and talk over the loopback interface. Every configuration runs in fresh processes, and the
configurations take turns; the figures are medians. A *pair* is a positive pair with its negatives, as in
``bench_skipgram.py``. Bounds: two processes train 1.4 times as fast as one; a process takes half of the tables, the
graph and 0.5 GB; two processes train at least 5 times as many pairs per second as TorchRec with tables sharded by rows
(``peer_torchrec.py``), which is given pairs of neighbours and five random nodes each. Results:
``benchmarks/results/cluster.json``.

``--accuracy`` fits ``planetoid`` and ``planetoid-i`` on the public split of a data set: without ``--processes``, with
one process, and twice with two, in fresh processes each time. Bounds: two processes are within 0.3 points of one, and
give the same bits in both runs. Results: ``benchmarks/results/cluster_accuracy.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
DIMENSION = 128
SIZES = (1_000, 50_000, 500_000, 2_000_000)
PEER_BATCHES, PEER_PAIRS = 40, 20_000


def worker(folder: Path, walks: int, engine: str) -> dict[str, Any]:
    """Train for a while on a stored graph; return what this process has seen."""
    from planetoid import distributed
    from planetoid.engine import Contexts, ContextSampler, SkipGram
    from planetoid.engine.sharded import ShardedSkipGram
    from planetoid.engine.shards import ColumnShard
    from planetoid.engine.skipgram import new_tables

    graph = distributed.open_graph(folder / "graph")
    with distributed.join() as group:
        shard = ColumnShard(DIMENSION, group)
        sampler = ContextSampler(graph, Contexts(r2=1.0), seed=0)
        before = _resident()
        if engine == "one process":
            e, w = new_tables(graph.n_nodes, DIMENSION, 0)
            skipgram: SkipGram = SkipGram(sampler, e, w)
        else:
            e, w = new_tables(graph.n_nodes, DIMENSION, 0, columns=shard.columns)
            skipgram = ShardedSkipGram(sampler, e, w, shard)
        skipgram.train(0, 2, 10**6)  # compiled, and the pages of the tables are there
        batches = max(1, walks // skipgram.n_slots)
        group.texts("")
        wall, cpu = time.perf_counter(), time.process_time()
        skipgram.train(2, 2 + batches, 10**6)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        pairs = batches * skipgram.n_slots * sampler.pairs_per_walk
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        digests = group.texts(hashlib.sha256(np.ascontiguousarray(e)).hexdigest())
        return {
            "pairs_per_second": pairs / wall,
            "cpu_seconds_per_million_pairs": cpu / pairs * 1e6,
            "peak_bytes": peak,
            "without_tables_bytes": before,
            "tables_bytes": e.nbytes + w.nbytes,
            "graph_bytes": int(graph.nbytes),
            "digests": digests,
            "exchange_ms": _exchange(group) if group.size > 1 else {},
        }


def _exchange(group: Any) -> dict[str, float]:
    """Return milliseconds of an exchange of so many integers."""
    found = {}
    for size in SIZES:
        values = np.zeros(size, np.int32)
        group.start_sum(values)()
        took = []
        for _ in range(20):
            began = time.perf_counter()
            group.start_sum(values)()
            took.append(1e3 * (time.perf_counter() - began))
        found[f"{size:,}"] = median(took)
    return found


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run(folder: Path, walks: int, processes: int, engine: str) -> list[dict[str, Any]]:
    """Train in so many processes; return the answer of each."""
    return launched(folder, processes, "--walks", str(walks), "--engine", engine)


def launched(folder: Path, processes: int, *options: str) -> list[dict[str, Any]]:
    """Run a worker in so many processes; return the answer of each."""
    from planetoid.distributed.launch import launch

    assert launch([sys.executable, __file__, "--worker", str(folder), *options], processes) == 0
    answers = []
    for rank in range(processes):
        file = folder / f"answer-{rank}.json"
        answers.append(json.loads(file.read_text()))
        file.unlink()
    return answers


def write_pairs(folder: Path, graph: Any) -> None:
    """Write the pairs that TorchRec is given."""
    random = np.random.default_rng(1)
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    places = random.integers(0, len(rows), (PEER_BATCHES, PEER_PAIRS))
    negatives = random.integers(0, graph.n_nodes, (PEER_BATCHES, PEER_PAIRS, 5))
    contexts = np.concatenate([graph.indices[places][..., None], negatives], axis=2)
    np.savez(
        folder / "pairs.npz", centres=rows[places], contexts=contexts.astype(np.int64), n_nodes=graph.n_nodes,
        dimension=DIMENSION,
    )  # fmt: skip


def run_torchrec(torchrun: str, folder: Path) -> float:
    """Return TorchRec's pairs per second in two processes of one thread."""
    subprocess.run(
        [torchrun, "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0",
         str(Path(__file__).with_name("peer_torchrec.py")), str(folder)],
        check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return float(json.loads((folder / "torchrec.json").read_text())["pairs_per_second"])


def training(nodes: int, walks: int, repeat: int, torchrun: str | None) -> dict[str, Any]:
    """Compare one process, the divided engine in one process, and in two; and TorchRec in two."""
    import planetoid as pl
    from planetoid import distributed

    random = np.random.default_rng(0)
    graph = pl.Graph.from_edges(random.integers(0, nodes, 4 * nodes), random.integers(0, nodes, 4 * nodes), nodes=nodes)
    cases = {"one process": ("one process", 1), "columns, 1": ("columns", 1), "columns, 2": ("columns", 2)}
    found: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in cases}
    peer: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        distributed.store_graph(graph, folder / "graph")
        if torchrun is not None:
            write_pairs(folder, graph)
        del graph
        for _ in range(repeat):
            for case, (engine, processes) in cases.items():
                found[case].append(run(folder, walks, processes, engine))
            if torchrun is not None:
                peer.append(run_torchrec(torchrun, folder))
    rates = {case: median(answers[0]["pairs_per_second"] for answers in runs) for case, runs in found.items()}
    cpu = {
        case: median(answers[0]["cpu_seconds_per_million_pairs"] for answers in runs) for case, runs in found.items()
    }
    two = [answer for answers in found["columns, 2"] for answer in answers]
    first = two[0]
    above = max(answer["peak_bytes"] for answer in two) - first["tables_bytes"] - first["graph_bytes"]
    if peer:
        rates["TorchRec, 2"] = median(peer)
    return {
        "nodes": nodes,
        "pairs_per_second": rates,
        "cpu_seconds_per_million_pairs": cpu,
        "two_against_one": rates["columns, 2"] / rates["columns, 1"],
        "two_against_the_engine_of_one_process": rates["columns, 2"] / rates["one process"],
        "two_against_TorchRec": rates["columns, 2"] / rates["TorchRec, 2"] if peer else None,
        "gigabytes_above_half_of_the_tables_and_the_graph": above / 1e9,
        "exchange_ms": first["exchange_ms"],
        "same_bits_from_run_to_run": len({tuple(answers[0]["digests"]) for answers in found["columns, 2"]}) == 1,
    }


def fits(method: str, dataset: str, seeds: int) -> dict[str, Any]:
    """Fit a method with several seeds on a public split; return accuracies on its test nodes, and digests."""
    import planetoid as pl
    from planetoid import distributed

    data = pl.datasets.load(dataset)
    split = data.split("public")

    def fit(seed: int) -> dict[str, Any]:
        model = pl.METHODS[method](random_state=seed)
        model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
        return {
            "accuracy": float((model.predict()[split.test] == data.y[split.test]).mean()),
            "digest": hashlib.sha256(np.ascontiguousarray(model.label_distributions_)).hexdigest(),
        }

    with distributed.join() as group:
        found: dict[str, Any] = {"together": [fit(seed) for seed in range(seeds)]}
    return found if group.size > 1 else found | {"alone": [fit(seed) for seed in range(seeds)]}


def accuracy(dataset: str, seeds: int) -> dict[str, Any]:
    """Compare two processes with one, and with the engine of one process."""
    found: dict[str, Any] = {"dataset": dataset, "seeds": seeds, "methods": {}}
    with tempfile.TemporaryDirectory() as name:
        for method in ("planetoid", "planetoid-i"):
            options = ("--fit", method, "--dataset", dataset, "--seeds", str(seeds))
            (one,), two, again = (launched(Path(name), processes, *options) for processes in (1, 2, 2))
            cases = {"without --processes": one["alone"], "1": one["together"], "2": two[0]["together"]}
            digests = [[fit["digest"] for fit in part["together"]] for part in (*two, *again)]
            found["methods"][method] = {
                "accuracies": {case: [fit["accuracy"] for fit in some] for case, some in cases.items()},
                "same_bits_from_run_to_run": all(own == digests[0] for own in digests),
                "same_bits_as": [case for case, some in cases.items() if [fit["digest"] for fit in some] == digests[0]],
            }
    return found


def prediction(rows: int, parts: int = 40) -> dict[str, Any]:
    """Label rows of 100 features on two Dask workers, one of which is killed half way."""
    import pandas as pd

    import planetoid as pl
    from planetoid.cli.predict_parts import PartTask, label_part
    from planetoid.distributed.dask_tasks import as_finished, connect
    from planetoid.distributed.labelling import Labeller
    from planetoid.distributed.manifest import Manifest

    names = [f"f{k}" for k in range(100)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sample = np.random.default_rng(0).random((2_000, 100), dtype=np.float32)
        model = pl.Feat().fit(pd.DataFrame(sample, columns=names), (sample[:, :5].sum(axis=1) // 1).astype(int))
        model.save(folder / "model")
        sha256 = Labeller(folder / "model").sha256
        outputs = [f"part-{number:05d}.parquet" for number in range(parts)]
        tasks = []
        for number, output in enumerate(outputs):
            X = np.random.default_rng(number + 1).random((rows // parts, 100), dtype=np.float32)
            file = folder / f"rows-{number}.parquet"
            pd.DataFrame(X, columns=names).assign(id=np.arange(len(X)) + number * len(X)).to_parquet(file, index=False)
            out = str(folder / "out" / output)
            tasks.append(PartTask(str(folder / "model"), sha256, str(file), out, "id", None, False))
        manifest = Manifest(folder / "out", {}, outputs)
        began, killed = time.perf_counter(), False
        with connect(workers=2) as client:
            for number, written in as_finished(client, label_part, tasks):
                manifest.add(outputs[number], written.rows)
                if len(manifest.parts) >= parts // 2 and not killed:
                    killed = True
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        seconds = time.perf_counter() - began
        checked = 0
        for number in range(0, parts, 5):
            X = np.random.default_rng(number + 1).random((rows // parts, 100), dtype=np.float32)
            labels = pd.read_parquet(folder / "out" / outputs[number])["label"].to_numpy()
            np.testing.assert_array_equal(labels, model.predict(pd.DataFrame(X, columns=names)))
            checked += len(labels)
        return {
            "rows": manifest.n_rows, "complete": manifest.complete, "killed": killed, "rows_checked": checked,
            "rows_per_second": manifest.n_rows / seconds,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--walks", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--predict-rows", type=int, default=10_000_000)
    parser.add_argument("--torchrun", help="of an environment with TorchRec, to compare with it")
    parser.add_argument("--only", default="training,prediction")
    parser.add_argument("--accuracy", metavar="DATASET")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    parser.add_argument("--dataset", help=argparse.SUPPRESS)
    parser.add_argument("--engine", default="columns", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        if options.fit is not None:
            answer = fits(options.fit, options.dataset, options.seeds)
        else:
            answer = worker(options.worker, options.walks, options.engine)
        (options.worker / f"answer-{os.environ['RANK']}.json").write_text(json.dumps(answer))
        return
    out = options.out or RESULTS / ("cluster.json" if options.accuracy is None else "cluster_accuracy.json")
    results = json.loads(out.read_text()) if out.exists() else {}
    results["machine"] = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    parts = options.only.split(",") if options.accuracy is None else ()
    if options.accuracy is not None:
        results |= accuracy(options.accuracy, options.seeds)
    if "training" in parts:
        results["training"] = training(options.nodes, options.walks, options.repeat, options.torchrun)
    if "prediction" in parts:
        results["prediction"] = prediction(options.predict_rows)
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
