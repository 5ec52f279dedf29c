"""Hidden files and folders that will replace a target, and how those of a killed process are removed.

A temporary path is ``.planetoid-TARGET-RANDOM`` beside its target, where ``TARGET`` is a digest of the target's name.
Its writer holds a lock on it. Whoever can take the lock knows that the writer is gone, and removes the path.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planetoid.utils.locks import open_to_lock, try_lock

__all__ = ["ASIDE", "is_temporary", "moved_aside", "new_path", "remove_abandoned", "temporary_file", "temporary_folder"]

PREFIX, ASIDE = ".planetoid-", "old-"
MOST_TRIES = 100  # to create a path; other processes remove few of them


@contextmanager
def temporary_file(target: Path, mode: int) -> Iterator[Path]:
    """Yield an empty file beside ``target``, with its suffix; it is removed unless it was renamed."""

    def make(path: Path) -> int:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if sys.platform == "win32":
            os.close(handle)  # an open file could not be renamed there
            return open_to_lock(path)
        return handle

    path, handle = _create(target, make)
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``target``; whatever has its name at the end is removed."""

    def make(path: Path) -> int:
        path.mkdir()  # by the umask
        return open_to_lock(path)

    path, handle = _create(target, make)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def new_path(target: Path, kind: str = "") -> Path:
    """Return a hidden path beside ``target`` that nothing has yet."""
    return target.with_name(f"{PREFIX}{_digest(target)}-{kind}{secrets.token_hex(4)}{target.suffix[:20]}")


def is_temporary(name: str) -> bool:
    """Tell whether a file or folder has the name of a temporary one."""
    return name.startswith(PREFIX)


def moved_aside(target: Path) -> list[Path]:
    """Return the folders that :func:`new_path` of kind ``ASIDE`` named for ``target``."""
    return sorted(target.parent.glob(f"{PREFIX}{_digest(target)}-{ASIDE}*"))


def remove_abandoned(target: Path) -> None:
    """Remove what killed processes left behind that wanted to replace ``target``; what is in use stays."""
    for path in target.parent.glob(f"{PREFIX}{_digest(target)}-*"):
        with suppress(OSError):
            handle = open_to_lock(path)
            try:
                if try_lock(handle, without_locks=False) and os.path.samestat(os.fstat(handle), os.lstat(path)):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                os.close(handle)


def _create(target: Path, create: Callable[[Path], int]) -> tuple[Path, int]:
    for _ in range(MOST_TRIES):
        path = new_path(target)
        # Between its creation and its lock another process may take the path for an abandoned one, and remove it.
        try:
            handle = create(path)
        except FileNotFoundError:
            if not target.parent.is_dir():
                raise
            continue
        if sys.platform == "win32" or (try_lock(handle) and _has(path, handle)):
            return path, handle
        os.close(handle)
    raise PermissionError(errno.EACCES, f"no file can be created in {target.parent}")  # as in /proc


def _has(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _digest(target: Path) -> str:
    return hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]
