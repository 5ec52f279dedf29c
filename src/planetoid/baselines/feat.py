"""Feat: softmax regression on the features alone, the paper's first baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit

from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import scale_rows
from planetoid.data.types import Probabilities
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import LOG_ODDS, Answer, Contributions, Question, linear_answer
from planetoid.io.model_files import Tensors
from planetoid.multi_label import SetSample
from planetoid.parameters import ROW_NORMALIZE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.logistic_reasons import by_labelled_nodes, logistic_answer
from planetoid.training.logistic_regression import LogisticRegressions, fit_logistic, left_out_sets
from planetoid.training.softmax_reasons import by_optimality
from planetoid.training.softmax_regression import (
    SoftmaxRegression,
    fit_softmax,
    labels_to_leave_out,
    left_out_sample,
    products,
    with_usual_size,
)

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Feat"]

# Prior of the logit of the uniform share: a few words of another class make an error as confident as any prediction.
USUAL_UNIFORM = (-3.0, 1.0)


class Feat(InductiveClassifier):
    """Softmax regression on the features, with an L2 penalty; the graph is not used.

    Several labels per node: a logistic regression per class.

    Parameters
    ----------
    C : float, default 1.0
        Inverse of the regularisation strength, as in scikit-learn.
    row_normalize : {"l1", "l2", None}, default None
        Norm to which each feature row is scaled.
    max_iter : int, default 1000
        Maximum number of L-BFGS iterations; a warning is issued if they did not converge.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.

    Attributes
    ----------
    n_iter_ : int
        Number of L-BFGS iterations.

    Examples
    --------
    >>> import planetoid as pl
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]
    >>> pl.Feat().fit(X, ["fruit", None, "animal", None]).predict().tolist()
    ['fruit', 'fruit', 'animal', 'animal']
    """

    uses_graph = "never"
    multi_label = True
    constraints: ClassVar[Constraints] = {
        "C": Real(0, closed="neither"),
        "row_normalize": ROW_NORMALIZE,
        "max_iter": Integer(1),
        "calibrate": bool,
    }
    search_space: ClassVar[SearchSpace] = {
        "C": Float(0.01, 1000.0),
        "row_normalize": Categorical(("l2", "l1", None)),
    }

    def __init__(
        self, *, C: float = 1.0, row_normalize: str | None = None, max_iter: int = 1000, calibrate: bool = True
    ) -> None:
        self.C = C
        self.row_normalize = row_normalize
        self.max_iter = max_iter
        self.calibrate = calibrate

    def _fit(self, data: Dataset) -> Probabilities:
        assert data.X is not None
        if data.Y is not None:
            return self._fit_sets(data, data.Y)
        rows = data.labelled
        X = scale_rows(data.X[rows], self.row_normalize)
        self._softmax = fit_softmax(X, data.y[rows], data.n_classes, self.C, max_iter=self.max_iter)
        self.n_iter_ = self._softmax.n_iter
        return self._predict_rows(data.X)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        assert data.X is not None
        rows = labels_to_leave_out(data)
        X = scale_rows(data.X[rows], self.row_normalize)
        sample = left_out_sample(products(X), self._softmax.scores(X), rows, self.C, data, probabilities)
        return with_usual_size(sample, data, probabilities)._replace(usual_uniform=USUAL_UNIFORM)

    def _fit_sets(self, data: Dataset, Y: sparse.csr_array) -> Probabilities:
        rows = data.labelled
        assert data.X is not None
        X = scale_rows(data.X[rows], self.row_normalize)
        self._logistic = fit_logistic(X, Y[rows], self.C, max_iter=self.max_iter)
        self.n_iter_ = self._logistic.n_iter
        return self._predict_rows(data.X)

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        assert data.X is not None
        rows = labels_to_leave_out(data)
        return left_out_sets(scale_rows(data.X[rows], self.row_normalize), rows, self.C, data, self._logistic)

    def _explain(self, question: Question) -> Answer:
        x = scale_rows(question.known_row(), self.row_normalize)
        if question.multi_label:
            found = logistic_answer(question, x, self._logistic)
        else:
            found = linear_answer(question, x, self._softmax.coef, self._softmax.intercept, 0, 1, LOG_ODDS)
        return found._replace(parts=[*found.parts, *self._label_reasons(question)])

    def _label_reasons(self, question: Question) -> list[Contributions]:
        if question.data is None or question.data.X is None:
            return []
        rows = question.data.labelled
        X = scale_rows(question.data.X[rows], self.row_normalize)
        x = scale_rows(question.known_row(), self.row_normalize)
        if question.multi_label:
            return [by_labelled_nodes(question, rows, X, x, self._logistic, self.C)]
        return [by_optimality(question, rows, X, x, self._softmax)]

    def _predict_rows(self, X: Features) -> Probabilities:
        if self.multi_label_:
            return np.asarray(expit(self._logistic.logits(scale_rows(X, self.row_normalize))))
        return self._softmax.probabilities(scale_rows(X, self.row_normalize))

    def _write_scores(self, operators: Operators) -> Value:
        rows = operators.rows(self.row_normalize)
        if self.multi_label_:
            return operators.linear(rows, self._logistic.coef, self._logistic.intercept)
        scores = operators.linear(rows, self._softmax.coef.T, self._softmax.intercept)
        return scores if len(self.classes_) > 2 else operators.both_signs(operators.scaled(scores, 0.5))

    def _tensors(self) -> Tensors:
        if self.multi_label_:
            return self._logistic.tensors()
        return {"coef": self._softmax.coef, "intercept": self._softmax.intercept}

    def _take_tensors(self, tensors: Tensors) -> None:
        if self.multi_label_:
            self._logistic = LogisticRegressions.of_tensors(tensors)
            return
        self._softmax = SoftmaxRegression(tensors["coef"], tensors["intercept"], self.C)
