"""Accuracy of every method with one, three and five labels per class, default parameters.

    python benchmarks/few_labels.py [--only "lp;lp, plain harmonic;poisson"] [--datasets cora,citeseer,pubmed]

Protocol: random splits (seeds 0, 1, ...) with that many labels per class and 1,000 test
nodes, features and edges of all nodes present while fitting, no validation labels. All
methods see the same splits. Results are merged into ``benchmarks/results/few_labels.json``
after each method, so that an interrupted run can be continued with ``--only``;
``scripts/update_docs.py`` writes the table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.registry import fastest_first

OUTPUT = Path(__file__).resolve().parent / "results" / "few_labels.json"
LABELS_PER_CLASS = (1, 3, 5)
LIMIT = 30.0  # seconds of a fit, above which a method is left out on a data set
LEFT_OUT = {"tsvm": "takes more than 20 s per fit on Pubmed"}
VARIANTS = {"lp, plain harmonic": ("lp", {"class_mass_normalization": False})}


def accuracy(name: str, data: Dataset, per_class: int, seed: int) -> float:
    """Return the accuracy in % on one split."""
    split = data.split("random", seed=seed, per_class=per_class)
    method, parameters = VARIANTS.get(name, (name, {}))
    cls = pl.METHODS[method]
    seeded = {"random_state": seed} if "random_state" in cls().get_params(deep=False) else {}
    model = cls(**parameters, **seeded).fit(
        None if cls.uses_features == "never" else data.X,
        pl.mask_labels(data.y, split.train),
        graph=None if cls.uses_graph == "never" else data.graph,
    )
    return 100 * float(np.mean(model.predict()[split.test] == data.y[split.test]))


def measure(name: str, data: Dataset, n_splits: int) -> dict[str, dict[str, float]] | None:
    """Return mean and standard error by the number of labels per class; ``None`` where a fit takes too long."""
    start = time.perf_counter()
    accuracy(name, data, LABELS_PER_CLASS[-1], 0)
    if time.perf_counter() - start > LIMIT:
        return None
    found = {}
    for per_class in LABELS_PER_CLASS:
        values = [accuracy(name, data, per_class, seed) for seed in range(n_splits)]
        error = np.std(values, ddof=1) / np.sqrt(n_splits)
        found[str(per_class)] = {"mean": round(float(np.mean(values)), 2), "error": round(float(error), 2)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=";".join([*fastest_first(), *VARIANTS]))
    parser.add_argument("--datasets", default="cora,citeseer,pubmed")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    datasets = {name: pl.datasets.load(name) for name in options.datasets.split(",")}
    report = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {"methods": {}}
    report |= {
        "protocol": "random splits, 1,000 test nodes, default parameters, no validation labels; "
        "mean and standard error over splits",
        "labels": list(LABELS_PER_CLASS),
        "splits": options.splits,
        "left_out": LEFT_OUT,
    }
    for name in options.only.split(";"):
        if name in LEFT_OUT:
            continue
        for dataset, data in datasets.items():
            report["methods"].setdefault(name, {})[dataset] = found = measure(name, data, options.splits)
            print(name, dataset, found, flush=True)
        OUTPUT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
