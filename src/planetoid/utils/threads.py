"""What ``n_jobs`` means, in one place: scikit-learn's meaning; and linear algebra on one thread."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from threadpoolctl import LibController

__all__ = ["available_cores", "one_blas_thread", "resolve_n_jobs"]


def available_cores() -> int:
    """Return how many cores this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return a number of threads: ``None`` is 1, -1 all available cores, -2 all but one.

    There are never more threads than cores: they would only wait for each other, and no result depends on their
    number.

    >>> resolve_n_jobs(None)
    1
    >>> resolve_n_jobs(-1) == available_cores()
    True
    >>> resolve_n_jobs(0)
    Traceback (most recent call last):
        ...
    planetoid.errors.ParameterError: n_jobs must be an integer other than 0 or None, got 0
    """
    if n_jobs is None:
        return 1
    cores = available_cores()
    try:
        wanted = operator.index(n_jobs)
    except TypeError:
        wanted = 0
    if wanted == 0:
        raise ParameterError(f"n_jobs must be an integer other than 0 or None, got {n_jobs!r}", parameter="n_jobs")
    return min(wanted, cores) if wanted > 0 else max(1, cores + 1 + wanted)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute dense products and factorisations on one thread: BLAS adds up in another order on each number of them."""
    # What threadpoolctl's own context manager does, but it also reads versions: a prediction of one row would notice.
    changed = [(library, count) for library in _libraries() if (count := library.get_num_threads()) != 1]
    for library, _ in changed:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in changed:
            library.set_num_threads(count)


def _libraries() -> list[LibController]:
    """Return what is loaded of BLAS; it is looked for, which takes milliseconds, only after something was imported."""
    global _found
    import scipy.linalg  # noqa: F401 - a limit applies to the libraries that are loaded
    from threadpoolctl import ThreadpoolController

    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController().select(user_api="blas").lib_controllers
    return _found[1]


_found: tuple[int, list[LibController]] | None = None  # number of modules when they were looked for
