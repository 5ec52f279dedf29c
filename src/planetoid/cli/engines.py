"""``--engine`` and ``--scheduler``: where the independent tasks of a command run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from planetoid.errors import ParameterError

__all__ = ["tasks_on", "uses_dask"]


def uses_dask(engine: str | None, scheduler: str | None) -> bool:
    """Check both options; return whether tasks run on a Dask cluster."""
    if engine not in (None, "dask"):
        raise ParameterError(f"--engine must be dask, got {engine!r}")
    if scheduler is not None and engine is None:
        raise ParameterError("--scheduler requires --engine dask")
    return engine is not None


@contextmanager
def tasks_on(engine: str | None, scheduler: str | None, workers: int) -> Iterator[None]:
    """Let :func:`planetoid.evaluation.workers.each` run its tasks where the options say."""
    if not uses_dask(engine, scheduler):
        yield
        return
    from planetoid.distributed.dask_tasks import connect
    from planetoid.evaluation.workers import using_dask

    with connect(scheduler, workers) as client, using_dask(client):
        yield
