"""The index that pandas writes beside the columns of a table: row numbers, as a rule, under a name that is none."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence

from planetoid.errors import PlanetoidWarning

__all__ = ["STORED_INDEX", "index_columns", "warn_of_index"]

STORED_INDEX = "__index_level_0__"  # what Parquet calls it
READ_BACK = re.compile(r"unnamed: 0(\.\d+)*", re.IGNORECASE)  # what pandas calls it after reading its own CSV


def index_columns(names: Sequence[str]) -> list[int]:
    """Return the columns that are an index of pandas by their names: the first without one, or one of pandas' making.

    >>> index_columns(["", "citing", "cited"]), index_columns(["Unnamed: 0", "id", ""])
    ([0], [0])
    """
    return [
        number
        for number, name in enumerate(names)
        if (number == 0 and name == "") or name == STORED_INDEX or READ_BACK.fullmatch(name)
    ]


def warn_of_index(where: object, names: Sequence[str], columns: Iterable[int]) -> None:
    """Say, in one warning, which columns of a table (a file, for instance) were taken for an index and left out."""
    told = [
        f"the column {names[number]!r}" if names[number] else "the first column, without a name," for number in columns
    ]
    if told:
        several = len(told) > 1
        warnings.warn(
            f"{where}: {' and '.join(told)} {'look' if several else 'looks'} like the index of a pandas table and "
            f"{'are' if several else 'is'} left out; name the columns to choose otherwise",
            PlanetoidWarning,
            stacklevel=4,
        )
