"""Exchange two paths in one step, by a system call that Python does not offer."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Protocol

__all__ = ["exchange"]

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # Linux
RENAME_SWAP = 2  # macOS
# How a kernel or a file system says that it has no such call.
_NOT_SUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


class _Call(Protocol):
    def __call__(self, first: bytes, second: bytes) -> int: ...


def exchange(first: Path, second: Path) -> bool:
    """Let two files or folders swap their names atomically; return ``False`` where the system cannot.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     a, b = Path(name, "a"), Path(name, "b")
    ...     _ = a.write_text("a"), b.write_text("b")
    ...     exchange(a, b) is (a.read_text() == "b")
    True
    """
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(first), os.fsencode(second)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(second))


@cache
def _system_call() -> _Call | None:
    """Return the call of this system, ``None`` if its C library has none."""
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):  # Linux
        renameat2 = library.renameat2
        return lambda first, second: int(renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE))
    if hasattr(library, "renamex_np"):  # macOS
        renamex_np = library.renamex_np
        return lambda first, second: int(renamex_np(first, second, RENAME_SWAP))
    return None
