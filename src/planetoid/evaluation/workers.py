"""Independent tasks in worker processes, one thread each."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from planetoid.errors import PlanetoidError
from planetoid.parameters import Integer, check_parameters

if TYPE_CHECKING:
    from threadpoolctl import threadpool_limits

    from distributed import Client

__all__ = ["each", "using_dask"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_dask_client: ContextVar[Client | None] = ContextVar("dask_client", default=None)
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextmanager
def using_dask(client: Client) -> Iterator[None]:
    """Let :func:`each` run its tasks on a Dask cluster, whatever the number of jobs."""
    token = _dask_client.set(client)
    try:
        yield
    finally:
        _dask_client.reset(token)


def each(function: Callable[[Task], Answer], tasks: Iterable[Task], jobs: int = 1) -> Iterator[Answer]:
    """Yield ``function(task)`` for each task, in order.

    With ``jobs=1`` tasks run lazily in this process. With more, they run in spawned processes: the function, tasks
    and answers must be picklable, and a script must call this under ``if __name__ == "__main__":``. An error or
    Ctrl-C terminates all of them. Inside :func:`using_dask` they run on a Dask cluster instead.

    >>> list(each(abs, [3, -4]))
    [3, 4]
    """
    check_parameters("each", {"jobs": jobs}, {"jobs": Integer(1)})
    client = _dask_client.get()
    if client is not None:
        from planetoid.distributed.dask_tasks import in_order

        yield from in_order(client, function, tasks)
        return
    if jobs == 1:
        yield from map(function, tasks)
        return
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that other threads hold
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        with _ctrl_c_deferred():
            answers = executor.map(function, tasks)  # starts the processes
        yield from answers
    except BaseException as error:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()  # otherwise shutdown would wait for running tasks
        if isinstance(error, BrokenProcessPool):
            raise PlanetoidError(
                "a worker process died before it finished its task",
                hint="use fewer jobs if memory is short; a script must call it under `if __name__ == '__main__':`",
            ) from error
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_deferred() -> Iterator[None]:
    """Block Ctrl-C for a moment; processes started meanwhile inherit the mask and leave it to the parent."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """Limit a worker to one thread: more would compete for the same cores."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on platforms without signal masks
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))  # for libraries not loaded yet
    _limits.append(threadpool_limits(1))  # for libraries loaded already


_limits: list[threadpool_limits] = []  # a limit is lifted when its object is deleted
