"""How long wide Parquet tables take to read, beside pyarrow's own reader and a conversion to CSR.

    python benchmarks/bench_wide_tables.py [--rows 2000] [--columns 4714 20000] [--repeat 5]

Bound to keep: ``read_dataset`` takes at most 1.5 times as long as ``pyarrow.parquet.read_table`` and a conversion to a
scipy CSR matrix, for 4,714 and for 20,000 columns. All are measured in turns, in processor time, and the best turn of
each counts, because another load on the machine only ever adds to it. Results go to
``benchmarks/results/wide_tables.json``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import planetoid as pl

RESULTS = Path(__file__).parent / "results" / "wide_tables.json"
BOUND = 1.5
DENSITY = 0.01


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Write ids and columns of numbers, one entry in a hundred nonzero."""
    generator = np.random.default_rng(0)
    columns: dict[str, object] = {"id": [f"paper_{k}" for k in range(n_rows)]}
    for k in range(n_columns):
        values = np.zeros(n_rows, dtype=np.float32)
        values[generator.random(n_rows) < DENSITY] = 1.0
        columns[f"word {k}"] = values
    pq.write_table(pa.table(columns), path)


def by_pyarrow(path: Path) -> sparse.csr_array:
    """Read a table with pyarrow alone, and convert it."""
    table = pq.read_table(path)
    return sparse.csr_array(np.column_stack([column.to_numpy() for column in table.columns[1:]]))


def best_times(ways: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Return the least processor seconds of each way; they take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeat):
        for name, run in ways.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, nargs="+", default=[4714, 20_000])
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n_columns in arguments.columns:
            path = Path(folder) / f"{n_columns}.parquet"
            write_table(path, arguments.rows, n_columns)
            ways: dict[str, Callable[[], object]] = {
                "pyarrow and CSR": lambda path=path: by_pyarrow(path),
                "features": lambda path=path: pl.read_dataset(features=path),
                "nodes": lambda path=path: pl.read_dataset(nodes=path),
            }
            assert (by_pyarrow(path).toarray() == pl.read_features(path).X).all()
            seconds = best_times(ways, arguments.repeat)
            least = seconds["pyarrow and CSR"]
            ratios = {name: seconds[name] / least for name in ("features", "nodes")}
            rows.append({"rows": arguments.rows, "columns": n_columns, "seconds": seconds, "ratios": ratios})
            print(f"{n_columns:,} columns: " + ", ".join(f"{name} {one:.2f} s" for name, one in seconds.items()))
            print(f"  ratio {ratios['features']:.2f}, of a node table {ratios['nodes']:.2f} (bound {BOUND})")
    record = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "tables": rows,
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    return int(any(ratio > BOUND for row in rows for ratio in row["ratios"].values()))


if __name__ == "__main__":
    sys.exit(main())
