"""How the kernels are compiled: three decorators, so that no kernel chooses its own options.

An *entry* is called from Python: it releases the interpreter lock and is kept on disk, with everything it calls. An
*inner* function is called by compiled code only; the wrappers that Python would call it through are not made, which
saves a sixth of the time that the first use spends on compiling.

Whether floating-point sums may be reordered is written at each decorator: numba would otherwise take it over from
whichever caller happens to be compiled first.
"""

from __future__ import annotations

from numba import njit

__all__ = ["FAST", "INNER", "entry", "exact", "fast", "fast_entry"]

# Sums may be reordered and fused, which lets them run in vector registers; NaN and infinity stay exact.
FAST = {"reassoc", "contract", "nsz", "arcp"}

# The kernels allocate nothing, so they count no references ("_nrt").
INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
_ENTRY = {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False, "nogil": True, "cache": True}

exact = njit(fastmath=False, **INNER)
fast = njit(fastmath=FAST, **INNER)
entry = njit(fastmath=False, **_ENTRY)
fast_entry = njit(fastmath=FAST, **_ENTRY)
