"""Labels chosen by uncertainty and centrality against labels chosen at random, on the bundled Cora.

    python benchmarks/label_more.py [--splits 5]

Every split starts with 10 labels per class; four rounds add 35 each. Accuracy is on
1,000 test papers that are never asked about. Results go to
``benchmarks/results/label_more.json``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

import planetoid as pl
from planetoid.report.ranking import label_next

RESULTS = Path(__file__).resolve().parent / "results" / "label_more.json"
METHODS, START, PER_ROUND, ROUNDS = ("planetoid-t", "lp"), 10, 35, 4


CHOICES = ("at random", "the list", "the list, spread out")


def choose(how: str, model, closed, data, random):
    """Return the papers to label next, none of those that are closed."""
    if how == "at random":
        return random.choice(np.flatnonzero(~closed), PER_ROUND, replace=False)
    listed = label_next(model.predict_proba(), closed, data.graph.degrees, data.n_nodes)[0]
    return listed[:PER_ROUND] if how == "the list" else spread_out(listed, data.graph.to_scipy())


def spread_out(listed, adjacency):
    """Take papers in order, but none that is linked to one taken before."""
    near, chosen = np.zeros(adjacency.shape[0], dtype=bool), []
    for row in listed:
        if not near[row] and len(chosen) < PER_ROUND:
            chosen.append(row)
            near[adjacency[[row]].indices] = True
    return np.array(chosen)


def accuracies(method: str, how: str, data, seed: int) -> list[float]:
    split = data.split("random", per_class=START, n_val=0, n_test=1000, seed=seed)
    random = np.random.default_rng(seed)
    labelled, found = split.train, []
    for _ in range(ROUNDS + 1):
        cls = pl.METHODS[method]
        seeded = {"random_state": seed} if "random_state" in cls().get_params() else {}
        X = None if cls.uses_features == "never" else data.X
        model = cls(**seeded).fit(X, pl.mask_labels(data.y, labelled), graph=data.graph)
        found.append(100 * float(np.mean(model.predict()[split.test] == data.y[split.test])))
        closed = np.zeros(data.n_nodes, dtype=bool)
        closed[labelled] = closed[split.test] = True
        labelled = np.concatenate([labelled, choose(how, model, closed, data, random)])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore")
    data = pl.datasets.load("cora-bundled")
    rows = []
    for method in METHODS:
        for how in CHOICES:
            runs = np.array([accuracies(method, how, data, seed) for seed in range(splits)])
            error = runs.std(axis=0, ddof=1) / np.sqrt(splits)
            row = {"method": method, "choice": how, "mean": runs.mean(axis=0).tolist(), "error": error.tolist()}
            rows.append(row)
            print(method, how, runs.mean(axis=0).round(1), flush=True)
    labels = [data.n_classes * START + PER_ROUND * turn for turn in range(ROUNDS + 1)]
    record = {"data": "cora-bundled", "splits": splits, "labels": labels, "rows": rows}
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
