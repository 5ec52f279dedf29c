"""What ``n_jobs`` means, in one place."""

from __future__ import annotations

import os

from planetoid.errors import ParameterError

__all__ = ["available_cores", "resolve_n_jobs"]


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return a number of threads, with scikit-learn's meaning of ``n_jobs``.

    ``None`` is 1, -1 all cores, -2 all but one, and so on; never less than 1.

    >>> resolve_n_jobs(None), resolve_n_jobs(3)
    (1, 3)
    """
    if n_jobs == 0:
        raise ParameterError("n_jobs must be an integer other than 0 or None, got 0", parameter="n_jobs")
    if n_jobs is None:
        return 1
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))
