"""How the kernels are compiled: a few decorators, so that no kernel chooses its own options.

An *entry* is called from Python: it releases the interpreter lock and is kept on disk, with everything it calls. An
*inner* function is called by compiled code only: it has neither the wrappers that Python would call it through nor
machine code of its own (:mod:`planetoid.engine.inner_functions`), but is optimised and compiled as a part of its entry,
which saves a third of the time that the first use spends on compiling. Versions of numba that this was not tested with
compile inner functions as usual.

Whether floating-point sums may be reordered is written at each decorator: numba would otherwise take it over from
whichever caller happens to be compiled first. Short sums (over classes) are exact: where they may be reordered, the
process that compiles them can take another order than those that load them from disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba import njit

from planetoid.errors import PlanetoidWarning, warn

__all__ = ["FAST", "INNER", "cached_njit", "disjoint", "entry", "exact", "fast", "fast_entry"]

TESTED = ((0, 68),)  # versions of numba whose internals the compilers of inner functions are known to fit

# Sums may be reordered and fused, which lets them run in vector registers; NaN and infinity stay exact.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def compilers(version: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the compilers of inner functions, and of those with disjoint arrays; of other versions, numba's own."""
    if version not in TESTED:
        return {}, {}
    from planetoid.engine.inner_functions import DisjointCompiler, InnerCompiler

    return {"pipeline_class": InnerCompiler}, {"pipeline_class": DisjointCompiler}


_INNER_COMPILER, _DISJOINT_COMPILER = compilers(numba.version_info.short)

# The kernels allocate nothing, so they count no references ("_nrt").
_SHARED = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
INNER = {**_SHARED, "no_cpython_wrapper": True, **_INNER_COMPILER}
_ENTRY = {**_SHARED, "nogil": True}


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function and keep it on disk; where that is not possible, as in many containers, in memory alone."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            compiled = njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):  # no folder that could be written to
                raise
            _say_once()
            return njit(**options)(function)
        _guard(compiled._cache)
        return compiled

    return decorate


def _guard(cache: Any) -> None:
    """Let a cache on disk hold code of these sources only, and let no file of it, nor a full disk, end a fit.

    numba compares the file of an entry alone, not those of the functions that are compiled into it; and it reads the
    index of code that was compiled from other sources, which fails if a class in it is gone.
    """
    files, save = cache._cache_file, cache.save_overload
    load = files._load_index
    files._source_stamp = _stamp(Path(__file__).parent.parent)

    def load_if_possible() -> dict[object, object]:
        try:
            return dict(load())
        except Exception:  # whatever unpickling raises
            return {}

    def save_if_possible(signature: object, data: object) -> None:
        try:
            save(signature, data)
        except OSError:  # a full disk, or a folder that is no longer writable
            _say_once()

    files._load_index, cache.save_overload = load_if_possible, save_if_possible


@lru_cache(maxsize=1)
def _stamp(package: Path) -> tuple[tuple[str, int, int], ...]:
    """Return the times and sizes of all files that compiled functions are in."""
    files = [*sorted((package / "engine").glob("*.py")), package / "baselines" / "kernels.py"]
    found = ((file.name, file.stat()) for file in files)
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in found)


_said: list[bool] = []


def _say_once() -> None:
    if not _said:
        _said.append(True)
        warn(
            PlanetoidWarning(
                "compiled code cannot be kept on disk, so that every process compiles it again",
                hint="set NUMBA_CACHE_DIR to a folder that can be written to",
            )
        )


exact = njit(fastmath=False, **INNER)
disjoint = njit(fastmath=False, **{**INNER, **_DISJOINT_COMPILER})
fast = njit(fastmath=FAST, **INNER)
entry = cached_njit(fastmath=False, **_ENTRY)
fast_entry = cached_njit(fastmath=FAST, **_ENTRY)
