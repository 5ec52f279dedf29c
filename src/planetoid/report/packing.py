"""Arrays and texts inside an HTML file: compact, and safe whatever they hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["packed", "script_json"]

# What a browser has a typed array for.
KINDS = ("uint8", "uint16", "uint32", "int16", "int32", "float32")


def packed(array: npt.NDArray[Any]) -> dict[str, str]:
    """Return an array as its type and the base64 of its little-endian bytes.

    >>> packed(np.array([1, 2], dtype=np.uint16))
    {'type': 'uint16', 'data': 'AQACAA=='}
    """
    kind = array.dtype.name
    if kind not in KINDS:
        raise TypeError(f"a browser has no typed array for {kind}")
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"type": kind, "data": base64.b64encode(plain.tobytes()).decode("ascii")}


def script_json(data: Any) -> str:
    r"""Return plain data as JSON that can stand in a ``<script>``: no text in it can end the script or open a comment.

    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII alone, so that no encoding matters
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
