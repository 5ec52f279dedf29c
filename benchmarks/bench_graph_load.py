"""Loading a graph of 10 million edges with string ids: time and peak memory.

    python benchmarks/bench_graph_load.py [--edges 10000000] [--nodes 1000000]

Writes a Parquet file (and the same as CSV), then loads each in a fresh process
that reports its resident memory before the load and at its peak. The bound to
keep is 60 seconds and 4 times the size of the finished CSR and ids.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "graph_load.json"
SECONDS_ALLOWED, RATIO_ALLOWED = 60, 4


def write_edges(folder: Path, n_edges: int, n_nodes: int, weighted: bool) -> list[Path]:
    """Write random edges between nodes called ``paper_123456`` as Parquet and CSV."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    generator = np.random.default_rng(0)
    names = pa.array([f"paper_{number}" for number in generator.permutation(n_nodes)])
    name = f"{'weighted' if weighted else 'plain'}_edges"
    paths = [folder / f"{name}.parquet", folder / f"{name}.csv"]
    columns = {"source": pa.string(), "target": pa.string()} | ({"weight": pa.float32()} if weighted else {})
    schema = pa.schema(columns)
    with parquet.ParquetWriter(paths[0], schema) as table, csv.CSVWriter(paths[1], schema) as text:
        for start in range(0, n_edges, 1_000_000):
            rows = min(1_000_000, n_edges - start)
            ends = [names.take(pa.array(generator.integers(0, n_nodes, rows))) for _ in range(2)]
            weights = [pa.array(generator.random(rows, dtype=np.float32))] if weighted else []
            piece = pa.record_batch([*ends, *weights], schema=schema)
            table.write_batch(piece)
            text.write_batch(piece)
    return paths


def memory(field: str) -> int:
    """Return a field of /proc/self/status in bytes: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def load(path: Path) -> None:
    """Load one file and print what it took; runs in a process of its own."""
    import numpy  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import scipy.sparse  # noqa: F401

    import planetoid as pl

    graph_class = pl.Graph
    before = memory("VmRSS")
    start, cpu_start = time.perf_counter(), time.process_time()
    graph = graph_class.from_file(path)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    peak = memory("VmHWM")
    report = {
        "file": path.name,
        "graph": repr(graph),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "graph_bytes": graph.nbytes,
        "rss_before_bytes": before,
        "peak_rss_bytes": peak,
        "peak_over_graph": round(peak / graph.nbytes, 2),
        "added_over_graph": round((peak - before) / graph.nbytes, 2),
    }
    print(json.dumps(report))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load(arguments.load)
        return
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        for weighted in (False, True):
            for path in write_edges(Path(folder), arguments.edges, arguments.nodes, weighted):
                command = [sys.executable, __file__, "--load", str(path)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                reports.append(json.loads(done.stdout) | {"file_bytes": path.stat().st_size})
    show(reports)
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
    settings = {"edges": arguments.edges, "nodes": arguments.nodes, "seconds_allowed": SECONDS_ALLOWED}
    settings["peak_over_graph_allowed"] = RATIO_ALLOWED
    RESULTS.write_text(json.dumps({"settings": settings, "machine": machine, "loads": reports}, indent=2) + "\n")
    print(f"written to {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}")


def show(reports: list[dict[str, object]]) -> None:
    """Print the reports as a table; memory in MB."""
    in_bytes = ("file_bytes", "graph_bytes", "rss_before_bytes", "peak_rss_bytes")
    heads = ("file", "seconds", "CPU s", "file MB", "graph MB", "RSS before", "peak RSS", "peak/graph", "added/graph")
    rows: list[tuple[str, ...]] = [heads]
    for report in reports:
        sizes = [f"{int(str(report[name])) / 1e6:.0f}" for name in in_bytes]
        ratios = [str(report[name]) for name in ("peak_over_graph", "added_over_graph")]
        rows.append((*(str(report[name]) for name in ("file", "seconds", "cpu_seconds")), *sizes, *ratios))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    print(f"allowed: {SECONDS_ALLOWED} s, peak/graph {RATIO_ALLOWED}")


if __name__ == "__main__":
    main()
