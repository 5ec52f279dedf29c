"""Arrays and texts inside an HTML file: compact, and safe whatever their content."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["packed", "script_json"]

TYPED_ARRAYS = ("uint8", "uint16", "uint32", "int16", "int32", "float32")  # types that JavaScript has arrays of


def packed(array: npt.NDArray[Any]) -> dict[str, str]:
    """Return an array as its type and its little-endian bytes in base64.

    >>> packed(np.array([1, 2], dtype=np.uint16))
    {'type': 'uint16', 'data': 'AQACAA=='}
    """
    name = array.dtype.name
    if name not in TYPED_ARRAYS:
        raise TypeError(f"JavaScript has no typed array for {name}")
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"type": name, "data": base64.b64encode(plain.tobytes()).decode("ascii")}


def script_json(data: object) -> str:
    r"""Return plain data as JSON for a ``<script>`` element: no text in it can end the script or open a comment.

    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII only, so that no encoding matters
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
