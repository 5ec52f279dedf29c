"""``Planetoid`` on the public splits, in several settings, and what each of its parts is worth.

    python benchmarks/beyond.py [--seeds 10] [--data cora,citeseer,pubmed] [--ablation | --spectrum] [--jobs 1]
    python benchmarks/beyond.py --ablation --parts "without L_u;without similar rows"

Settings: the test nodes in the graph, with and without 500 validation labels; features alone at prediction, with the
test nodes in the training graph and without them (the paper's inductive setting); no features at all; GCN for
comparison. NELL (``--data nell-0.1,nell-0.01,nell-0.001 --seeds 3``) has no validation labels, and no GCN: most of its
nodes have no features. ``--ablation`` measures the parts on random splits with 3 and 20 labels per class that exclude
the public test nodes, and ``--spectrum`` what eigenvectors add where there are no features. Default parameters
everywhere. Results: ``benchmarks/results/beyond.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np

import planetoid as pl

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "beyond.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")

ABLATION: dict[str, dict[str, object]] = {
    "Planetoid": {},
    "without L_u": {"training__weight": 0.0},
    "without the teacher in L_u": {"training__teaching": 0},
    "without the class prior in L_u": {"training__alignment": 0.0},
    "without feature dropout": {"training__feature_dropout": 0.0},
    "without dropout": {"training__dropout": 0.0},
    "visits count alike": {"neighbourhood__degree_power": 0.0},
    "8 walks, 200 unlabelled nodes": {"neighbourhood__walks": 8, "training__n_unlabelled": 200},
    "dimension 64": {"dimension": 64},
    "the teacher alone": {"training__steps": 0},
    "the features around a node alone": {"view": "neighbourhood"},
}
# Parts without a parameter, and what stands in for them.
REPLACED: dict[str, tuple[str, Callable[..., object]]] = {
    "without the opinion of the teacher and of other views": (
        "planetoid.models.teacher.Teacher.opinions",
        lambda self, weight: np.zeros(self.probabilities.shape, np.float32),
    ),
    "without the predictions of the contexts": (
        "planetoid.models.context_predictions.ContextPredictions.pooled_with",
        lambda self, probabilities, *_: (probabilities, 0.0),
    ),
    "without the second view": ("planetoid.models.planetoid_steps.second_share", lambda *_: 0.0),
    "without similar rows": (
        "planetoid.models.planetoid_steps.PlanetoidSteps._similar_rows",
        lambda self, data, X, adjacency, teacher: (None, adjacency),
    ),
}
PARTS = (*ABLATION, *REPLACED)
SPECTRUM: dict[str, Callable[..., object] | None] = {
    "Planetoid": None,
    "without eigenvectors": lambda x, *_, **options: x,
}


def right(labels, data, rows) -> float:
    return 100 * float((labels == data.y[rows]).mean())


def one_public(task: tuple[str, int]) -> dict:
    """Return the accuracies of one seed, in per cent."""
    name, seed = task
    warnings.simplefilter("ignore")
    data = pl.datasets.load(name, root=ROOT)
    split = data.split("public")
    y = pl.mask_labels(data.y, split.train)
    test = split.test
    started = time.perf_counter()
    model = pl.Planetoid(random_state=seed).fit(data.X, y, graph=data.graph)
    found = {"data": name, "seed": seed, "seconds": time.perf_counter() - started}
    found["no validation labels"] = right(model.predict()[test], data, test)
    found["features alone, test nodes in the graph"] = right(model.predict(data.X[test]), data, test)
    if len(split.val):
        stopped = pl.Planetoid(random_state=seed, student=False)
        stopped.fit(data.X, y, graph=data.graph, validation=split.val_labels(data.y))
        found["validation labels"] = right(stopped.predict()[test], data, test)
    seen = data.without(test)
    inductive = pl.Planetoid(random_state=seed)
    inductive.fit(seen.X, pl.mask_labels(seen.y, seen.rows_from_parent(split.train)), graph=seen.graph)
    found["features alone, test nodes never seen"] = right(inductive.predict(data.X[test]), data, test)
    bare = pl.Planetoid(random_state=seed).fit(None, y, graph=data.graph)
    found["no features"] = right(bare.predict()[test], data, test)
    if len(split.val):
        found["GCN, no validation labels"] = right(
            pl.GCN(random_state=seed).fit(data.X, y, graph=data.graph).predict()[test], data, test
        )
    return found


def random_split(data, per_class: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labelled and test nodes, none of them a public test node."""
    allowed = np.setdiff1d(np.flatnonzero(data.y >= 0), data.split("public").test)
    order = np.random.default_rng(seed).permutation(allowed)
    train = np.concatenate([order[data.y[order] == k][:per_class] for k in range(data.n_classes)])
    return train, np.setdiff1d(order, train, assume_unique=True)[:1000]


