"""Probabilities that mean what they say: one temperature for the softmax, from labels that were not learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["LEAST_TO_CALIBRATE", "best_temperature"]

LEAST_TO_CALIBRATE = 10  # validation labels
COLDEST, HOTTEST = 0.01, 100.0


def best_temperature(scores: npt.ArrayLike, codes: npt.ArrayLike) -> float:
    """Return the t for which softmax(scores / t) makes the codes most likely (Guo et al., 2017).

    >>> scores = np.log([[0.6, 0.4]] * 10)  # always 60 % sure of the first class, and right nine times of ten
    >>> t = best_temperature(scores, [0] * 9 + [1])
    >>> bool(abs(np.exp(scores[0, 0] / t) / np.exp(scores[0] / t).sum() - 0.9) < 1e-3)
    True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    table, rows = np.asarray(scores, dtype=np.float64), np.asarray(codes, dtype=np.int64)

    def surprise(log_t: float) -> Any:
        scaled = table * np.exp(-log_t)
        return (logsumexp(scaled, axis=1) - scaled[np.arange(len(rows)), rows]).mean()

    return float(np.exp(minimize_scalar(surprise, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded").x))
