"""Reasons of :class:`~planetoid.Planetoid`: which contexts of a node, and which of their features, lead to its class.

The network is ``scores = relu(sum_c p_c x_c W1 + b1) W2 + b2`` with the share p_c of each context c in all walks from
the node. At the node itself it is linear in its inputs (the same hidden units are active), so that inputs times
gradients add up to the scores, but for the biases and what the teacher adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

from planetoid.data.scaling import Rows
from planetoid.explanation.contributions import (
    BY_WEIGHT,
    LOG_ODDS,
    Answer,
    Contributions,
    Question,
    by_label_gradient,
    by_weight,
)

if TYPE_CHECKING:
    from planetoid.models.context_network import ContextNetwork
    from planetoid.models.hops import Hops
    from planetoid.models.inputs import Inputs
    from planetoid.models.student import DistilledLayers, Student

__all__ = [
    "PooledPredictions",
    "explain_hops",
    "explain_new_row",
    "explain_node",
    "nothing_known",
    "of_given_features",
    "scaled_and_shifted",
]

SMALLEST = 1e-12
BY_STUDENT = f"{BY_WEIGHT} in the student, the network that labels rows without edges"
BY_CONTEXT = "features of this node times their share in the contexts and the gradient of the network"
BY_FEATURE = "value of the feature in the contexts times the gradient of the score"
BY_HOPS = "features and place of this node times their share in the input of the network and its gradient"
BY_FEATURE_OF_HOPS = "value of the feature in the node and one and two steps away, times the gradient of the score"
BY_POOLED = f"{BY_CONTEXT}; and what is predicted for this node by itself, times its share"


def explain_node(
    question: Question,
    row: int,
    network: ContextNetwork,
    embedding: npt.NDArray[np.float32],
    x: sparse.csr_array | None,
    opinions: npt.NDArray[np.float32] | None,
) -> Answer:
    """Return the parts of the log-odds of a fitted node.

    ``x`` has the inputs of the network, if features have a meaning; ``opinions`` are those of teacher and other views.
    """
    weights = network.contexts.shares(row)
    gradient, base = _gradient(question, row, network, embedding, opinions)
    around = np.flatnonzero(weights)
    shares = weights[around]
    values = shares * (network.projected[around].astype(np.float64) @ gradient)
    parts = [Contributions("neighbours", around, values, BY_CONTEXT, base)]
    if x is not None:
        seen = np.asarray(x[around].T @ shares)[None, :]
        parts.append(by_weight(seen, network.layers.W1.astype(np.float64) @ gradient, base, BY_FEATURE))
    parts += _by_labels(question, row, network, embedding)
    return Answer(base + float(values.sum()), LOG_ODDS, parts)


def explain_hops(
    question: Question,
    row: int,
    network: ContextNetwork,
    embedding: npt.NDArray[np.float32],
    hops: Hops,
    opinions: npt.NDArray[np.float32] | None,
) -> Answer:
    """Return the parts of the log-odds of a fitted node, by its own features and those one and two steps away."""
    gradient, base = _gradient(question, row, network, embedding, opinions)
    reasons = hops.reasons(network.contexts.adjacency, row, network.layers.W1.astype(np.float64) @ gradient)
    around = np.flatnonzero(reasons.neighbours)
    score = base + float(reasons.neighbours.sum())
    parts = [Contributions("neighbours", around, reasons.neighbours[around], BY_HOPS, base)]
    if reasons.features is not None:
        present = np.flatnonzero(reasons.features)
        rest = score - float(reasons.features[present].sum())
        parts.append(Contributions("features", present, reasons.features[present], BY_FEATURE_OF_HOPS, rest))
    parts += _by_labels(question, row, network, embedding)
    return Answer(score, LOG_ODDS, parts)


def nothing_known(question: Question) -> Answer:
    """Return the answer about a node that nothing is known about, which has the class prior."""
    prior = None if question.data is None else np.log(np.maximum(question.data.class_prior, SMALLEST))
    score = 0.0 if prior is None else float(prior @ question.contrast)
    return Answer(score, LOG_ODDS, [], "nothing is known about this node: it has the frequencies of the labels")


def _gradient(
    question: Question,
    row: int,
    network: ContextNetwork,
    embedding: npt.NDArray[np.float32],
    opinions: npt.NDArray[np.float32] | None,
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the gradient of the score by the hidden units before ReLU, and what is not due to the inputs."""
    layers = network.layers
    gradient = (layers.W2.astype(np.float64) @ question.contrast) * (embedding[row] > 0)
    base = float(gradient @ layers.b1 + layers.b2 @ question.contrast)
    if opinions is not None:
        base += float(opinions[row] @ question.contrast)
    return gradient, base


def _by_labels(
    question: Question, row: int, network: ContextNetwork, embedding: npt.NDArray[np.float32]
) -> list[Contributions]:
    """Return what labels add through the output layer, if the data are known."""
    if question.data is None:
        return []
    rows, layers = question.data.labelled, network.layers
    probabilities = softmax(embedding[rows] @ layers.W2 + layers.b2, axis=1)
    products = (embedding[rows] @ embedding[row]).astype(np.float64)
    return [by_label_gradient(question.data, rows, products, probabilities, question.contrast)]


