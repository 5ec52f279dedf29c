"""Accuracy of folded-in nodes on Cora: one node in ten is held back, then added to the graph.

The labels are those of the public split's training nodes, none of which is held
back. Beside the folded nodes stand the same nodes in a model that was fitted on
the whole graph.

    python benchmarks/fold_in.py [seeds]
"""

import sys
import warnings

import numpy as np

import planetoid as pl
from planetoid.errors import PlanetoidWarning

SHARE = 0.1


def run(name, data, train, seed):
    """Return the accuracy on held-back nodes: folded in, and fitted with all others."""
    candidates = np.setdiff1d(np.arange(data.n_nodes), train)
    held = np.random.default_rng(seed).choice(candidates, round(SHARE * data.n_nodes), replace=False)
    kept = np.setdiff1d(np.arange(data.n_nodes), held)
    y = pl.mask_labels(data.y, train)
    X = None if name == "PlanetoidG" else data.X
    part = data.graph.subgraph(data.graph.node_ids[kept])
    model = getattr(pl, name)(random_state=seed).fit(None if X is None else X[kept], y[kept], graph=part)
    folded = model.fold_in(data.graph, X)
    whole = getattr(pl, name)(random_state=seed).fit(X, y, graph=data.graph)
    return [float((fitted.predict()[held] == data.y[held]).mean()) for fitted in (folded, whole)]


def main(n_seeds=5):
    warnings.simplefilter("ignore", PlanetoidWarning)  # a node may lose its last neighbour
    data = pl.datasets.load("cora")
    train = data.split("public").train
    for name in ("PlanetoidT", "PlanetoidG"):
        scores = np.array([run(name, data, train, seed) for seed in range(n_seeds)])
        (folded, whole), (spread, other) = scores.mean(axis=0), scores.std(axis=0)
        print(f"{name}: folded in {folded:.3f} +- {spread:.3f}, fitted on the whole graph {whole:.3f} +- {other:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
