"""Several labels per node: from independent class probabilities to sets of labels, and their calibration.

A method gives every class a probability of its own, and rows need not sum to one. :func:`indicator` turns them into
labels: those above a threshold, at least one, or as many as asked for. :func:`best_threshold` is the threshold of the
best micro F1 that the probabilities themselves promise. :func:`calibrate_sets` makes them agree with labels that the
method has not learned from: log p / (1 - p) is divided by a temperature and shifted, both the same for all classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit, logit

from planetoid.calibration import MIN_LABELS, Calibration
from planetoid.data.types import Probabilities
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset

__all__ = [
    "MULTI_LABEL_METHODS", "SetSample", "best_threshold", "calibrate_sets", "check_supported", "class_logits",
    "evaluate_sets", "indicator", "to_distributions",
]  # fmt: skip

# The classes that take several labels per node; known here, below the registry, for the message of all others.
MULTI_LABEL_METHODS = (
    "Planetoid",
    "PlanetoidT",
    "PlanetoidI",
    "PlanetoidG",
    "Feat",
    "LabelPropagation",
    "GraphEmbedding",
)

SMALLEST = 1e-6  # probability, and 1 - probability; beyond, a logit says no more
DEFAULT_THRESHOLD = 0.5  # of a model whose probabilities promise nothing
MOST_ENTRIES = 2_000_000  # of the probabilities that the threshold is chosen by
PRIOR = np.array([1.0, 1.0])  # standard deviations of log(temperature) and of the shift, which are usually 0

Matrix = npt.NDArray[np.float64]
Top: TypeAlias = "int | npt.ArrayLike"  # number of labels: of every node, or of each


class SetSample(NamedTuple):
    """What a model says about nodes whose labels it does not know, and these labels."""

    logits: Matrix  # (node, class)
    targets: sparse.csr_array  # (node, class)
    source: str


def indicator(probabilities: Probabilities, threshold: float, top: Top | None = None) -> npt.NDArray[np.int64]:
    """Return a row of 0 and 1 for each node: the labels that are predicted.

    Parameters
    ----------
    probabilities : array of shape (n_nodes, n_classes)
    threshold : float
        Classes at least as probable are predicted, and always the most probable one.
    top : int or array of shape (n_nodes,), optional
        Number of labels per node instead, the most probable ones.

    Examples
    --------
    >>> probabilities = np.array([[0.9, 0.6, 0.1], [0.3, 0.2, 0.1]])
    >>> indicator(probabilities, 0.5).tolist(), indicator(probabilities, 0.5, top=[1, 2]).tolist()
    ([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]])
    """
    n, k = probabilities.shape
    if top is None:
        chosen = (probabilities >= threshold).astype(np.int64)
        chosen[np.arange(n), probabilities.argmax(axis=1)] = 1
        return chosen
    wanted = np.asarray(top)
    if wanted.dtype.kind not in "iu" or wanted.shape not in ((), (n,)) or (wanted < 0).any() or (wanted > k).any():
        raise ParameterError(
            f"predict: top must be an integer from 0 to {k}, the number of classes, or one for each of the {n:,} nodes",
            parameter="top",
        )
    order = np.argsort(-probabilities, axis=1, kind="stable")
    chosen = np.zeros((n, k), dtype=np.int64)
    np.put_along_axis(chosen, order, (np.arange(k) < wanted.reshape(-1, 1)).astype(np.int64), axis=1)
    return chosen


def evaluate_sets(truth: sparse.csr_array, probabilities: Probabilities) -> dict[str, float | None]:
    """Return what early stopping monitors, from validation labels.

    ``val_accuracy`` is the share of correct labels if as many are predicted as each node has, which is then also micro
    F1; ``val_loss`` is the mean log-loss of a node.

    >>> evaluate_sets(sparse.csr_array([[True, True, False]]), np.array([[0.5, 0.1, 0.4]]))["val_accuracy"]
    0.5
    """
    labels = truth.toarray().astype(bool)
    chosen = indicator(probabilities, 0.0, labels.sum(axis=1)) > 0
    logits = class_logits(probabilities)
    return {
        "val_accuracy": float((chosen & labels).sum() / max(1, labels.sum())),
        "val_loss": float((np.logaddexp(0.0, logits) - labels * logits).sum(axis=1).mean()),
    }


def best_threshold(probabilities: Probabilities) -> float:
    """Return the threshold of the largest expected micro F1, if the probabilities are right.

    That is half of this F1: a label is worth predicting if its probability exceeds that. It needs no labels.

    >>> round(best_threshold(np.array([[0.9, 0.4, 0.0], [0.8, 0.1, 0.0]])), 2)
    0.4
    """
    every = np.sort(np.asarray(probabilities, dtype=np.float64).ravel())[::-1]
    every = every[:: max(1, len(every) // MOST_ENTRIES)]
    total = every.sum()
    if len(every) == 0 or total == 0:
        return DEFAULT_THRESHOLD
    expected = 2 * every.cumsum() / (total + np.arange(1, len(every) + 1))
    return float(expected.max()) / 2


def calibrate_sets(sample: SetSample) -> Calibration:
    """Choose the temperature and the shift of logits that make the labels of a sample most likely.

    >>> logits = np.full((100, 2), -3.0)  # 5 % for each class, which half of the nodes have
    >>> targets = sparse.csr_array(np.arange(200).reshape(100, 2) % 4 < 2)
    >>> found = calibrate_sets(SetSample(logits, targets, "validation labels"))
    >>> found.apply(np.array([[0.05, 0.05]])).round(1)
    array([[0.5, 0.5]])
    """
    from scipy.optimize import minimize

    if len(sample.logits) < MIN_LABELS:
        return Calibration()
    targets = sample.targets.toarray().astype(np.float64)

    def loss(numbers: Matrix) -> tuple[float, Matrix]:
        scaled = sample.logits * np.exp(-numbers[0])
        scores = scaled + numbers[1]
        rest = expit(scores) - targets
        from_usual = numbers / PRIOR
        value = (np.logaddexp(0.0, scores) - targets * scores).sum() + 0.5 * (from_usual**2).sum()
        return float(value), np.array([-(rest * scaled).sum(), rest.sum()]) + from_usual / PRIOR

    best = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=((-5, 5), (-10, 10))).x
    return Calibration(
        sample.source, float(np.exp(best[0])), n_labels=len(sample.logits), shift=float(best[1]), independent=True
    )


def class_logits(probabilities: Probabilities) -> Matrix:
    """Return log p / (1 - p), of 0 and 1 as of numbers near them."""
    return np.asarray(logit(np.clip(np.asarray(probabilities, dtype=np.float64), SMALLEST, 1 - SMALLEST)))


def to_distributions(
    probabilities: Probabilities, known: npt.NDArray[np.bool_], data: Dataset, calibration: Calibration
) -> Probabilities:
    """Return calibrated probabilities; a node about which nothing is known gets its own labels, or the class prior.

    Labels that the method keeps as they are, with the probabilities 0 and 1, are not calibrated.
    """
    assert data.Y is not None
    found = np.array(probabilities)
    kept = np.zeros(data.n_nodes, dtype=bool)
    kept[data.labelled] = (found[data.labelled] == data.Y[data.labelled].toarray()).all(axis=1)
    found[known & ~kept] = calibration.apply(found[known & ~kept])
    found[~known] = data.class_prior
    own = data.labelled[~known[data.labelled]]
    found[own] = data.Y[own].toarray()
    return found


def check_supported(data: Dataset, method: str, *, supported: bool) -> None:
    """Raise ``DataError`` if nodes have several labels and the method takes one."""
    if data.multi_label and not supported:
        raise DataError(f"{method} takes one label per node", hint=f"for several, use {', '.join(MULTI_LABEL_METHODS)}")
