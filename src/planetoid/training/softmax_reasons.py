"""What each label adds to the scores of softmax regression with an L2 penalty.

At the optimum the weights of class k are ``C sum_j (1[y_j = k] - p_jk) x_j`` over the labelled rows j, so a score is a
sum of contributions of labels: the residual of the label times the product of its row with the row in question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from planetoid.explanation.contributions import BY_OPTIMALITY, Contributions, Question

if TYPE_CHECKING:
    from planetoid.data.scaling import Rows
    from planetoid.training.softmax_regression import SoftmaxRegression

__all__ = ["by_optimality", "products_with"]


def by_optimality(
    question: Question, rows: npt.NDArray[np.int64], X: Rows, x: Rows, fitted: SoftmaxRegression
) -> Contributions:
    """Return the contributions of labelled nodes ``rows`` with inputs X to the score of input row x.

    They add up to the score, but for the intercept and the tolerance of the solver, which may be coarse.
    """
    data = question.known_data()
    residuals = data.one_hot()[rows] - softmax(fitted.scores(X), axis=1)
    contrast = question.contrast
    if len(fitted.coef) == 1:
        contrast = contrast * [0.0, 1.0]  # the score of the first class is always 0
    return Contributions("labels", rows, fitted.C * (residuals @ contrast) * products_with(X, x), BY_OPTIMALITY)


def products_with(X: Rows, x: Rows) -> npt.NDArray[np.float64]:
    """Return the products of rows X with one row x."""
    product = X @ x.T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)[:, 0]
