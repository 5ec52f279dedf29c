"""Outputs are written to the side and renamed, so that nothing is ever half there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planetoid.errors import DataError

__all__ = ["written_aside"]


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
