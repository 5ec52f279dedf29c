"""``SourceFile``: a file that a data set was read from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = ["ROLES", "SourceFile"]

ROLES = ("edges", "features", "labels", "validation")


@dataclass(frozen=True)
class SourceFile:
    """A file and what it holds.

    Attributes
    ----------
    role : {"edges", "features", "labels", "validation"}
    path : Path
    n_without_edge : int
        Of a file of features beside one of edges: rows whose node has no edge.
    """

    role: str
    path: Path
    n_without_edge: int = 0

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file, computed on first use."""
        from planetoid.utils.hashing import sha256_of_file

        return sha256_of_file(self.path)
