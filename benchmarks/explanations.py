"""Reasons tested by deletion: how much the score of the class falls without the five strongest ones, or five others.

    python benchmarks/explanations.py [--nodes 50] [--refits 20] [--methods lp,feat] [--kinds labels,features]

On the public split of Cora, for nodes at equal distances among the test nodes and every method in ``pl.METHODS``. The
score is the one that the explanation is about: that of the predicted class compared with the most probable other one.
The five strongest reasons for the class are removed, or five at random:

- labels: of all labelled nodes; they are hidden, and the model is fitted again with the same seed;
- features: of those of the node, or of all nodes that the method sees; set to zero, the model as it is;
- neighbours: of all nodes whose features the method sees, which are set to zero, the model as it is; of other methods,
  of those with an edge to the node, which is removed, and the model is fitted again (``IterativeClassification`` is
  not). Where there are fewer than 20, a quarter of them is removed, at least one.

Fits take time, so that they are made for fewer nodes (``--refits``). No test label is used. Results:
``benchmarks/results/explanations.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

import planetoid as pl
from planetoid.estimator.classifier import GraphClassifier
from planetoid.explanation.contributions import Contributions, Question
from planetoid.graph.adjacency import normalized_adjacency, symmetric_adjacency
from planetoid.models.context_network import ContextNetwork
from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.opinions import geometric_mean

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "explanations.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
TOP = 5  # reasons that are removed
DRAWS, FEW_DRAWS = 3, 2  # random choices of as many, of which the mean is taken; few, if each takes a slow fit
QUICK = ("lp", "lgc", "mad", "poisson", "feat", "ssgc")  # to fit
OWN_ROW = ("feat", "tsvm", "manireg", "diel", "semiemb", "planetoid-i", "planetoid-t", "ica")
AROUND = ("planetoid", "ssgc", "gcn")

Rows = npt.NDArray[np.int64]
Score = Callable[[Rows], float]  # of the node without these reasons


def fitted(method: str, data: pl.Dataset) -> GraphClassifier:
    model = pl.METHODS[method]()
    model.set_params(calibrate=False, **({"student": False} if method == "planetoid" else {}))
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    return model.fit(None if model.uses_features == "never" else data.X, data.y, **given)


def asked(model: GraphClassifier, row: int, contrast: npt.NDArray[np.float64], data: pl.Dataset) -> Question:
    x = None if data.X is None or model.uses_features == "never" else data.X[[row]]
    return Question(row, x, contrast, data, type(model).__name__)


def without_columns(X: sparse.csr_array, columns: Rows) -> sparse.csr_array:
    keep = np.ones(X.shape[1], np.float32)
    keep[columns] = 0.0
    return sparse.csr_array(X @ sparse.diags_array(keep))


def without_rows(X: sparse.csr_array, rows: Rows) -> sparse.csr_array:
    keep = np.ones(X.shape[0], np.float32)
    keep[rows] = 0.0
    return sparse.csr_array(sparse.diags_array(keep) @ X)


def without_edges(graph: pl.Graph, row: int, rows: Rows) -> pl.Graph:
    matrix = sparse.lil_array(graph.to_scipy())
    matrix[row, rows] = 0.0
    matrix[rows, row] = 0.0
    return pl.Graph.from_scipy(sparse.csr_array(matrix), nodes=graph.ids)


def network_score(
    method: str, model: GraphClassifier, row: int, contrast: npt.NDArray[np.float64], data: pl.Dataset
) -> float:
    """Return the score of a method that sees features around a node, by its own forward pass."""
    if method == "ssgc":
        return float(model._explain(asked(model, row, contrast, data)).score)
    assert data.X is not None
    if method == "planetoid":
        x = sparse.csr_array(model._inputs.scaled(data.X))
        layers, contexts = model._network.layers, model._network.contexts
        hidden = ContextNetwork.of(layers, contexts, x).embedding()
        logits = hidden @ layers.W2 + layers.b2 + model.opinions_
        raw = softmax(logits, axis=1)
        if model._context_predictions is not None:
            predictions = ContextPredictions.of(model._context_predictions.layers, x)
            raw = geometric_mean(raw, predictions.mean(contexts, raw), model.propagation_weight_)
        return float(np.log(np.maximum(raw[row], 1e-30)) @ contrast)
    from planetoid.data.scaling import scale_rows

    A = normalized_adjacency(symmetric_adjacency(data.graph))
    hidden = np.maximum(A @ (scale_rows(data.X, model.row_normalize) @ model.W1_), 0)
    return float((A[[row]] @ hidden @ model.W2_)[0] @ contrast)


def score_without(
    method: str, kind: str, model: GraphClassifier, row: int, contrast: npt.NDArray[np.float64], data: pl.Dataset
) -> Score:
    """Return the function from reasons to the score of a node without them."""

    def labels(rows: Rows) -> float:
        y = data.y.copy()
        y[rows] = -1
        fewer = replace(data, y=y)
        return float(fitted(method, fewer)._explain(asked(model, row, contrast, fewer)).score)

    def own_features(columns: Rows) -> float:
        question = asked(model, row, contrast, data)
        assert question.x is not None
        return float(model._explain(question._replace(x=without_columns(question.x, columns))).score)

    def features_around(columns: Rows) -> float:
        return network_score(method, model, row, contrast, replace(data, X=without_columns(data.X, columns)))

    def nodes_around(rows: Rows) -> float:
        return network_score(method, model, row, contrast, replace(data, X=without_rows(data.X, rows)))

    def edges(rows: Rows) -> float:
        fewer = replace(data, graph=without_edges(data.graph, row, rows))
        again = model if method == "ica" else fitted(method, fewer)
        return float(again._explain(asked(model, row, contrast, fewer)).score)

    if kind == "labels":
        return labels
    if kind == "features":
        return features_around if method in AROUND else own_features
    return nodes_around if method in AROUND else edges


def is_refit(method: str, kind: str) -> bool:
    return kind == "labels" or (kind == "neighbours" and method not in (*AROUND, "ica"))


def drops(
    part: Contributions, most: int, score: float, without: Score, draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return by how much a score falls without the strongest reasons, and without others: on average, and in size."""
    best = np.argsort(-part.values, kind="stable")[:most]
    best = part.at[best[part.values[best] > 0]]
    others = [score - without(rng.choice(part.at, len(best), replace=False)) for _ in range(draws)]
    return score - without(best), float(np.mean(others)), float(np.mean(np.abs(others)))


