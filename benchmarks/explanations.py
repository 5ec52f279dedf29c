"""Reasons tested by deletion: how much the score of the class falls without the five strongest, or five at random.

    python benchmarks/explanations.py [--nodes 50] [--refits 20] [--methods lp,feat] [--kinds labels,features]

On the public split of Cora, for nodes at equal distances among the test nodes and every method in ``pl.METHODS``. The
score is the one that the explanation is about: that of the predicted class compared with the most probable other one.
The five strongest reasons for the class are removed (fewer, if fewer speak for it), or as many at random, of all that
the score depends on. The strongest are among them: of few, five at random would be much the same as the strongest.

- labels: of all labelled nodes; they are hidden, and the model is fitted again with the same seed;
- features: of those of the node, or of all nodes that the method sees; set to zero, the model as it is;
- neighbours: of all nodes whose features the method sees, which are set to zero, the model as it is. Nodes with fewer
  than 25 of them in reach are passed over, which most are for ``GCN`` (``--nodes 200`` leaves 72);
- edges to neighbours, of methods that do not see the features of neighbours: of all edges near the node, its own and
  those of its neighbours, and those of more distant nodes where these are fewer than 25. The model is fitted again
  (``IterativeClassification`` is not). Fits that learn embeddings differ by chance by as much as an edge matters, so
  the edges of all nodes are removed at once, and the fits are compared with those of the same seeds on all edges.

``own`` is a harder test of the order of edges: the strongest quarter of the node's own edges (at least one) against as
many of its other edges. It is no ratio: that the others are removed may well raise the score.

Slow fits are made for fewer nodes (``--refits``). No test label is used. Results:
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
from typing import Any, NamedTuple

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
LEAST = 25  # reasons to choose from at random; of fewer, five at random are often among the strongest
SEEDS = range(1, 6)  # of fits that learn embeddings; another one than that of the model that is explained
QUICK = ("lp", "lgc", "mad", "poisson", "feat", "ssgc")  # to fit
OWN_ROW = ("feat", "tsvm", "manireg", "diel", "semiemb", "planetoid-i", "planetoid-t", "ica")
AROUND = ("planetoid", "ssgc", "gcn")
EMBEDDED = ("planetoid-t", "planetoid-g", "graphemb")  # edges enter by embeddings that are learned from them

Rows = npt.NDArray[np.int64]
Edges = npt.NDArray[np.int64]  # (edge, 2): rows of nodes
Score = Callable[[Rows], float]  # of the node without these reasons
Drops = tuple[float, float, float]  # without the strongest reasons; without some at random, on average and in size


class Removal(NamedTuple):
    """Reasons of one node that are removed, and those to choose from at random."""

    number: int  # of the node among those that are measured
    row: int
    contrast: npt.NDArray[np.float64]
    score: float
    best: Rows
    pool: Rows


def fitted(method: str, data: pl.Dataset, **settings: int) -> GraphClassifier:
    model = pl.METHODS[method](**settings)
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


def without_edges(graph: pl.Graph, edges: Edges) -> pl.Graph:
    matrix = sparse.lil_array(graph.to_scipy())
    matrix[edges[:, 0], edges[:, 1]] = 0.0
    matrix[edges[:, 1], edges[:, 0]] = 0.0
    return pl.Graph.from_scipy(sparse.csr_array(matrix), nodes=graph.ids)


def own_edges(row: int, neighbours: Rows) -> Edges:
    return np.sort(np.column_stack([np.full(len(neighbours), row), neighbours]).astype(np.int64), axis=1)


def edges_near(adjacency: sparse.csr_array, row: int, enough: int) -> Edges:
    """Return the edges of a node and of its neighbours, and those of nodes further away until there are enough."""
    inside = np.array([row])
    found = np.empty((0, 2), np.int64)
    for steps in range(adjacency.shape[0]):
        around = adjacency[inside].tocoo()
        edges = np.sort(np.column_stack([inside[around.row], around.col]), axis=1)
        edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
        if len(edges) == len(found) or (steps > 1 and len(found) >= enough):
            break
        found, inside = edges, np.union1d(inside, around.col)
    return np.asarray(found)


def except_for(edges: Edges, some: Edges) -> Edges:
    return edges[~(edges[:, None] == some[None]).all(axis=2).any(axis=1)]


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

    def edges(removed: Edges) -> float:
        fewer = replace(data, graph=without_edges(data.graph, removed))
        again = model if method == "ica" else fitted(method, fewer)
        return float(again._explain(asked(model, row, contrast, fewer)).score)

    if kind == "labels":
        return labels
    if kind == "features":
        return features_around if method in AROUND else own_features
    return nodes_around if method in AROUND else edges


def is_refit(method: str, kind: str) -> bool:
    return kind == "labels" or (kind == "neighbours" and method not in (*AROUND, "ica"))


def strongest(part: Contributions, most: int) -> Rows:
    best = np.argsort(-part.values, kind="stable")[:most]
    return np.asarray(part.at[best[part.values[best] > 0]], dtype=np.int64)


def removals(method: str, part: Contributions, row: int, adjacency: sparse.csr_array) -> dict[str, tuple[Rows, Rows]]:
    """Return the strongest reasons of a kind and those to choose from at random; none, where these are too few."""
    best = strongest(part, TOP)
    if part.kind != "neighbours" or method in AROUND:
        few = len(part.at) < (LEAST if part.kind == "neighbours" else 2)
        return {part.kind: (best, part.at)} if len(best) and not few else {}
    found = {}
    near = edges_near(adjacency, row, LEAST)
    if len(best) and len(near) >= LEAST:
        found["neighbours"] = own_edges(row, best), near
    best = own_edges(row, strongest(part, max(1, len(part.at) // 4)))
    others = except_for(own_edges(row, part.at), best)
    if 0 < len(best) <= len(others):
        found["own"] = best, others
    return found


def drops(removal: Removal, without: Score, draws: int) -> Drops:
    """Return by how much a score falls without the strongest reasons, and without some at random."""
    rng = np.random.default_rng([removal.number, removal.row])
    n, score = len(removal.best), removal.score
    others = [score - without(rng.choice(removal.pool, n, replace=False)) for _ in range(draws)]
    return score - without(removal.best), float(np.mean(others)), float(np.mean(np.abs(others)))


def drops_together(method: str, data: pl.Dataset, some: list[Removal]) -> list[Drops]:
    """Return the same of all nodes, whose edges are removed at once: means over fits of several seeds."""

    def scores(seed: int, edges: Edges) -> npt.NDArray[np.float64]:
        fewer = replace(data, graph=without_edges(data.graph, edges))
        model = fitted(method, fewer, random_state=seed)
        return np.array([model._explain(asked(model, one.row, one.contrast, fewer)).score for one in some])

    falls = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        others = [rng.choice(one.pool, len(one.best), replace=False) for one in some]
        whole = scores(seed, np.empty((0, 2), np.int64))
        chosen = np.concatenate([one.best for one in some])
        falls.append([whole - scores(seed, chosen), whole - scores(seed, np.concatenate(others))])
    top, other = np.mean(falls, axis=0)
    size = np.abs(np.asarray(falls)[:, 1]).mean(axis=0)
    return list(zip(top.tolist(), other.tolist(), size.tolist(), strict=True))


def measure(method: str, data: pl.Dataset, nodes: Rows, n_refits: int, kinds: list[str]) -> dict[str, Any]:
    model = fitted(method, data)
    adjacency = symmetric_adjacency(data.graph)
    found: dict[str, list[Drops]] = {}
    together: dict[str, list[Removal]] = {}
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
            slow = refit and method not in QUICK
            at_once = part.kind == "neighbours" and method in EMBEDDED
            if part.kind not in kinds or (slow and not at_once and number % max(1, len(nodes) // n_refits)):
                continue
            score = answer.score
            if part.kind == "features" and method == "gcn":
                score = network_score(method, model, row, contrast, data)
            without = score_without(method, part.kind, model, row, contrast, data)
            for name, (best, pool) in removals(method, part, row, adjacency).items():
                removal = Removal(number, row, contrast, score, best, pool)
                if at_once:
                    together.setdefault(name, []).append(removal)
                else:
                    found.setdefault(name, []).append(drops(removal, without, FEW_DRAWS if slow else DRAWS))
    found.update({name: drops_together(method, data, some) for name, some in together.items()})
    result: dict[str, Any] = {"seconds": float(np.median(seconds))}
    for name, measured in found.items():
        top, other, size = np.mean(measured, axis=0).tolist()
        better = float(np.mean([first > second for first, second, _ in measured]))
        result[name] = {
            "nodes": len(measured), "refit": is_refit(method, "neighbours" if name == "own" else name), "top": top,
            "random": other, "random_size": size, "larger": better,
        }  # fmt: skip
        if name != "own":
            result[name]["ratio"] = top / max(abs(other), 1e-9)
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
