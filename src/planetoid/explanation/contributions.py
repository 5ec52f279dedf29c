"""What methods answer: contributions to a score, by row or column number, and the ways to compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.errors import DataError, Fix
from planetoid.multi_label import class_logits

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset, Features
    from planetoid.data.scaling import Rows

__all__ = [
    "BY_GRADIENT",
    "BY_OCCLUSION",
    "BY_OPTIMALITY",
    "BY_WEIGHT",
    "LOG_ODDS",
    "MARGIN",
    "SET_LOG_ODDS",
    "Answer",
    "Contributions",
    "Question",
    "by_label_gradient",
    "by_occlusion",
    "by_predictions_of_neighbours",
    "by_weight",
    "entries_of",
    "linear_answer",
    "two_class_weights",
]

MOST_OCCLUDED = 2_000  # features of a row that are removed in turn
AT_ONCE = 256
SMALLEST = 1e-12  # probability

MARGIN = "score of the class minus that of the other (distances to hyperplanes)"
LOG_ODDS = "log-odds of the class against the other, before calibration"
SET_LOG_ODDS = "log-odds of having the label, before calibration"
BY_WEIGHT = "value of the feature, as scaled for the model, times its weight"
BY_OCCLUSION = "by how much the score falls if this feature alone is set to zero"
BY_GRADIENT = (
    "by how much the score rises per step of gradient descent of the output layer on this label "
    "(its residual times the product of the two hidden rows)"
)
BY_OPTIMALITY = "the part of the softmax weights that this label is responsible for, times the row of the node"

Vector = npt.NDArray[np.float64]


class Question(NamedTuple):
    """What a method is asked: which parts its score has, for one node or one new row."""

    row: int | None  # of the fitted node; None for a new row
    x: Features | None  # one raw feature row, where it is known
    contrast: Vector  # (class): the score in question is that of the classes times this, +1 and -1 in two places
    data: Dataset | None  # what the model was fitted on, where it is known
    method: str  # for messages
    multi_label: bool = False  # whether nodes may have several labels: the contrast is then +1 in one place

    @property
    def log_odds_name(self) -> str:
        """What the log-odds of this question are, in words."""
        return SET_LOG_ODDS if self.multi_label else LOG_ODDS

    def log_odds(self, probabilities: npt.NDArray[np.floating[Any]]) -> Vector:
        """Return the log-odds of one class against the other; of several labels per node, those of having one."""
        if self.multi_label:
            return np.asarray(class_logits(probabilities) @ self.contrast)
        logs = np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), SMALLEST))
        return np.asarray(logs @ self.contrast)

    def known_data(self) -> Dataset:
        """Return the data of the fit, or raise ``DataError``."""
        if self.data is None:
            raise DataError(
                f"{self.method} explains a node by the data that it was fitted on, which this model does not hold",
                fix=Fix("data", purpose="as they were when it was fitted"),
            )
        return self.data

    def known_row(self) -> Features:
        """Return the feature row, or raise ``DataError``."""
        if self.x is None:
            self.known_data()
            raise DataError(f"{self.method}: the data has no features to explain the node by")
        return self.x


class Contributions(NamedTuple):
    """Contributions of one kind to a score."""

    kind: str  # of result.KINDS
    at: npt.NDArray[np.integer]  # rows of nodes, or columns of features
    values: Vector
    meaning: str
    base: float | None = None  # the rest of the score; None if they do not add up to it


class Answer(NamedTuple):
    """The score and its parts."""

    score: float
    quantity: str
    parts: Sequence[Contributions]
    note: str = ""


def entries_of(row: Rows) -> tuple[npt.NDArray[np.int64], Vector]:
    """Return columns and values of the entries of one row that are not zero."""
    if isinstance(row, np.ndarray):
        columns = np.flatnonzero(row[0])
        return columns, np.asarray(row[0][columns], dtype=np.float64)
    kept = row.data != 0
    return row.indices[kept].astype(np.int64), row.data[kept].astype(np.float64)


def two_class_weights(weights: npt.NDArray[np.floating[Any]], first: float, second: float) -> Vector:
    """Return weights with a row per class, where two classes share one: their scores are multiples of it.

    >>> two_class_weights(np.array([[2.0, 4.0]]), 0, 1).tolist()
    [[0.0, 0.0], [2.0, 4.0]]
    """
    full = np.asarray(weights, dtype=np.float64)
    return np.concatenate([first * full, second * full]) if len(full) == 1 else full


def by_weight(row: Rows, weights: Vector, base: float, meaning: str = BY_WEIGHT) -> Contributions:
    """Return value times weight of each feature of one row: what a linear score is the sum of."""
    columns, values = entries_of(row)
    return Contributions("features", columns, values * weights[columns], meaning, base)


def linear_answer(
    question: Question,
    x: Rows,
    weights: npt.NDArray[np.floating[Any]],
    intercept: npt.NDArray[np.floating[Any]],
    first: float,
    second: float,
    quantity: str = MARGIN,
) -> Answer:
    """Return the answer of a method whose scores are linear in the features of a row, as scaled for it.

    ``weights`` have a row per class; two classes may share one, of which their scores are multiples.
    """
    base = float(two_class_weights(intercept[:, None], first, second)[:, 0] @ question.contrast)
    features = by_weight(x, two_class_weights(weights, first, second).T @ question.contrast, base)
    return Answer(base + float(features.values.sum()), quantity, [features])


def by_occlusion(row: Features, score: Callable[[Features], Vector]) -> Contributions:
    """Return by how much the score falls without each feature; of very many, those with the largest values.

    ``score`` takes raw feature rows.
    """
    columns, values = entries_of(row)
    meaning = BY_OCCLUSION
    if len(columns) > MOST_OCCLUDED:
        columns = np.sort(columns[np.argsort(-np.abs(values), kind="stable")[:MOST_OCCLUDED]])
        meaning += f"; of the {MOST_OCCLUDED:,} features with the largest values"
    whole = float(score(row)[0])
    falls = np.empty(len(columns))
    for first in range(0, len(columns), AT_ONCE):
        some = columns[first : first + AT_ONCE]
        falls[first : first + len(some)] = whole - score(_without_one(row, some))
    return Contributions("features", columns, falls, meaning)


def _without_one(row: Features, columns: npt.NDArray[np.int64]) -> Features:
    """Return copies of a row, each without one of the columns."""
    n = len(columns)
    if isinstance(row, np.ndarray):
        copies = np.repeat(row, n, axis=0)
        copies[np.arange(n), columns] = 0.0
        return copies
    kept = row.indices[None, :] != columns[:, None]
    indices = np.broadcast_to(row.indices, kept.shape)[kept]
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(row.indptr.dtype)
    data = np.broadcast_to(row.data, kept.shape)[kept]
    return sparse.csr_array((data, indices, indptr), shape=(n, row.shape[1]))


def by_label_gradient(
    data: Dataset,
    rows: npt.NDArray[np.int64],
    products: Vector,
    probabilities: npt.NDArray[np.floating[Any]],
    contrast: Vector,
) -> Contributions:
    """Return what each labelled node adds to the score through the output layer.

    Parameters
    ----------
    data : Dataset
    rows : array
        Labelled nodes.
    products : array
        Products of their inputs of the output layer with that of the node in question.
    probabilities : array
        What the model predicts for them.
    contrast : array
    """
    residuals = (data.one_hot()[rows] - np.asarray(probabilities, dtype=np.float64)) @ contrast
    return Contributions("labels", rows, residuals * products, BY_GRADIENT)


def by_predictions_of_neighbours(
    question: Question, row: int, probabilities: npt.NDArray[np.floating[Any]]
) -> Contributions:
    """Return the log-odds that the model gives each neighbour, by its share of the edges of the node."""
    from planetoid.graph.adjacency import symmetric_adjacency

    around = symmetric_adjacency(question.known_data().graph)[[row]]
    shares = around.data / max(float(around.data.sum()), SMALLEST)
    values = shares.astype(np.float64) * question.log_odds(probabilities[around.indices])
    return Contributions(
        "neighbours",
        around.indices,
        values,
        "predicted log-odds of the neighbour, times its share of the node's edges; similar embeddings are learned for "
        "neighbours",
    )
