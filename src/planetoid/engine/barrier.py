"""Threads that proceed in step inside compiled code.

A compiled loop alternates between phases in which threads write disjoint rows; between two phases all wait for the
last. The barrier is a counter changed by atomic instructions, so that no phase returns to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing import Context, Signature
from numba.extending import intrinsic

from planetoid.engine.arrays import Integers
from planetoid.engine.compiling import entry, exact

__all__ = ["arrive_once", "barrier", "run_in_step", "wait_a_while"]

SPINS_BEFORE_YIELD = 2000
ABANDONED = -(1 << 62)  # a counter below zero: nobody waits any more
WORDS_IN_A_LINE = 8  # of the cache; the counter has a line to itself
INT64 = ir.IntType(64)
_pools: dict[int, ThreadPoolExecutor] = {}  # by number of threads, which wait for the next call: steps are short
_submitting = Lock()
_sched_yield = types.ExternalFunction("sched_yield", types.int32()) if os.name == "posix" else None


def run_in_step(task: Callable[..., None], n_threads: int, *arguments: object) -> None:
    """Call ``task(thread, n_threads, arrivals, *arguments)`` in that many threads at once.

    After an exception in one of them, or a signal that ends the call, the others wait for nobody: they go on to their
    end, before the exception is raised, and what they have written is of no use.
    """
    arrivals = np.zeros(WORDS_IN_A_LINE, np.int64)
    if n_threads == 1:
        task(0, 1, arrivals, *arguments)
        return

    def run(thread: int) -> None:
        try:
            task(thread, n_threads, arrivals, *arguments)
        except BaseException:
            arrivals[0] = ABANDONED
            raise

    others: list[Future[None]] = []
    try:
        with _submitting:  # all threads of a call, then those of another: both might wait for threads that never start
            pool = _pools.get(n_threads - 1) or _pools.setdefault(n_threads - 1, ThreadPoolExecutor(n_threads - 1))
            others.extend(pool.submit(run, thread) for thread in range(1, n_threads))
        run(0)
        for other in others:
            other.result()
    except BaseException:  # also that of a signal handler, which may come before this thread has begun
        arrivals[0] = ABANDONED
        wait(others)
        raise


def _forget_pools() -> None:
    """Forget threads of the parent process, which a fork does not copy, and a lock that one of them may hold."""
    global _submitting
    _pools.clear()
    _submitting = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def _pointer(context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: list[ir.Value]) -> ir.Value:
    return context.make_array(signature.args[0])(context, builder, values[0]).data


@intrinsic
def _arrive(typing_context: Context, arrivals: types.Array) -> tuple[Signature, object]:  # noqa: ARG001 (numba's protocol)
    """Add 1 to the counter; return what it was before."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: list[ir.Value]) -> ir.Value:
        pointer = _pointer(context, builder, signature, values)
        return builder.atomic_rmw("add", pointer, INT64(1), "seq_cst")

    return types.int64(arrivals), generate


@intrinsic
def _arrived(typing_context: Context, arrivals: types.Array) -> tuple[Signature, object]:  # noqa: ARG001
    """Return the counter."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: list[ir.Value]) -> ir.Value:
        pointer = _pointer(context, builder, signature, values)
        return builder.load_atomic(pointer, "seq_cst", 8, typ=INT64)

    return types.int64(arrivals), generate


if _sched_yield is not None:

    @exact
    def _give_way() -> None:
        _sched_yield()

else:

    @exact
    def _give_way() -> None:
        pass


@exact
def barrier(arrivals: Integers, n_threads: np.int64) -> None:
    """Wait until all threads are here, that is, until they have arrived equally often, or the work is abandoned."""
    complete = (_arrive(arrivals) // n_threads + 1) * n_threads
    spins = 0
    while 0 <= _arrived(arrivals) < complete:
        spins += 1
        if spins > SPINS_BEFORE_YIELD:
            _give_way()


@entry
def arrive_once(arrivals: Integers) -> None:
    """Add 1 to a counter that other processes may share."""
    _arrive(arrivals)


@entry
def wait_a_while(arrivals: Integers, complete: int) -> bool:
    """Wait until the counter is as large, but not for long; return whether it is."""
    for _ in range(SPINS_BEFORE_YIELD):
        if _arrived(arrivals) >= complete:
            return True
    _give_way()
    return _arrived(arrivals) >= complete
