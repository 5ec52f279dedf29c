"""Force files and folders to disk, so that what was promised survives a power failure."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["NO_SYNC_VARIABLE", "make_folder", "sync_file", "sync_folder", "syncing"]

NO_SYNC_VARIABLE = "PLANETOID_NO_SYNC"  # also set by --no-sync; worker processes inherit it
# How file systems say that a folder cannot be synced, which is no failure of the disk.
_NOT_SUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EISDIR}


def syncing() -> bool:
    """Tell whether files are forced to disk: unless the variable ``PLANETOID_NO_SYNC`` is set."""
    return os.environ.get(NO_SYNC_VARIABLE, "0") in ("", "0")


def sync_file(path: str | Path) -> None:
    """Force a file's content to disk (``fsync``), so that a rename after it survives a power failure."""
    with Path(path).open("r+b" if os.name == "nt" else "rb") as file:  # Windows syncs what is open for writing
        if syncing():
            os.fsync(file.fileno())


def sync_folder(path: str | Path) -> None:
    """Force the names in a folder to disk: files that were created, renamed or removed in it."""
    if not syncing() or os.name == "nt":  # Windows does not open folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
    finally:
        os.close(handle)


def make_folder(path: str | Path) -> None:
    """Create a folder and those above it that are missing, and sync the names of the new ones."""
    folder = Path(path)
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)
