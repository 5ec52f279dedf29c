"""``wilson_interval``: how far a share of successes may be from the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Interval", "wilson_interval"]


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson_interval(successes: int, n: int, z: float = 1.959964) -> Interval:
    """Return the 95 % confidence interval of a proportion (Wilson, 1927).

    >>> interval = wilson_interval(8, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.49, 0.943)
    """
    share = successes / n
    centre = share + z * z / (2 * n)
    reach = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    scale = 1 + z * z / n
    return Interval(max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale))
