"""Where a command writes, checked before any long work."""

from __future__ import annotations

import os
from pathlib import Path

from planetoid.errors import DataError
from planetoid.utils.atomic import resolved

__all__ = ["check_output_file", "check_writable", "make_output_folder"]


def check_output_file(path: Path, *, force: bool, option: str = "--out") -> None:
    """Raise ``DataError`` if a file cannot be written, or exists and may not be replaced."""
    if path.is_dir():
        raise DataError(f"{option} must be a file, this is a folder", path=path)
    if path.exists() and not path.is_file():
        raise DataError(f"{option} must be a file, this is a device or a pipe", path=path)
    if path.exists() and not force:
        raise DataError("the file exists; pass --force to replace it", path=path)
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raise ``DataError`` if nothing can be written at a path, whose folders need not exist yet."""
    folder = resolved(path).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise DataError(f"cannot write here: {folder} is not a folder", path=path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"cannot write here: no permission to write to {folder}", path=path)


def make_output_folder(path: Path) -> Path:
    """Create a folder for results."""
    if path.exists() and not path.is_dir():
        raise DataError("--out must be a folder, this is a file", path=path)
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise DataError("no permission to write to the folder; choose another one with --out", path=path)
    return path
