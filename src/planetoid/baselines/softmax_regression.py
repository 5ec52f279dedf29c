"""Softmax regression by scikit-learn, on codes of classes."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.linear_model import LogisticRegression

__all__ = ["fit_softmax"]


def fit_softmax(solver: LogisticRegression, X: Any, codes: Any) -> LogisticRegression:
    """Fit the solver to codes, which are classes even where there is one example of each.

    scikit-learn takes so few examples a class for numbers that should be regressed on, and says so.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return solver.fit(X, codes)
