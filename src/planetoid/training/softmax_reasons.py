"""What each label adds to the scores of softmax regression with an L2 penalty.

At the optimum the weights of class k are ``C sum_j (1[y_j = k] - p_jk) x_j`` over the labelled rows j, so a score is a
sum of contributions of labels: the residual of the label times the product of its row with the row in question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from planetoid.explanation.contributions import BY_OPTIMALITY, Contributions, Question, two_class_weights

if TYPE_CHECKING:
    from planetoid.data.scaling import Rows

__all__ = ["SoftmaxWeights", "by_optimality", "products_with"]


class SoftmaxWeights(NamedTuple):
    """A fitted softmax regression; two classes share one row of weights, as in scikit-learn."""

    coef: npt.NDArray[np.floating[Any]]  # (class, input)
    intercept: npt.NDArray[np.floating[Any]]  # (class)
    C: float  # inverse of the penalty

    def scores(self, X: Rows) -> npt.NDArray[np.float64]:
        """Return the scores of rows, 0 for the first of two classes."""
        intercept = two_class_weights(self.intercept[:, None], 0, 1)[:, 0]
        return np.asarray(X @ two_class_weights(self.coef, 0, 1).T + intercept)


def by_optimality(
    question: Question, rows: npt.NDArray[np.int64], X: Rows, x: Rows, solver: SoftmaxWeights
) -> Contributions:
    """Return the contributions of labelled nodes ``rows`` with inputs X to the score of input row x.

    They add up to the score, but for the intercept and the tolerance of the solver, which may be coarse.
    """
    data = question.known_data()
    residuals = data.one_hot()[rows] - softmax(solver.scores(X), axis=1)
    contrast = question.contrast
    if len(solver.coef) == 1:
        contrast = contrast * [0.0, 1.0]  # the score of the first class is always 0
    return Contributions("labels", rows, solver.C * (residuals @ contrast) * products_with(X, x), BY_OPTIMALITY)


def products_with(X: Rows, x: Rows) -> npt.NDArray[np.float64]:
    """Return the products of rows X with one row x."""
    product = X @ x.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)[:, 0]
