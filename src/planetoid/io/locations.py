"""Paths that stand for several files, and text that is JSON whatever its suffix."""

from __future__ import annotations

import glob
from pathlib import Path

from planetoid.errors import DataError
from planetoid.io.opening import open_bytes
from planetoid.io.spooling import is_pipe

__all__ = ["begins_with_json", "is_in_parts", "parts_of"]

PATTERN = "*?["


def is_in_parts(path: Path) -> bool:
    """Return whether a path is a folder of parts or a pattern such as ``part-*.parquet``."""
    return path.is_dir() or (any(sign in str(path) for sign in PATTERN) and not path.exists())


def parts_of(path: Path) -> list[Path]:
    """Return the files of a folder or of a pattern in the order of their names; hidden files are left out.

    Names that begin with a dot or an underscore are what Spark and others write beside the parts.
    """
    folder = path.is_dir()
    found = path.rglob("*") if folder else map(Path, glob.glob(str(path), recursive=True))
    inside = [(part, part.relative_to(path).parts if folder else (part.name,)) for part in found if part.is_file()]
    parts = sorted(part for part, names in inside if not any(name.startswith((".", "_")) for name in names))
    if not parts:
        raise DataError("the folder has no files" if folder else "no file matches the pattern", path=path)
    suffixes = {part.suffix.lower() for part in parts}
    if len(suffixes) > 1:
        listed = ", ".join(part.name for part in parts[:3])
        raise DataError(
            f"the parts of a table must have one format, but there are {listed}",
            path=path,
            hint=f"choose some by a pattern such as '{path / '*' if folder else '*'}{max(suffixes)}'",
        )
    return parts


def begins_with_json(path: Path) -> bool:
    """Return whether a text file begins with a JSON object or a list of objects."""
    if not path.is_file() and not is_pipe(path):
        return False
    try:
        with open_bytes(path) as file:
            start = file.read(64).lstrip()
    except DataError:  # which reading it as text will explain
        return False
    return start.startswith(b"{") or (start.startswith(b"[") and start[1:].lstrip()[:1] == b"{")