def n_removed(part: Contributions) -> int:
    """Return how many reasons to remove: fewer of a node's few neighbours, so that there are others."""
    return min(TOP, max(1, len(part.at) // 4)) if part.kind == "neighbours" else TOP


def measure(method: str, data: pl.Dataset, nodes: Rows, n_refits: int, kinds: list[str]) -> dict[str, object]:
    model = fitted(method, data)
    found: dict[str, list[tuple[float, float, float]]] = {}
    seconds = []
    for number, row in enumerate(nodes.tolist()):
        started = perf_counter()
        model.explain(data.ids[row], top=TOP)
        seconds.append(perf_counter() - started)
        order = np.argsort(-model.label_distributions_[row], kind="stable")
        contrast = np.zeros(data.n_classes)
        contrast[order[0]], contrast[order[1]] = 1.0, -1.0
        answer = model._explain(asked(model, row, contrast, data))
        for part in answer.parts:
            refit = is_refit(method, part.kind)
            step = max(1, len(nodes) // n_refits)
            if part.kind not in kinds or not (part.values > 0).any() or (refit and number % step):
                continue
            if len(part.at) < 2:
                continue
            rng = np.random.default_rng([number, row])
            score = answer.score
            if part.kind == "features" and method == "gcn":
                score = network_score(method, model, row, contrast, data)
            without = score_without(method, part.kind, model, row, contrast, data)
            draws = FEW_DRAWS if refit and method not in QUICK else DRAWS
            most = n_removed(part)
            found.setdefault(part.kind, []).append(drops(part, most, score, without, draws, rng))
    result: dict[str, object] = {"seconds": float(np.median(seconds))}
    for kind, measured in found.items():
        top, other, size = np.mean(measured, axis=0).tolist()
        better = float(np.mean([first > second for first, second, _ in measured]))
        result[kind] = {
            "nodes": len(measured), "refit": is_refit(method, kind), "top": top, "random": other, "random_size": size,
            "ratio": top / max(abs(other), 1e-9), "larger": better,
        }  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--refits", type=int, default=20)
    parser.add_argument("--methods", default=",".join(pl.METHODS))
    parser.add_argument("--kinds", default="labels,neighbours,features")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    data = pl.datasets.load("cora", root=ROOT)
    split = data.split("public")
    nodes = split.test[:: len(split.test) // options.nodes][: options.nodes]
    training = replace(data, y=pl.mask_labels(data.y, split.train))
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for method in options.methods.split(","):
        entry = measure(method, training, nodes, options.refits, options.kinds.split(","))
        results[method] = {**results.get(method, {}), **entry}
        ordered = {name: results[name] for name in pl.METHODS if name in results}
        RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")
        print(method, json.dumps(entry), flush=True)


if __name__ == "__main__":
    main()
