"""Calibration error of every method on the public splits, without validation labels, and what calibrating costs.

    python benchmarks/calibration.py [--seeds 10] [--data cora,citeseer,pubmed] [--methods planetoid,lp]
    python benchmarks/calibration.py --per-class 1,2,5,10 [--seeds 5] [--methods planetoid,gcn,ssgc]

Default parameters; a method that draws nothing has one run. The raw probabilities are those before calibration. The
share of the time is that of one fit, of fast methods the median of several. A run that is in the results already is not
repeated. With ``--per-class``, so many labels per class are drawn at random, once for each seed, and all nodes without
a label are test nodes but those of the public split; seeds count from 100, and smaller ones chose defaults. Data sets
come from ``PLANETOID_DATA`` or ``../shared/data``. Results: ``benchmarks/results/calibration.json``, with
``--per-class`` ``calibration_few_labels.json``.
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
from planetoid.data.splits import Split
from planetoid.evaluation import expected_calibration_error
from planetoid.registry import METHODS, fastest_first
from robustness import split as split_nodes

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "calibration.json"
FEW_LABELS = HERE / "results" / "calibration_few_labels.json"
FIRST_SPLIT = 100
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
FAST, REPEATS = 0.5, 9  # seconds of a fit whose time is measured so often


def drawn(data: pl.Dataset, per_class: int, seed: int) -> Split:
    """Return so many labels per class, and the other nodes that are not among the public test nodes."""
    allowed = np.setdiff1d(np.flatnonzero(data.y >= 0), data.split("public").test)
    train, test = split_nodes(data.y, per_class, seed, allowed, n_test=len(allowed))
    return Split(train, np.empty(0, np.int64), test, f"{per_class} labels per class")


def one_run(
    data: pl.Dataset, method: str, seed: int, *, split: Split | None = None, calibrate: bool = True
) -> dict[str, object]:
    """Fit once, and return accuracy, confidence and calibration error on the test nodes."""
    split = data.split("public") if split is None else split
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


def few_labels(options: argparse.Namespace) -> None:
    """Measure the error with few labels per class, calibrated and raw."""
    results = json.loads(FEW_LABELS.read_text()) if FEW_LABELS.is_file() else {}
    for name in options.data.split(","):
        data = pl.datasets.load(name, root=ROOT)
        for method in options.methods.split(","):
            for per_class in map(int, options.per_class.split(",")):
                entry = {}
                for kind in ("calibrated", "raw"):
                    runs = [
                        one_run(data, method, seed, split=drawn(data, per_class, seed), calibrate=kind == "calibrated")
                        for seed in range(FIRST_SPLIT, FIRST_SPLIT + options.seeds)
                    ]
                    entry[kind] = {
                        key: float(np.mean([run[key] for run in runs])) for key in ("accuracy", "confidence", "error")
                    }
                of_data = results.setdefault(method, {}).setdefault(name, {})
                of_data[str(per_class)] = {"splits": options.seeds, **entry}
                FEW_LABELS.write_text(json.dumps(results, indent=1) + "\n")
                print(name, method, per_class, entry, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default="cora,citeseer,pubmed")
    parser.add_argument("--methods", default=",".join(fastest_first()))
    parser.add_argument("--per-class", default="", help="numbers of labels per class of random splits")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.per_class:
        few_labels(options)
        return
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
