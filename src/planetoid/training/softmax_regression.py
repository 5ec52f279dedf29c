"""Softmax regression by scikit-learn, on class codes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from sklearn.linear_model import LogisticRegression

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.data.scaling import Rows

__all__ = ["fit_softmax"]


def fit_softmax(solver: LogisticRegression, X: Rows, codes: npt.NDArray[np.int32]) -> LogisticRegression:
    """Fit the solver to class codes, without a warning where there is one example per class.

    scikit-learn takes so many distinct integers for the target of a regression, and warns.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return solver.fit(X, codes)
