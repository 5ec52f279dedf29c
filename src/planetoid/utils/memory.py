"""How much memory this process has used, and how much there is.

A fit that needs more than there is says so: Linux would give out more than it has, and end the process later.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["BYTES_PER_WEIGHT", "available_memory", "peak_memory", "require_memory"]

BYTES_PER_WEIGHT = 16  # of a network in training: in single precision, with its gradient and the two moments of Adam

MEMORY, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def require_memory(n_bytes: int) -> None:
    """Raise ``MemoryError`` if an array of so many bytes can never be filled.

    >>> require_memory(10**18)
    Traceback (most recent call last):
        ...
    MemoryError: Unable to allocate 931322574.6 GiB
    """
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(f"Unable to allocate {n_bytes / 2**30:.1f} GiB")


def available_memory() -> int | None:
    """Return the bytes that this process may still take, of the machine and of its container; None if unknown."""
    try:
        lines = (line.split() for line in MEMORY.read_text(encoding="ascii").splitlines())
        amounts = {parts[0]: int(parts[1]) * 1024 for parts in lines if len(parts) > 1}
        available = amounts["MemAvailable:"] + amounts.get("SwapFree:", 0)
    except (OSError, ValueError, KeyError):
        return None
    try:
        limit, used = ((GROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return available if limit == "max" else min(available, max(0, int(limit) - int(used)))
    except (OSError, ValueError):
        return available


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