def one_ablation(task: tuple[str, str, int, int]) -> dict:
    part, name, per_class, seed = task
    warnings.simplefilter("ignore")
    data = pl.datasets.load(name, root=ROOT)
    train, test = random_split(data, per_class, seed)
    model = pl.Planetoid(student=False, random_state=seed).set_params(**ABLATION.get(part, {}))
    with patch(*REPLACED[part]) if part in REPLACED else nullcontext():
        model.fit(data.X, pl.mask_labels(data.y, train), graph=data.graph)
    key = f"{name}, {per_class} labels per class"
    return {"part": part, "data": key, "accuracy": right(model.predict()[test], data, test)}


def one_spectrum(task: tuple[str, int]) -> dict:
    """Return accuracies without features on one random split, with eigenvectors and without."""
    name, seed = task
    warnings.simplefilter("ignore")
    data = pl.datasets.load(name, root=ROOT)
    train, test = random_split(data, 20, seed)
    found: dict = {"data": name}
    for part, replaced in SPECTRUM.items():
        with nullcontext() if replaced is None else patch("planetoid.models.planetoid_steps.beside_spectrum", replaced):
            model = pl.Planetoid(random_state=seed).fit(None, pl.mask_labels(data.y, train), graph=data.graph)
        found[part] = right(model.predict()[test], data, test)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", default="cora,citeseer,pubmed")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--parts", help="of the ablation, separated by semicolons; the others keep their results")
    parser.add_argument("--spectrum", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    names = options.data.split(",")
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.ablation:
            cells = [(n, k, s) for n in names for k in (3, 20) for s in range(options.seeds)]
            parts = options.parts.split(";") if options.parts else PARTS
            found = list(pool.map(one_ablation, [(part, *cell) for part in parts for cell in cells]))
            table = stored["ablation"] = {k: v for k, v in stored.get("ablation", {}).items() if k not in parts}
            for entry in found:
                table.setdefault(entry["part"], {}).setdefault(entry["data"], []).append(round(entry["accuracy"], 2))
            for part, row in table.items():
                print(f"{part:56s}" + "  ".join(f"{np.mean(values):5.1f}" for values in row.values()))
        elif options.spectrum:
            found = list(pool.map(one_spectrum, [(name, seed) for name in names for seed in range(options.seeds)]))
            stored["spectrum"] = {
                part: {name: [round(row[part], 2) for row in found if row["data"] == name] for name in names}
                for part in SPECTRUM
            }
            for part, row in stored["spectrum"].items():
                print(f"{part:24s}" + "  ".join(f"{np.mean(values):5.1f}" for values in row.values()))
        else:
            found = list(pool.map(one_public, [(name, seed) for name in names for seed in range(options.seeds)]))
            for name in names:
                rows = [entry for entry in found if entry["data"] == name]
                settings = [key for key in rows[0] if key not in ("data", "seed")]
                stored.setdefault("public", {})[name] = {
                    key: [float(np.mean([r[key] for r in rows])), float(np.std([r[key] for r in rows]))]
                    for key in settings
                }
                for key, (mean, deviation) in stored["public"][name].items():
                    print(f"{name:9s} {key:42s} {mean:5.1f} ± {deviation:3.1f}")
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
