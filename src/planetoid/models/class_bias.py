"""A bias of each class, chosen by validation labels.

With a few labels per class, a network does not know how frequent the classes are, and predicts some of them too often.
Validation labels that are a random sample of the nodes show it: what is added to the log-probability of each class is
the intercept of a softmax regression of their classes on the log-probabilities, which are scaled by one number. Labels
that are as many in every class were chosen by class, and say nothing about it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax

from planetoid.calibration import MIN_LABELS, log_probabilities
from planetoid.data.types import Probabilities
from planetoid.labels import are_balanced

__all__ = ["chosen_bias", "with_bias"]

PENALTY = 4.0  # of the squared biases, in units of log-loss: a class needs several labels to move them

Bias = npt.NDArray[np.float32]


def chosen_bias(probabilities: Probabilities, codes: npt.NDArray[np.integer]) -> Bias:
    """Return the bias of each class by which known nodes are most probably of their class.

    It is 0 with few of them, and if all classes have as many.

    Parameters
    ----------
    probabilities : array of shape (n_known, n_classes)
        Of nodes with validation labels.
    codes : array
        Their classes.

    Examples
    --------
    >>> undecided = np.full((100, 2), 0.5)
    >>> chosen_bias(undecided, np.arange(100) // 90).round(1)
    array([ 0.9, -0.9], dtype=float32)
    """
    from scipy.optimize import minimize

    n_classes = probabilities.shape[1]
    if len(codes) < MIN_LABELS or are_balanced(codes):
        return np.zeros(n_classes, np.float32)
    scores, targets = log_probabilities(probabilities), np.eye(n_classes)[codes]

    def loss(numbers: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        bias, power = numbers[:-1], np.exp(numbers[-1])
        logs = log_softmax(power * scores + bias, axis=1)
        residual = np.exp(logs) - targets
        gradient = np.append(residual.sum(axis=0) + PENALTY * bias, power * (residual * scores).sum())
        return float(-(targets * logs).sum() + 0.5 * PENALTY * (bias**2).sum()), gradient

    found = minimize(loss, np.zeros(n_classes + 1), jac=True, method="L-BFGS-B").x
    return np.asarray(found[:-1] / np.exp(found[-1]), dtype=np.float32)


def with_bias(probabilities: Probabilities, bias: Bias) -> Probabilities:
    """Return the probabilities with the bias of each class added to their logarithms.

    >>> with_bias(np.array([[0.5, 0.5]], np.float32), np.log(np.array([1, 3], np.float32)))
    array([[0.25, 0.75]], dtype=float32)
    """
    if not bias.any():
        return probabilities
    tiny = np.finfo(probabilities.dtype).tiny
    return np.asarray(softmax(np.log(np.maximum(probabilities, tiny)) + bias, axis=1), dtype=probabilities.dtype)
