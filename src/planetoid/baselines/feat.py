"""Feat: a linear softmax on the features alone, the paper's first baseline."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from planetoid.baselines.softmax_regression import fit_softmax
from planetoid.data.dataset import Dataset, Features
from planetoid.errors import ParameterError
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.io.model_files import Tensors
from planetoid.search_space import Categorical, Float, SearchSpace

__all__ = ["Feat"]


class Feat(InductiveClassifier):
    """Softmax regression with an L2 penalty; sees no graph.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn.
    row_normalize : {"l1", "l2", None}, default None
        Scale each feature row before fitting and predicting.
    max_iter : int, default 1000
        Most iterations of L-BFGS; a warning says if they did not suffice.

    Examples
    --------
    >>> import planetoid as pl
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]
    >>> pl.Feat().fit(X, ["fruit", None, "animal", None]).predict().tolist()
    ['fruit', 'fruit', 'animal', 'animal']
    """

    uses_graph = "never"

    search_space: ClassVar[SearchSpace] = {"C": Float(0.01, 1000.0), "row_normalize": Categorical(("l2", "l1", None))}

    def __init__(self, *, C: float = 1.0, row_normalize: str | None = None, max_iter: int = 1000) -> None:
        self.C = C
        self.row_normalize = row_normalize
        self.max_iter = max_iter

    def _fit(self, data: Dataset) -> Probabilities:
        if not self.C > 0:
            raise ParameterError(f"C={self.C!r}; it must be positive")
        if self.row_normalize not in ("l1", "l2", None):
            raise ParameterError(f"row_normalize={self.row_normalize!r}; it is 'l1', 'l2' or None")
        self.solver_ = LogisticRegression(C=self.C, max_iter=self.max_iter)
        rows = data.labelled
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConvergenceWarning)
            fit_softmax(self.solver_, self._scaled(data.X[rows]), data.y[rows])  # type: ignore[index]
        self.n_iter_ = int(self.solver_.n_iter_.max())
        return self._predict_rows(data.X)

    def _predict_rows(self, X: Features) -> Probabilities:
        return np.asarray(self.solver_.predict_proba(self._scaled(X)))

    def _tensors(self) -> Tensors:
        return {"coef": self.solver_.coef_, "intercept": self.solver_.intercept_}

    def _take_tensors(self, tensors: Tensors) -> None:
        self.solver_ = LogisticRegression(C=self.C, max_iter=self.max_iter)
        self.solver_.coef_, self.solver_.intercept_ = tensors["coef"], tensors["intercept"]
        self.solver_.classes_ = np.arange(len(self.classes_))
        self.solver_.n_features_in_ = self.n_features_in_

    def _scaled(self, X: Features) -> Any:
        return X if self.row_normalize is None else normalize(X, norm=self.row_normalize)
