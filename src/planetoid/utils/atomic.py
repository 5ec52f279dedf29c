"""Outputs are written to the side and renamed, so that nothing is ever half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planetoid.errors import DataError

__all__ = ["sync_file", "written_aside"]


@contextmanager
def written_aside(path: str | Path) -> Iterator[Path]:
    """Give a temporary path in the same folder; on success it takes the place of ``path``."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        aside.chmod(0o644)
        os.replace(aside, target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        aside.unlink(missing_ok=True)


def sync_file(path: str | Path) -> None:
    """Force a file's content to disk (``fsync``), so that a rename after it survives a power failure."""
    with Path(path).open("rb") as file:
        os.fsync(file.fileno())
