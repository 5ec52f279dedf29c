"""Columns of ids to numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa

__all__ = ["Column", "Factors", "as_list", "factorize", "is_arrow"]

Column: TypeAlias = "Iterable[Hashable] | pa.Array | pa.ChunkedArray"


class Factors(NamedTuple):
    """The number of each entry of a column, and the distinct values in the order of their numbers."""

    codes: npt.NDArray[np.int64]
    values: list[Hashable] | pa.Array


def factorize(column: Column, name: str) -> Factors:
    """Number the distinct values of a column as they first occur.

    Arrow columns stay Arrow; ``name`` is that of the column, for errors.

    >>> factorize(["b", "a", "b"], "items")
    Factors(codes=array([0, 1, 0]), values=['b', 'a'])
    """
    if is_arrow(column):
        return _factorize_arrow(column, name)
    listed = as_list(column)
    seen: dict[Hashable, int] = {}
    try:
        codes = np.array([seen.setdefault(value, len(seen)) for value in listed], dtype=np.int64)
    except TypeError as error:
        raise DataError(f"an id must be hashable ({error})", column=name) from None
    for missing in (value for value in seen if value is None or value != value):
        raise DataError("the id is missing", row=listed.index(missing), column=name)
    return Factors(codes, list(seen))


def is_arrow(column: object) -> bool:
    """Return whether a column is an Arrow array, without importing Arrow."""
    return type(column).__module__.startswith("pyarrow")


def as_list(column: Column) -> list[Hashable]:
    """Return a column as a list of plain Python objects."""
    for method in ("to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _factorize_arrow(column: pa.Array | pa.ChunkedArray, name: str) -> Factors:
    import pyarrow as pa

    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if values.null_count:
        raise DataError("the id is missing", row=int(np.flatnonzero(values.is_null())[0]), column=name)
    encoded = values.dictionary_encode()
    return Factors(encoded.indices.to_numpy().astype(np.int64), encoded.dictionary)
