"""Calibration error of the Planetoid models with and without validation labels, on the public splits, seed 0.

python benchmarks/calibration.py; data sets come from ``PLANETOID_DATA`` or ``../shared/data``.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import planetoid as pl
from planetoid.evaluation import Protocol, run_once

ROOT = os.environ.get("PLANETOID_DATA") or str(Path(__file__).resolve().parents[2] / "shared" / "data")


def main() -> None:
    warnings.simplefilter("ignore")
    for name in ("cora", "citeseer"):
        data = pl.datasets.load(name, root=ROOT)
        for method in ("planetoid-t", "planetoid-g"):
            for validation in (False, True):
                run = run_once(method, data, Protocol("public", validation=validation), 0)
                figures = {key: round(value, 3) for key, value in run.result.metrics.items()}
                confidence = round(float(run.probabilities.max(axis=1).mean()), 3)
                print(name, method, "validation" if validation else "fixed", figures, "mean confidence", confidence)


if __name__ == "__main__":
    main()
