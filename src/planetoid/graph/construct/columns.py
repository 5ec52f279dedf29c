"""Columns of ids to row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

__all__ = ["factorize"]


def factorize(values: Any, what: str) -> tuple[npt.NDArray[np.int64], Any]:
    """Number the distinct values as they first occur; return the number of each entry and the values.

    Arrow columns stay Arrow; ``what`` names the column in a message about a missing value.
    """
    if type(values).__module__.startswith("pyarrow"):
        return _factorize_arrow(values, what)
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    seen: dict[Any, int] = {}
    try:
        codes = np.array([seen.setdefault(value, len(seen)) for value in listed], dtype=np.int64)
    except TypeError as error:
        raise DataError(f"{what}: an id must be hashable ({error})") from None
    for missing in (value for value in seen if value is None or value != value):
        raise DataError(f"{what}: entry {listed.index(missing)} is missing")
    return codes, list(seen)


def _factorize_arrow(values: Any, what: str) -> tuple[npt.NDArray[np.int64], Any]:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count:
        raise DataError(f"{what}: entry {int(np.flatnonzero(values.is_null())[0])} is missing")
    encoded = values.dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
