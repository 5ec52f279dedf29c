"""Coverage and size of prediction sets at 0.9 on random splits, beside plain split-conformal sets.

    python benchmarks/prediction_sets.py [--splits 100] [--data cora,citeseer,pubmed,nell] [--methods ssgc] [--resume]
                                          [--jobs 1]

Labels and test nodes are drawn at random from all nodes with a label, so that they are exchangeable: as many labels as
in the public split, 1,000 test nodes, no validation labels; classes without a label are not counted. NELL has 1,902
labels in all: 500 are learned from, 500 held out, and the others are the test nodes. The plain sets use
the same probabilities, with thresholds from as many further labels, held out for the purpose: by the probability of the
label (``plain``), and by the cumulative probability, randomised (``adaptive``). Results are written after each split,
of which some take minutes; ``--resume`` adds to them: ``benchmarks/results/prediction_sets.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import planetoid as pl

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "prediction_sets.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
LABELS = {"cora": 140, "citeseer": 120, "pubmed": 60, "nell": 500}
ALPHA = 0.1

Matrix = npt.NDArray[np.float64]


def cumulative(p: Matrix, draws: Matrix) -> Matrix:
    """Return the probability of the classes before each class, and a random part of its own."""
    order = np.argsort(-p, axis=1)
    before = np.zeros_like(p)
    np.put_along_axis(before, order, np.cumsum(np.take_along_axis(p, order, axis=1), axis=1), axis=1)
    return before - draws[:, None] * p


def split_conformal(held_out: Matrix, new: Matrix) -> npt.NDArray[np.bool_]:
    """Return sets by the quantile of the scores of held-out labels."""
    n = len(held_out)
    level = np.ceil((n + 1) * (1 - ALPHA)) / n
    return new <= (np.inf if level > 1 else np.quantile(held_out, level, method="higher"))


@lru_cache(maxsize=1)
def loaded(name: str) -> pl.Dataset:
    return pl.datasets.load("nell-0.1" if name == "nell" else name, root=ROOT)


def one_split(task: tuple[str, str, int]) -> dict[str, float]:
    name, method, seed = task
    warnings.simplefilter("ignore")
    data, n_labels, rng = loaded(name), LABELS[name], np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(data.y >= 0))
    train, held_out, test = np.split(order[: 2 * n_labels + 1000], [n_labels, 2 * n_labels])
    model = pl.METHODS[method]()
    if method == "planetoid":
        model.set_params(student=False)
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    model.fit(None if model.uses_features == "never" else data.X, pl.mask_labels(data.y, train), **given)
    code = np.full(data.n_classes, -1)
    code[model.classes_] = np.arange(len(model.classes_))
    held_out, test = (rows[code[data.y[rows]] >= 0] for rows in (held_out, test))
    p, draws = model.predict_proba().astype(np.float64), rng.random(data.n_nodes)
    found = {}
    known, new = code[data.y[held_out]], code[data.y[test]]
    rows, columns = np.arange(len(test)), np.arange(len(held_out))
    sets = {
        "ours": model.predict_set(alpha=ALPHA)[test],
        "plain": split_conformal((1 - p[held_out])[columns, known], 1 - p[test]),
        "adaptive": split_conformal(
            cumulative(p[held_out], draws[held_out])[columns, known], cumulative(p[test], draws[test])
        ),
    }
    for name, chosen in sets.items():
        found[f"{name} coverage"] = float(chosen[rows, new].mean())
        found[f"{name} size"] = float(chosen.sum(axis=1).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--data", default="cora,citeseer,pubmed,nell")
    parser.add_argument("--methods", default="ssgc")
    parser.add_argument("--resume", action="store_true", help="keep the splits that are in the results already")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in options.data.split(","):
            for method in options.methods.split(","):
                measure(name, method, options, pool)


def measure(name: str, method: str, options: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """Measure one method on one data set, and write the means of the splits so far after each of them."""
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    of_method = results.setdefault(method, {})
    before = of_method.get(name, {}) if options.resume else {}
    entry, done = {key: value for key, value in before.items() if key != "splits"}, before.get("splits", 0)
    seeds = range(done, options.splits)
    for seed, found in zip(seeds, pool.map(one_split, [(name, method, seed) for seed in seeds]), strict=True):
        entry = {key: (seed * entry.get(key, 0.0) + value) / (seed + 1) for key, value in found.items()}
        of_method[name] = {"splits": seed + 1, **entry}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(name, method, {key: round(value, 3) for key, value in entry.items()}, flush=True)


if __name__ == "__main__":
    main()
