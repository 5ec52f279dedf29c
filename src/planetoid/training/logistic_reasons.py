"""What features and labels add to the log-odds of a label, by logistic regression with an L2 penalty.

At the optimum the weights of class k are ``C sum_j (y_jk - p_jk) x_j`` over the labelled rows j, as those of softmax
regression (:mod:`planetoid.training.softmax_reasons`): a labelled node raises the score of
a label that it has, and lowers that of one that it has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from planetoid.explanation.contributions import SET_LOG_ODDS, Answer, Contributions, Question, by_weight
from planetoid.training.softmax_reasons import products_with

if TYPE_CHECKING:
    from planetoid.data.scaling import Rows
    from planetoid.training.logistic_regression import LogisticRegressions

__all__ = ["BY_LABELLED_NODE", "by_labelled_nodes", "logistic_answer", "shares_of_labels"]

BY_LABELLED_NODE = "the part of the weights that this labelled node is responsible for, times the row of the node"


def logistic_answer(question: Question, x: Rows, fitted: LogisticRegressions) -> Answer:
    """Return the log-odds of a label, and what each feature of one row, as scaled for the regression, adds to them."""
    base = float(fitted.intercept @ question.contrast)
    features = by_weight(x, fitted.coef @ question.contrast, base)
    return Answer(base + float(features.values.sum()), SET_LOG_ODDS, [features])


def by_labelled_nodes(
    question: Question, rows: npt.NDArray[np.int64], X: Rows, x: Rows, fitted: LogisticRegressions, C: float
) -> Contributions:
    """Return the contributions of labelled nodes ``rows`` with inputs X to the log-odds of input row x.

    They add up to the log-odds, but for the intercept and the tolerance of the solver, which may be coarse.
    """
    return Contributions("labels", rows, shares_of_labels(question, rows, X, x, fitted, C), BY_LABELLED_NODE)


def shares_of_labels(
    question: Question, rows: npt.NDArray[np.int64], X: Rows, x: Rows, fitted: LogisticRegressions, C: float
) -> npt.NDArray[np.float64]:
    """Return what each labelled node adds."""
    residuals = question.known_data().one_hot()[rows] - expit(fitted.logits(X))
    return np.asarray(C * (residuals @ question.contrast) * products_with(X, x))
