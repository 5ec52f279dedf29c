"""Standard input and pipes, which can be read only once, as files that can be read again."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, TextIO
from weakref import WeakKeyDictionary

from planetoid.errors import DataError
from planetoid.io.limits import LINE_BYTES

__all__ = ["STDIN", "is_pipe", "local_file"]

STDIN = Path("-")

# What was read from pipes, by device and inode, and from standard input. A pipe is read once per process.
_COPIES: dict[tuple[int, int], Path] = {}
_COPIES_OF_STDIN: WeakKeyDictionary[TextIO, Path] = WeakKeyDictionary()


def is_pipe(path: Path) -> bool:
    """Return whether a path is standard input, a named pipe, or a process substitution of the shell."""
    return path == STDIN or path.is_fifo()


def local_file(path: Path) -> Path:
    """Return the file to open for a path: a temporary copy of what a pipe yields, else the path itself."""
    if not is_pipe(path):
        return path
    if path == STDIN:
        if sys.stdin not in _COPIES_OF_STDIN:
            if sys.stdin.isatty():
                raise DataError("nothing is piped into standard input", path=path)
            _COPIES_OF_STDIN[sys.stdin] = _copy(sys.stdin.buffer, path)
        return _COPIES_OF_STDIN[sys.stdin]
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    if key not in _COPIES:
        with path.open("rb") as pipe:
            _COPIES[key] = _copy(pipe, path)
    return _COPIES[key]


def _copy(pipe: BinaryIO, path: Path) -> Path:
    start = pipe.read(LINE_BYTES.value + 1)
    if b"\n" not in start:  # such as /dev/zero, which would fill the disk
        LINE_BYTES.check(len(start), path)
    handle, name = tempfile.mkstemp(prefix="planetoid-pipe-")
    atexit.register(_remove, name)
    with os.fdopen(handle, "wb") as file:
        file.write(start)
        shutil.copyfileobj(pipe, file, 2**20)
    return Path(name)


def _remove(name: str) -> None:
    Path(name).unlink(missing_ok=True)
