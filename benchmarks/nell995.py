"""The paper's graph construction on NELL-995, and label propagation on it.

    PLANETOID_DATA=... python benchmarks/nell995.py

Reads ``nell995/`` (entity2id, relation2id, train2id, valid2id, test2id) in the
data folder, builds the graph by ``construct.from_triples``, takes an entity's class
from its name (``concept_CATEGORY_name``), drops classes under 10 entities and
prints counts and test accuracies as Markdown.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

import planetoid as pl
from planetoid.errors import PlanetoidWarning

RATES = (0.1, 0.01, 0.001)


def read_names(path: Path) -> list[str]:
    """Read ``name id`` lines after the count; return the names in order of their ids."""
    pairs = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    names = [""] * len(pairs)
    for name, number in pairs:
        names[int(number)] = name
    return names


def read_triples(folder: Path) -> np.ndarray:
    """Read ``head tail relation`` lines of all three parts."""
    parts = [np.loadtxt(folder / f"{part}2id.txt", dtype=np.int64, skiprows=1) for part in ("train", "valid", "test")]
    return np.concatenate(parts)


def category(name: str) -> str | None:
    """Return CATEGORY of ``concept_CATEGORY_name``, or None."""
    parts = name.split("_", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "concept" else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    default = os.environ.get("PLANETOID_DATA") or Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    options = parser.parse_args()
    folder = options.data / "nell995"

    entities, relations = read_names(folder / "entity2id.txt"), read_names(folder / "relation2id.txt")
    triples = read_triples(folder)
    heads, tails, kinds = (
        np.array(names, dtype=object)[triples[:, column]]
        for column, names in enumerate((entities, entities, relations))
    )
    start = time.perf_counter()
    graph = pl.construct.from_triples(heads, kinds, tails, entities=entities)
    weighted = pl.construct.from_triples(heads, kinds, tails, entities=entities, weights="count")
    seconds = (time.perf_counter() - start) / 2
    labels = {name: category(name) for name in entities}
    kept = pl.construct.drop_small_classes(labels, 10)
    names = sorted(set(kept.values()))
    code = {name: k for k, name in enumerate(names)}
    y = np.full(graph.n_nodes, -1, dtype=np.int32)
    y[graph.ids.known_rows(list(kept))] = [code[name] for name in kept.values()]

    components = graph.components()
    known = {name: label for name, label in labels.items() if label is not None}
    print(f"- {len(triples):,} triples, {len(entities):,} entities, {len(relations)} relations")
    print(f"- {graph}, built in {seconds:.1f} s: {graph.summary}")
    print(f"- {components.max() + 1} components, the largest of {np.bincount(components)[0]:,} nodes")
    print(f"- {len(set(known.values()))} categories of {len(known):,} entities")
    print(f"- {len(names)} of them, of {len(kept):,} entities, with 10 or more")
    majority = 100 * np.bincount(y[y >= 0]).max() / (y >= 0).sum()
    print(f"- share of the largest class: {majority:.1f} %\n")
    print("| rate | labelled | LP | LP, edges weighed by triples |")
    print("| --- | --- | --- | --- |")
    for rate in RATES:
        splits = [pl.datasets.rate_split(y, rate, n_test=1000, seed=seed) for seed in range(options.runs)]
        cells = [measure(y, splits, each) for each in (graph, weighted)]
        print(f"| {rate} | {len(splits[0].train):,} | {' | '.join(cells)} |", flush=True)


def measure(y: np.ndarray, splits: list[pl.datasets.Split], graph: pl.Graph) -> str:
    """Return mean and standard deviation of the test accuracy in per cent."""
    accuracies = []
    for split in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlanetoidWarning)  # nodes that no label reaches get the prior
            model = pl.LabelPropagation(solver="direct").fit(y=pl.mask_labels(y, split.train), graph=graph)
        accuracies.append(100 * float((model.predict()[split.test] == y[split.test]).mean()))
    return f"{np.mean(accuracies):.1f} ± {np.std(accuracies):.1f}"


if __name__ == "__main__":
    main()
