"""Independent tasks in processes of their own, one thread each."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from planetoid.errors import ParameterError, PlanetoidError

__all__ = ["cores", "each"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(function: Callable[[Task], Answer], tasks: Iterable[Task], jobs: int = 1) -> Iterator[Answer]:
    """Yield what ``function`` says to each task, in their order.

    With ``jobs=1`` everything happens here, when the next answer is asked for.
    With more, the tasks run in fresh processes, so that function, tasks and
    answers must be picklable, and a script must call this under
    ``if __name__ == "__main__":``. An error, or Ctrl-C, ends all of them at once.

    >>> list(each(abs, [3, -4]))
    [3, 4]
    """
    if jobs < 1:
        raise ParameterError(f"jobs={jobs}; at least one process is needed")
    if jobs == 1:
        yield from map(function, tasks)
        return
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker)
    try:
        with _ctrl_c_held_back():
            answers = executor.map(function, tasks)  # starts the processes
        yield from answers
    except BaseException as error:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()  # else the end would wait for the tasks that run
        if isinstance(error, BrokenProcessPool):
            raise PlanetoidError(
                "a process ended before its task did: there may be too little memory for so many jobs, "
                "or a script that asks for several lacks its `if __name__ == '__main__':`"
            ) from error
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Deliver Ctrl-C a moment later; processes started meanwhile never get it, and leave it to the parent."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """Keep to one thread: more would only get in each other's way."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where signals have no mask
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))  # for libraries still to be loaded
    _kept.append(threadpool_limits(1))  # for those that are


_kept: list[Any] = []  # a limit ends with its object
