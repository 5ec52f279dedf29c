"""The index that pandas writes beside the columns of a table: usually row numbers, in a column without a real name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from planetoid.errors import PlanetoidWarning, warn

__all__ = ["STORED_INDEX", "index_columns", "warn_about_index"]

STORED_INDEX = "__index_level_0__"  # its name in Parquet
READ_BACK = re.compile(r"unnamed: 0(\.\d+)*", re.IGNORECASE)  # its name after pandas has read its own CSV


def index_columns(names: Sequence[str]) -> list[int]:
    """Return the columns that are an index of pandas by their names: an unnamed first one, or one that pandas named.

    >>> index_columns(["", "citing", "cited"]), index_columns(["Unnamed: 0", "id", ""])
    ([0], [0])
    """
    return [
        number
        for number, name in enumerate(names)
        if (number == 0 and name == "") or name == STORED_INDEX or READ_BACK.fullmatch(name)
    ]


def warn_about_index(path: Path | None, names: Sequence[str], columns: Iterable[int]) -> None:
    """Say, in one warning, which columns of a table were taken for an index and left out."""
    described = [
        f"the column {names[number]!r}" if names[number] else "the first column, which has no name,"
        for number in columns
    ]
    if not described:
        return
    several = len(described) > 1
    warn(
        PlanetoidWarning(
            f"{' and '.join(described)} {'look' if several else 'looks'} like the index of a pandas table and "
            f"{'are' if several else 'is'} left out",
            path=path,
            hint="choose the columns by name or number to include it",
        )
    )
