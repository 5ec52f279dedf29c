"""How much features and graph say about the labels, measured by a linear model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import scale_rows
from planetoid.graph.adjacency import symmetric_adjacency
from planetoid.labels import some_of_each_class
from planetoid.models.evidence import Evidence, most_labelled
from planetoid.models.hops import Hops
from planetoid.models.inputs import Inputs
from planetoid.models.views import FeatureView

__all__ = ["leave_one_out"]

MOST_NODES = 300_000  # beyond which a quick look takes too long
HARDLY, LITTLE = 0.02, 0.5  # more accurate than features alone; accurate without features


def leave_one_out(data: Dataset) -> Mapping[str, npt.NDArray[np.bool_]]:
    """Return which labels ridge regression predicts from the others, by view: features, neighbourhood and graph.

    Where the graph hardly improves predictions, also from "hops": a node's own features beside those of its neighbours.
    Empty if there is nothing to measure: no class with two labels, several labels per node, or a graph of more than
    300,000 nodes. Labels of classes that have no other label do not count.

    Examples
    --------
    >>> import planetoid as pl
    >>> correct = leave_one_out(pl.datasets.make_citation(300, seed=1))
    >>> sorted(correct), bool(correct["neighbourhood"].mean() > correct["features"].mean())
    (['features', 'graph', 'neighbourhood'], True)
    """
    labelled = some_of_each_class(data.y, data.labelled, most_labelled(data.n_nodes, max(1, data.n_classes)))
    codes = data.y[labelled]
    often = np.bincount(codes, minlength=data.n_classes)[codes] > 1
    if data.multi_label or data.n_nodes > MOST_NODES or data.n_classes < 2 or not often.any():
        return {}
    X = None
    if data.X is not None:
        X = scale_rows(Inputs.of(data.X, "l2", labelled, codes).scaled(data.X), "l2")
    adjacency = symmetric_adjacency(data.graph).astype(np.float32) if data.graph.n_edges else None
    if X is None and adjacency is None:
        return {}
    evidence, targets = Evidence(X, adjacency), np.eye(data.n_classes)[codes]
    random = np.random.default_rng(0)
    found = {}
    for name in evidence.views():
        fit = evidence.view(name, labelled, random).regression(targets)
        found[name] = (fit.left_out.argmax(axis=1) == codes)[often]
    if adjacency is not None and _graph_says_little(found):
        hops = Hops.of(X, adjacency, seed=0)
        if hops is not None:
            view = FeatureView(hops.rows(adjacency, labelled), None, np.arange(len(labelled)), random)
            found["hops"] = (view.regression(targets).left_out.argmax(axis=1) == codes)[often]
    return found


def _graph_says_little(correct: Mapping[str, npt.NDArray[np.bool_]]) -> bool:
    """Return whether the graph hardly improves predictions, so that it is worth to ask whether joined nodes differ."""
    by_graph = max(float(correct[name].mean()) for name in ("neighbourhood", "graph") if name in correct)
    return by_graph < (float(correct["features"].mean()) + HARDLY if "features" in correct else LITTLE)
