"""Calibration error of every method on the public splits, without validation labels, and what calibrating costs.

    python benchmarks/calibration.py [--seeds 10] [--data cora,citeseer,pubmed] [--methods planetoid,lp]

Default parameters; a method that draws nothing has one run. The raw probabilities are those before calibration. The
share of the time is that of one fit, of fast methods the median of several. A run that is in the results already is not
repeated. Data sets come from ``PLANETOID_DATA`` or ``../shared/data``.
Results: ``benchmarks/results/calibration.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np

import planetoid as pl
from planetoid.evaluation import expected_calibration_error
from planetoid.registry import METHODS, fastest_first

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "calibration.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
FAST, REPEATS = 0.5, 9  # seconds of a fit whose time is measured so often


def one_run(data: pl.Dataset, method: str, seed: int, *, calibrate: bool = True) -> dict[str, object]:
    """Fit once, and return accuracy, confidence and calibration error on the test nodes."""
    split = data.split("public")
    model = pl.METHODS[method](calibrate=calibrate)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    X = None if model.uses_features == "never" else data.X
    started = time.perf_counter()
    model.fit(X, pl.mask_labels(data.y, split.train), **given)
    seconds = time.perf_counter() - started
    truth, found = data.y[split.test], model.predict_proba()[split.test]
    return {
        "accuracy": float((found.argmax(axis=1) == truth).mean()),
        "confidence": float(found.max(axis=1).mean()),
        "error": expected_calibration_error(truth, found, np.arange(data.n_classes)),
        "seconds": seconds,
        "calibration": model.calibration_.as_dict(),
    }


def share(run: dict[str, object]) -> float:
    """Return the share of the time of a fit that calibrating took."""
    calibration = run["calibration"]
    assert isinstance(calibration, dict)
    return float(calibration["share"])


def draws(method: str) -> bool:
    """Return whether the result depends on the seed."""
    return "random_state" in pl.METHODS[method]().get_params() and method not in ("ica", "manireg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default="cora,citeseer,pubmed")
    parser.add_argument("--methods", default=",".join(fastest_first()))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for name in options.data.split(","):
        data = pl.datasets.load(name, root=ROOT)
        for method in options.methods.split(","):
            fast = METHODS.info(method).seconds < FAST
            if fast:
                one_run(data, method, 0)  # loads compiled code, which would count
            for seed in range(options.seeds if draws(method) else 1):
                entry = results.setdefault(method, {}).setdefault(name, {"calibrated": {}, "raw": {}})
                if str(seed) not in entry["calibrated"]:
                    runs = [one_run(data, method, seed) for _ in range(REPEATS if fast and seed == 0 else 1)]
                    entry["calibrated"][str(seed)] = sorted(runs, key=share)[len(runs) // 2]
                if seed == 0 and "0" not in entry["raw"]:
                    entry["raw"]["0"] = one_run(data, method, seed, calibrate=False)
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            errors = [run["error"] for run in entry["calibrated"].values()]
            print(
                f"{name} {method}: raw {entry['raw']['0']['error']:.3f}, calibrated {np.mean(errors):.3f}", flush=True
            )


if __name__ == "__main__":
    main()