class PooledPredictions(NamedTuple):
    """The predictions that a distilled network makes for the contexts of a node, each from its own row.

    The mean of them is pooled with the prediction of the network: the log-odds become ``(1 - weight)`` times those of
    the network plus ``weight`` times ``log(q_a / q_b)`` with the mean probabilities q of the two classes. A logarithm
    of a ratio is a difference divided by the logarithmic mean, ``(q_a - q_b) / L(q_a, q_b)``, so that it too is a sum
    over contexts.
    """

    weights: npt.NDArray[np.float64]  # (node): the share of each node in the mean
    own: npt.NDArray[np.float32]  # (node, class): predictions
    layers: DistilledLayers  # of the network that made them
    weight: float  # of the mean in the prediction

    def added_to(self, answer: Answer, contrast: npt.NDArray[np.float64], x: sparse.csr_array | None) -> Answer:
        """Return the answer about the network, pooled with these predictions."""
        a, b = int(contrast.argmax()), int(contrast.argmin())
        mean = np.maximum(self.weights @ self.own, SMALLEST)
        if not self.weights.any():  # no context has features: the network alone decides
            return answer
        odds = float(np.log(mean[a] / mean[b]))
        difference = float(mean[a] - mean[b])
        logarithmic_mean = difference / odds if abs(odds) > 1e-6 else float(mean[a])
        added = self.weight * self.weights * (self.own[:, a] - self.own[:, b]) / logarithmic_mean
        parts = []
        for part in answer.parts:
            if part.kind == "neighbours":
                values = np.zeros(len(self.weights))
                values[part.at] = (1 - self.weight) * part.values
                values += added
                around = np.flatnonzero(values)
                base = (1 - self.weight) * (part.base or 0.0)
                parts.append(Contributions("neighbours", around, values[around], BY_POOLED, base))
            elif part.kind == "features" and x is not None:
                values = np.zeros(x.shape[1])
                values[part.at] = (1 - self.weight) * part.values
                values += self.weight * self._by_feature(x, mean, a, b)
                present = np.flatnonzero(values)
                parts.append(Contributions("features", present, values[present], BY_FEATURE))
            else:
                parts.append(part)
        return answer._replace(score=(1 - self.weight) * answer.score + self.weight * odds, parts=parts)

    def _by_feature(
        self, x: sparse.csr_array, mean: npt.NDArray[np.float64], a: int, b: int
    ) -> npt.NDArray[np.float64]:
        """Return inputs times gradients of the pooled log-odds, summed over contexts."""
        around = np.flatnonzero(self.weights)
        rows, own, shares = x[around], self.own[around].astype(np.float64), self.weights[around, None]
        classes = np.eye(own.shape[1])
        by_scores = own[:, [a]] * (classes[a] - own) / mean[a] - own[:, [b]] * (classes[b] - own) / mean[b]
        active = np.asarray(rows @ self.layers.W1 + self.layers.b1) > 0
        by_units = (shares * by_scores) @ self.layers.W2.T.astype(np.float64) * active
        of_network = np.asarray(rows.T @ by_units) * self.layers.W1
        return np.asarray(of_network.sum(axis=1) + ((rows.T @ (shares * by_scores)) * self.layers.direct).sum(axis=1))


def explain_new_row(student: Student, x: Rows, contrast: npt.NDArray[np.float64]) -> Answer:
    """Return the parts of the log-odds of a new row, by the student."""
    layers = student.layers
    hidden = np.asarray(x @ layers.W1 + layers.b1)[0]
    gradient = (layers.W2.astype(np.float64) @ contrast) * (hidden > 0)
    base = float(gradient @ layers.b1 + layers.b2 @ contrast)
    weights = layers.W1.astype(np.float64) @ gradient + layers.direct.astype(np.float64) @ contrast
    features = by_weight(x, weights, base, BY_STUDENT)
    same, _ = student.known_rows(x)
    note = "the row equals that of a fitted node, whose prediction it gets; the reasons are those of the student"
    return Answer(base + float(features.values.sum()), LOG_ODDS, [features], note if same[0] else "")


def of_given_features(answer: Answer, inputs: Inputs, row: Rows) -> Answer:
    """Return the answer by the features as they were given, where ``inputs`` add columns to them.

    ``row`` is the scaled row of the node. What a column of ones or the length of a row contributes is no reason.
    """
    dense = np.asarray(row if isinstance(row, np.ndarray) else row.toarray(), dtype=np.float64)[0]

    def given(part: Contributions) -> Contributions:
        if part.kind != "features":
            return part
        at, values, rest = inputs.by_given_columns(part.at, part.values, dense)
        return part._replace(at=at, values=values, base=None if part.base is None else part.base + rest)

    return answer._replace(parts=[given(part) for part in answer.parts])


def scaled_and_shifted(answer: Answer, factor: float, offset: float) -> Answer:
    """Return the answer about a score that is multiplied, and to which a constant is added, which has no reason."""
    parts = [
        part._replace(values=factor * part.values, base=None if part.base is None else factor * part.base + offset)
        for part in answer.parts
    ]
    return answer._replace(score=factor * answer.score + offset, parts=parts)
