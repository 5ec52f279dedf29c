"""Threads that march in step inside compiled code.

A compiled loop alternates between phases in which threads write disjoint rows;
between two phases all wait for the last. The barrier is a pair of counters
changed by atomic instructions, so that no phase returns to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from planetoid.engine.compiling import exact

__all__ = ["barrier", "new_barrier", "run_in_step"]

SPINS_BEFORE_YIELD = 2000
_sched_yield = types.ExternalFunction("sched_yield", types.int32()) if os.name == "posix" else None


def run_in_step(task: Callable[..., Any], n_threads: int, *arguments: Any) -> None:
    """Call ``task(thread, n_threads, barrier, *arguments)`` in that many threads at once."""
    counters = new_barrier()
    if n_threads == 1:
        task(0, 1, counters, *arguments)
        return
    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(task, thread, n_threads, counters, *arguments) for thread in range(1, n_threads)]
        task(0, n_threads, counters, *arguments)
        for other in others:
            other.result()


def new_barrier() -> Any:
    """Return the counters of a barrier, a cache line apart."""
    return np.zeros(32, dtype=np.int64)


@intrinsic
def _atomic_add(typing_context: Any, array: Any, place: Any, value: Any) -> Any:  # noqa: ARG001 (numba asks for them)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _atomic_load(typing_context: Any, array: Any, place: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _element(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8, typ=ir.IntType(64))

    return types.int64(array, types.int64), generate


def _element(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])


if _sched_yield is not None:

    @exact
    def _give_way() -> None:
        _sched_yield()

else:

    @exact
    def _give_way() -> None:
        pass


@exact
def barrier(counters: Any, n_threads: Any) -> None:
    """Wait until all threads are here."""
    if n_threads == 1:
        return
    turn = _atomic_load(counters, 16)
    if _atomic_add(counters, 0, 1) == n_threads - 1:
        _atomic_add(counters, 0, -n_threads)
        _atomic_add(counters, 16, 1)
        return
    spins = 0
    while _atomic_load(counters, 16) == turn:
        spins += 1
        if spins > SPINS_BEFORE_YIELD:
            _give_way()
