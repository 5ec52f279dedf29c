"""``SourceFile``: a file, or a table in memory, that a dataset was read from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["ROLES", "SourceFile"]

ROLES = ("edges", "features", "nodes", "labels", "validation")


@dataclass(frozen=True)
class SourceFile:
    """A file and what it holds.

    Attributes
    ----------
    role : {"edges", "features", "nodes", "labels", "validation"}
    path : Path or None
        ``None`` for a table in memory.
    n_without_edge : int
        Of features or a node table beside edges: rows whose node has no edge.
    """

    role: str
    path: Path | None
    n_without_edge: int = 0

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file, or of all its parts, computed on first use; empty for a table in memory."""
        from planetoid.io.locations import is_in_parts, parts_of
        from planetoid.io.spooling import local_file
        from planetoid.utils.hashing import sha256_of_file

        if self.path is None:
            return ""
        if is_in_parts(self.path):
            digests = "".join(sha256_of_file(part) for part in parts_of(self.path))
            return hashlib.sha256(digests.encode()).hexdigest()
        return sha256_of_file(local_file(self.path))
