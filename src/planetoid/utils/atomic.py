"""Atomic writes: a file is written to a temporary path and renamed, so that it is never half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planetoid.errors import DataError

__all__ = ["atomic_write", "sync_file"]


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; on success it is renamed to ``path``, on failure it is removed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('a.txt', 'done')]
    """
    target = Path(path)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.chmod(0o644)
        os.replace(temporary, target)
    except OSError as error:
        raise DataError(f"cannot write the file: {error.strerror or error}", path=target) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def sync_file(path: str | Path) -> None:
    """Force a file's content to disk (``fsync``), so that a rename after it survives a power failure."""
    with Path(path).open("rb") as file:
        os.fsync(file.fileno())
