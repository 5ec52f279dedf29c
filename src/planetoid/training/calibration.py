"""Calibration of probabilities: one temperature for the softmax, from labels that were not learned from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["MIN_LABELS", "best_temperature"]

MIN_LABELS = 10  # validation labels below which a temperature says nothing
LOWEST, HIGHEST = 0.01, 100.0


def best_temperature(scores: npt.ArrayLike, codes: npt.ArrayLike) -> float:
    """Return the t for which softmax(scores / t) makes the codes most likely (Guo et al., 2017).

    >>> scores = np.log([[0.6, 0.4]] * 10)  # always 60 % for the first class, which is right nine times out of ten
    >>> t = best_temperature(scores, [0] * 9 + [1])
    >>> bool(abs(np.exp(scores[0, 0] / t) / np.exp(scores[0] / t).sum() - 0.9) < 1e-3)
    True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    table, rows = np.asarray(scores, dtype=np.float64), np.asarray(codes, dtype=np.int64)

    def negative_log_likelihood(log_t: float) -> float:
        scaled = table * np.exp(-log_t)
        return float((logsumexp(scaled, axis=1) - scaled[np.arange(len(rows)), rows]).mean())

    bounds = (np.log(LOWEST), np.log(HIGHEST))
    return float(np.exp(minimize_scalar(negative_log_likelihood, bounds=bounds, method="bounded").x))
