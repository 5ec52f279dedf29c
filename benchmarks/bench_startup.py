"""How long ``import planetoid`` and ``planetoid --help`` take, each in a fresh process.

    python benchmarks/bench_startup.py [--repeat 15]

The bounds to keep are 0.5 and 0.7 seconds. Results go to ``benchmarks/results/startup.json``.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).parent / "results" / "startup.json"
COMMAND = Path(sys.executable).parent / "planetoid"
CASES = {
    "python -c pass": ([sys.executable, "-c", "pass"], None),
    "import planetoid": ([sys.executable, "-c", "import planetoid"], 0.5),
    "planetoid --help": ([str(COMMAND), "--help"], 0.7),
    "planetoid --version": ([str(COMMAND), "--version"], None),
    "planetoid datasets list": ([str(COMMAND), "datasets", "list"], None),
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    rows = {}
    print(f"{'':<24} {'median s':>9} {'slowest s':>10} {'bound s':>8}")
    for name, (command, bound) in CASES.items():
        seconds(command)  # the first one fills the caches of the disk
        times = [seconds(command) for _ in range(repeat)]
        rows[name] = {"median": round(median(times), 4), "slowest": round(max(times), 4), "bound": bound}
        print(f"{name:<24} {median(times):>9.3f} {max(times):>10.3f} {bound or '':>8}")
    RESULTS.parent.mkdir(exist_ok=True)
    record = {"python": platform.python_version(), "repeat": repeat, "seconds": rows}
    RESULTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if any(row["bound"] is not None and row["median"] > row["bound"] for row in rows.values()):
        sys.exit("too slow")


if __name__ == "__main__":
    main()
