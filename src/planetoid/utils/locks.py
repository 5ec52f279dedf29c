"""Locks that the operating system releases when their process ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

__all__ = ["open_to_lock", "try_lock"]

# How file systems (some network mounts) say that they have no locks.
_NOT_SUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL}


def open_to_lock(path: Path) -> int:
    """Return a handle of a file or a folder for :func:`try_lock`; on Windows, which has no such locks, of nothing."""
    return os.open(os.devnull if sys.platform == "win32" else path, os.O_RDONLY)


def try_lock(handle: int, *, without_locks: bool = True) -> bool:
    """Lock an open file or folder for this process; return ``False`` if another one has it.

    The lock is released when the handle is closed or the process ends; a process that is killed leaves none behind.
    On Windows and where the file system has no locks, nothing is locked and the answer is ``without_locks``.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, open(file.name) as again:
    ...     try_lock(file.fileno()), try_lock(again.fileno())
    (True, False)
    """
    if sys.platform == "win32":
        return without_locks
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
        return without_locks
    return True
