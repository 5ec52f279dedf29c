"""``peak_memory``: the most memory that this process has used so far."""

from __future__ import annotations

import sys

__all__ = ["peak_memory"]


def peak_memory() -> int:
    """Return the largest resident size of this process in bytes, 0 where the system does not tell.

    >>> peak_memory() == 0 or peak_memory() > 1_000_000
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
