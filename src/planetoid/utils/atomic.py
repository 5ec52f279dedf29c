"""Atomic writes: a file or a folder is written to a temporary path, synced, and renamed; it is never half written."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planetoid.errors import DataError
from planetoid.utils.exchange import exchange
from planetoid.utils.locks import open_to_lock, try_lock
from planetoid.utils.syncing import make_folder, sync_file, sync_folder
from planetoid.utils.temporary import (
    ASIDE,
    moved_aside,
    new_path,
    remove_abandoned,
    temporary_file,
    temporary_folder,
)

__all__ = ["atomic_folder", "atomic_write", "check_regular", "recover_folder", "resolved"]

NEW_FILE, OWN = 0o666, 0o600  # less what the umask forbids; what the owner needs in order to write
LONGEST_EXCHANGE = 2.0  # seconds to wait for another process that is between two renames


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; on success it is renamed to ``path``, on failure it is removed.

    A symbolic link stays a link, and what it points to is replaced. The mode is that of the replaced file, or follows
    the umask. File and folder are synced, so that the file is on disk when the block has ended.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('a.txt', 'done')]
    """
    try:
        target = resolved(path)
        check_regular(target)
        make_folder(target.parent)
        remove_abandoned(target)
        mode = _mode(target)
        with temporary_file(target, NEW_FILE if mode is None else mode | OWN) as temporary:
            yield temporary
            _keep_mode(temporary, target)
            sync_file(temporary)
            os.replace(temporary, target)
            sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"cannot write the file: {error.strerror or error}", path=path) from None


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder; on success it takes the place of ``path`` in one step, on failure it is removed.

    An existing folder is exchanged with the new one by a single system call where there is one, so that a reader finds
    the old folder or the new one, and then removed. Whether it may be replaced is for the caller to decide.

    Raises
    ------
    OSError
        If something cannot be written; ``path`` is then what it was.
    """
    target = resolved(path)
    make_folder(target.parent)
    recover_folder(target)
    remove_abandoned(target)
    with temporary_folder(target) as temporary:
        yield temporary
        for file in temporary.iterdir():
            _keep_mode(file, target / file.name)
            sync_file(file)
        sync_folder(temporary)
        _put_in_place(temporary, target)


def resolved(path: str | Path) -> Path:
    """Return the path that is written to: behind symbolic links, and absolute."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # a link to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def check_regular(path: Path) -> None:
    """Raise ``OSError`` for a path that exists and is no regular file: a folder, a device, a pipe."""
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")


def recover_folder(target: Path, *, wait: Callable[[float], None] = time.sleep) -> None:
    """Bring back a folder that a killed process had moved aside and not replaced yet.

    That state exists only where folders cannot be exchanged in one step. While the other process is alive, it is
    given some time to finish.
    """
    until = time.monotonic() + LONGEST_EXCHANGE
    while not target.exists() and (aside := moved_aside(target)):
        last = time.monotonic() >= until
        for path in aside:
            with suppress(OSError):
                handle = open_to_lock(path)
                try:
                    # Without locks, a process that has not finished by now is taken for dead.
                    if try_lock(handle, without_locks=last) and not target.exists():
                        os.rename(path, target)
                        sync_folder(target.parent)
                finally:
                    os.close(handle)
        if last:
            return
        wait(0.01)


def _put_in_place(temporary: Path, target: Path) -> None:
    """Rename a folder to ``target``; a folder that was there has the temporary name afterwards."""
    _keep_mode(temporary, target)
    try:
        os.rename(temporary, target)  # onto nothing, or an empty folder
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not exchange(temporary, target):
            _rename_twice(temporary, target)
    sync_folder(target.parent)


def _rename_twice(temporary: Path, target: Path) -> None:
    """Do the same in two steps; :func:`recover_folder` undoes the first one if the process dies after it."""
    aside = new_path(target, ASIDE)
    handle = open_to_lock(target)  # the lock tells readers that this process is alive
    try:
        try_lock(handle)
        os.rename(target, aside)
        try:
            os.rename(temporary, target)
        except OSError:
            os.rename(aside, target)
            raise
        os.rename(aside, temporary)  # so that nobody brings it back from now on
    finally:
        os.close(handle)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _keep_mode(new: Path, old: Path) -> None:
    """Give a file or folder the mode and the owner of the one that it replaces."""
    try:
        before = old.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (new.stat().st_uid, new.stat().st_gid):
        with suppress(OSError):  # only the superuser can give files away
            os.chown(new, before.st_uid, before.st_gid)
    os.chmod(new, stat.S_IMODE(before.st_mode))
