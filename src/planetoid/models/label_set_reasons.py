"""Reasons of :class:`~planetoid.Planetoid` for several labels per node: labels, neighbours and features by their views.

The log-odds of a label are a weighted sum of those of the views, and each of these is linear in the row of the node in
this view. The rows of the features around a node, and of the labels around it, are in turn sums over nodes, which says
what each of these adds. An embedding is no such sum: the view of the graph is explained by labelled nodes alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import Rows
from planetoid.explanation.contributions import SET_LOG_ODDS, Answer, Contributions, Question, entries_of
from planetoid.graph.adjacency import mean_weight
from planetoid.models.label_set_model import LabelSetModel, Material
from planetoid.models.label_set_views import (
    INVERSE_PENALTY,
    PRIOR_NEIGHBOURS,
    Weighted,
    block_length,
    label_counts,
    near_and_walk,
    neighbourhood_filter,
    random_projection,
    smoothed_shares,
    spread_features,
)
from planetoid.training.logistic_reasons import BY_LABELLED_NODE, shares_of_labels

__all__ = ["ExplainedViews", "explain_labels_of_new_row", "explain_labels_of_node"]

BY_NEIGHBOUR = (
    "weight of the labels of this node among those around, compared with their frequency; and its features, times "
    "their share in those around the node and their weight"
)
BY_FEATURE = "value of the feature, of the node and around it, as scaled for the model, times its weights"

Vector = npt.NDArray[np.float64]


class ExplainedViews(NamedTuple):
    """What the views are made from, and the rows of all nodes in each of them."""

    material: Material
    Y: sparse.csr_array  # labels that were learned from
    blocks: dict[str, Rows]
    seed: int

    @classmethod
    def of(cls, material: Material, Y: sparse.csr_array, view: str, seed: int) -> ExplainedViews:
        """Make the rows as the fit did."""
        return cls(material, Y, material.blocks(Y, view, seed), seed)


def explain_labels_of_node(question: Question, row: int, model: LabelSetModel, views: ExplainedViews) -> Answer:
    """Return the parts of the log-odds of a label of a fitted node."""
    together, data = model.together, question.known_data()
    one = np.array([row])
    score = _log_odds(question, together, {name: rows[one] for name, rows in views.blocks.items()})
    labels = np.zeros(len(data.labelled))
    by_node = np.zeros(data.n_nodes)
    by_feature = np.zeros(0 if views.material.X is None else views.material.X.shape[1])
    for name, rows in views.blocks.items():
        fitted, weight = together.regressions[name], together.weights[name]
        labels += weight * shares_of_labels(
            question, data.labelled, rows[data.labelled], rows[one], fitted, INVERSE_PENALTY[name]
        )
        weights = weight * (fitted.coef @ question.contrast)
        if name == "features":
            columns, values = entries_of(rows[one])
            by_feature[columns] += values * weights[columns]
        elif name == "neighbourhood":
            nodes, features = _through_neighbourhood(views, row, weights)
            by_node += nodes
            by_feature += features
        elif name == "labels":
            by_node += _through_labels(views, row, weights)
    parts = [Contributions("labels", data.labelled, labels, BY_LABELLED_NODE)]
    for kind, values, meaning, names in (
        ("neighbours", by_node, BY_NEIGHBOUR, ("neighbourhood", "labels")),
        ("features", by_feature, BY_FEATURE, ("features", "neighbourhood")),
    ):
        if any(name in views.blocks for name in names):
            at = np.flatnonzero(values)
            parts.append(Contributions(kind, at, values[at], meaning, score - float(values.sum())))
    return Answer(score, SET_LOG_ODDS, parts)


def explain_labels_of_new_row(question: Question, model: LabelSetModel, x: Rows, known: Rows | None) -> Answer:
    """Return the parts of the log-odds of a label of a new row, by its features alone.

    ``x`` is the row and ``known`` has those of all fitted nodes, where they are known, both as scaled for the model.
    """
    assert model.alone is not None  # there would be no prediction
    fitted, weight = model.alone.regressions["features"], model.alone.weights["features"]
    score = _log_odds(question, model.alone, {"features": x})
    columns, values = entries_of(x)
    values = values * weight * (fitted.coef @ question.contrast)[columns]
    parts = [Contributions("features", columns, values, BY_FEATURE, score - float(values.sum()))]
    if known is not None:
        rows = question.known_data().labelled
        shares = weight * shares_of_labels(question, rows, known[rows], x, fitted, INVERSE_PENALTY["features"])
        parts.append(Contributions("labels", rows, shares, BY_LABELLED_NODE))
    return Answer(score, SET_LOG_ODDS, parts)


def _log_odds(question: Question, weighted: Weighted, rows: dict[str, Rows]) -> float:
    by_view = {name: weighted.regressions[name].logits(one) for name, one in rows.items()}
    return float(weighted.logits(by_view)[0] @ question.contrast)


def _through_neighbourhood(views: ExplainedViews, row: int, weights: Vector) -> tuple[Vector, Vector]:
    """Return what each node, and each feature, adds through the features around a node."""
    X, adjacency = views.material.X, views.material.adjacency
    assert X is not None
    assert adjacency is not None
    signs = random_projection(X.shape[1], views.seed)
    weights = weights / block_length(spread_features(X, adjacency, views.seed))
    if signs is not None:
        weights = signs.astype(np.float64) @ weights
    start = np.zeros((X.shape[0], 1), dtype=np.float32)
    start[row] = 1.0
    shares = neighbourhood_filter(adjacency)(start)[:, 0].astype(np.float64)  # the filter is symmetric
    return shares * np.asarray(X @ weights), np.asarray(X.T @ shares) * weights


def _through_labels(views: ExplainedViews, row: int, weights: Vector) -> Vector:
    """Return what each labelled node adds through the labels around a node, compared with the class prior."""
    adjacency = views.material.adjacency
    assert adjacency is not None
    near, walk = near_and_walk(adjacency)
    counts, prior = label_counts(near, walk, views.Y)
    one_step = near[[row]].toarray()[0] / mean_weight(near)
    two_steps = (walk[[row]] @ walk).toarray()[0]
    two_steps[row] = 0.0
    known = np.diff(views.Y.indptr) > 0
    total = np.zeros(adjacency.shape[0])
    for count, beside, steps, part in zip(
        counts, PRIOR_NEIGHBOURS, (one_step, two_steps), np.split(weights, 2), strict=True
    ):
        part = part / block_length(smoothed_shares(count, beside, prior))
        compared = np.asarray(views.Y @ part) - float(prior @ part)
        total += np.where(known, steps * compared, 0.0) / (count[row, -1] + beside)
    return total
