"""Arrow arrays from numpy arrays and strings, without pandas.

``pyarrow.array`` imports pandas wherever that is installed, which takes longer than everything else that a command
does which only prints saved labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["numbers_to_arrow", "strings_to_arrow"]


def numbers_to_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """Return an array of integers or floats as an Arrow array that shares its memory.

    >>> numbers_to_arrow(np.array([3, 1])).to_pylist()
    [3, 1]
    """
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def strings_to_arrow(texts: Sequence[str]) -> pa.Array:
    """Return strings as an Arrow array.

    >>> strings_to_arrow(["a", "", "bc"]).to_pylist()
    ['a', '', 'bc']
    """
    encoded = [text.encode("utf-8") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
