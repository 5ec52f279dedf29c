"""Reasons of Planetoid-T and Planetoid-G: features, labels through the classifier, and neighbours by embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from planetoid.data.dataset import Features
from planetoid.explanation.contributions import (
    Answer,
    Question,
    by_label_gradient,
    by_occlusion,
    by_predictions_of_neighbours,
)
from planetoid.training.batches import FeatureRows
from planetoid.training.head_reasons import HeadInputs, output_products

if TYPE_CHECKING:
    from planetoid.models.table_model import TableModel

__all__ = ["explain_table_model"]


def explain_table_model(model: TableModel, row: int, question: Question) -> Answer:
    """Return the parts of the log-odds of a node; its embedding stays as it is."""
    data = question.known_data()
    device = next(model.head_.parameters()).device
    around = by_predictions_of_neighbours(question, row, model.label_distributions_)
    if data.X is None and not data.graph.connected()[row]:
        return Answer(0.0, question.log_odds_name, [around], "nothing is known about this node: it has no edges")

    def inputs(rows: npt.NDArray[np.int64], X: Features | None) -> HeadInputs:
        e = torch.from_numpy(np.ascontiguousarray(model.embedding_[rows])).to(device)
        return HeadInputs(None if X is None else FeatureRows(model._scale(X), device), e)

    def predict(some: HeadInputs) -> npt.NDArray[np.float32]:
        with torch.no_grad():
            return np.asarray(model.head_.log_probabilities(some.batch(), some.e).exp().cpu().numpy())

    def score(X: Features | None) -> npt.NDArray[np.float64]:
        n_rows = 1 if X is None else X.shape[0]
        return question.log_odds(predict(inputs(np.full(n_rows, row), X)))

    labelled = inputs(data.labelled, None if data.X is None else data.X[data.labelled])
    own = inputs(np.array([row]), question.x)
    products = output_products(model.head_, labelled, own)
    labels = by_label_gradient(data, data.labelled, products, predict(labelled), question.contrast)
    features = [] if question.x is None else [by_occlusion(question.x, score)]
    return Answer(float(score(question.x)[0]), question.log_odds_name, [*features, labels, around])
