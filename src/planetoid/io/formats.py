"""The formats of feature files, and what each of them has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from planetoid.errors import ParameterError
from planetoid.io.files import plain_suffix
from planetoid.io.table import open_table

__all__ = ["FORMATS", "Format", "format_of", "open_table"]


@dataclass(frozen=True)
class Format:
    """What a format has: ids, names of features, columns."""

    name: str
    suffixes: tuple[str, ...]
    has_ids: bool = True
    has_names: bool = True
    is_table: bool = False


FORMATS = {
    entry.name: entry
    for entry in (
        Format("table", (), is_table=True),
        Format("tokens", (".txt",)),
        Format("svmlight", (".svm", ".svmlight", ".libsvm"), has_ids=False, has_names=False),
        Format("npz", (".npz",), has_ids=False, has_names=False),
    )
}


def format_of(path: str | Path, chosen: str | None = None, content: str = "features") -> Format:
    """Return the format of a file: the one chosen, else the one of its suffix."""
    if chosen is not None and chosen not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {chosen!r}", parameter="format")
    if chosen is not None:
        return FORMATS[chosen]
    if content == "features":
        suffix = plain_suffix(Path(path))
        for entry in FORMATS.values():
            if suffix in entry.suffixes:
                return entry
    return FORMATS["table"]
