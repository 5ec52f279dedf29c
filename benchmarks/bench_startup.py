"""How long commands take to start, each in a fresh process, against what they cannot do without.

    python benchmarks/bench_startup.py [--repeat 9]

Four kinds of bounds:

- ``import planetoid`` and ``planetoid --help``: seconds.
- ``planetoid predict`` of a model that holds its labels, and ``planetoid check``, both on Cora's files: at most 3 times
  as long as ``python -c "import numpy, pandas, pyarrow"``.
- ``planetoid fit`` (with the default method, and with PlanetoidT) and ``planetoid report`` on Cora's files: at most 3
  seconds more than the same call in a Python process that has imported and compiled everything already.
- The first fit of an embedding, which compiles the engine, in a process with an empty cache: at most 5 seconds
  more than with a full one.

The processes alternate, so that a busy machine slows all of them; figures are medians. Results go to
``benchmarks/results/startup.json``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).parent / "results" / "startup.json"
RUN = "from planetoid.cli.main import run; run()"
IMPORTS = ["-c", "import numpy, pandas, pyarrow"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
MOST_SECONDS = {"import planetoid": 0.5, "planetoid --help": 0.7}
MOST_RATIO = 3.0
MOST_MORE_SECONDS = 3.0
MOST_COMPILE_SECONDS = 5.0
FIRST_FIT = """
import time
import planetoid as pl
data = pl.datasets.make_citation(300, seed=1)
start = time.perf_counter()
pl.GraphEmbedding(pretrain=1).fit(None, data.y, graph=data.graph)
print(time.perf_counter() - start)
"""


def process_seconds(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def call_seconds(*arguments: str) -> float:
    """Run a command in this process."""
    from planetoid.cli.main import app

    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        app(list(arguments), standalone_mode=False)
    return time.perf_counter() - start


def write_cora(folder: Path) -> list[str]:
    """Write Cora as a user's own files; return the options that name them."""
    import numpy as np
    import pandas as pd

    import planetoid as pl

    data = pl.datasets.load("cora-bundled")
    names = np.array([f"paper_{node}" for node in data.node_ids])
    source, target = data.graph.to_scipy().nonzero()
    once = source < target
    pd.DataFrame({"source": names[source[once]], "target": names[target[once]]}).to_csv(folder / "e.csv", index=False)
    words = pd.DataFrame(data.X.toarray(), columns=[f"word {k}" for k in range(data.n_features)])
    words.assign(id=names).to_parquet(folder / "f.parquet")
    rows = data.split("random", seed=0).train
    labels = pd.DataFrame({"id": names[rows], "label": np.array(data.class_names)[data.y[rows]]})
    labels.to_csv(folder / "l.csv", index=False)
    options = {"edges": "e.csv", "features": "f.parquet", "labels": "l.csv"}
    return [part for role, name in options.items() for part in (f"--{role}", str(folder / name))]


def medians(cases: dict[str, Callable[[], float]], repeat: int) -> dict[str, float]:
    """Return the median seconds of each case; the cases take turns, after one run that fills the caches."""
    for case in cases.values():
        case()
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeat):
        for name, case in cases.items():
            times[name].append(case())
    return {name: median(some) for name, some in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_cora(folder)
        model, page = str(folder / "model"), str(folder / "r.html")
        fit = ["fit", *files, "--out", model, "--force", "--quiet"]
        fit_t = ["fit", *files, "--method", "planetoid-t", "--out", str(folder / "t"), "--force", "--quiet"]
        predict = ["predict", model, "--out", str(folder / "p.csv"), "--force", "--quiet"]
        report = ["report", model, "--out", page, "--force", "--quiet"]
        call_seconds(*fit)
        start = medians(
            {
                "python -c pass": lambda: process_seconds("-c", "pass"),
                "import planetoid": lambda: process_seconds("-c", "import planetoid"),
                "planetoid --help": lambda: process_seconds("-c", RUN, "--help"),
                "import numpy, pandas, pyarrow": lambda: process_seconds(*IMPORTS),
                "planetoid predict": lambda: process_seconds("-c", RUN, *predict),
                "planetoid check": lambda: process_seconds("-c", RUN, "check", *files, "--quiet"),
            },
            repeat,
        )
        long = medians(
            {
                f"{command} in {where}": (lambda measure=measure, arguments=arguments: measure(*arguments))
                for command, arguments in (("fit", fit), ("fit --method planetoid-t", fit_t), ("report", report))
                for where, measure in (("a warm process", call_seconds), ("a new process", new_process_seconds))
            },
            max(3, repeat // 3),
        )
    rows = show(start, long, compile_seconds(max(3, repeat // 3)))
    RESULTS.parent.mkdir(exist_ok=True)
    record = {"python": platform.python_version(), "repeat": repeat, "figures": rows}
    RESULTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if any(row["bound"] is not None and row["value"] > row["bound"] for row in rows):
        sys.exit("too slow")


def new_process_seconds(*arguments: str) -> float:
    return process_seconds("-c", RUN, *arguments)


def compile_seconds(repeat: int) -> float:
    """Return how much longer the first fit takes with an empty cache of compiled code."""
    more = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (first_fit_seconds(cache) for _ in range(2))
            more.append(cold - warm)
    return median(more)


def first_fit_seconds(cache: str) -> float:
    environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": cache}
    run = subprocess.run([sys.executable, "-c", FIRST_FIT], check=True, capture_output=True, env=environment)
    return float(run.stdout)


def show(start: dict[str, float], long: dict[str, float], compiling: float) -> list[dict[str, object]]:
    """Print and return each figure, its unit and its bound."""
    rows: list[dict[str, object]] = []
    for name, seconds in start.items():
        rows.append({"name": name, "value": seconds, "unit": "s", "bound": MOST_SECONDS.get(name)})
    for name in ("planetoid predict", "planetoid check"):
        ratio = start[name] / start["import numpy, pandas, pyarrow"]
        rows.append({"name": f"{name} / imports", "value": ratio, "unit": "x", "bound": MOST_RATIO})
    for name, seconds in long.items():
        rows.append({"name": name, "value": seconds, "unit": "s", "bound": None})
    for command in ("fit", "fit --method planetoid-t", "report"):
        more = long[f"{command} in a new process"] - long[f"{command} in a warm process"]
        rows.append({"name": f"{command}: new - warm", "value": more, "unit": "s", "bound": MOST_MORE_SECONDS})
    rows.append({"name": "first compile", "value": compiling, "unit": "s", "bound": MOST_COMPILE_SECONDS})
    print(f"{'':<44} {'median':>8}    {'bound':>6}")
    for row in rows:
        row["value"] = round(float(row["value"]), 3)  # type: ignore[arg-type]
        bound = "" if row["bound"] is None else f"{row['bound']:.1f}"
        print(f"{row['name']:<44} {row['value']:>8.3f} {row['unit']:<2} {bound:>6}")
    return rows


if __name__ == "__main__":
    main()
