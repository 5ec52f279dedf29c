"""SHA-256 of files and arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

__all__ = ["sha256_of_arrays", "sha256_of_file", "sha256_of_stream"]

CHUNK = 1 << 20  # bytes


def sha256_of_file(path: str | Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal, reading it in chunks.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     sha256_of_file(file.name)[:16]
    'e3b0c44298fc1c14'
    """
    with Path(path).open("rb") as file:
        return sha256_of_stream(file)


def sha256_of_stream(file: BinaryIO) -> str:
    """Return the SHA-256 of what is left in an open file, in hexadecimal."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def sha256_of_arrays(arrays: Iterable[npt.ArrayLike | None], prefix: bytes = b"") -> str:
    """Return one SHA-256 for the values of several arrays, in hexadecimal.

    Parameters
    ----------
    arrays : iterable of array or None
        Shapes and dtypes do not enter the digest. ``None`` differs from an empty array.
    prefix : bytes
        Hashed before the arrays.

    Examples
    --------
    >>> sha256_of_arrays([np.arange(3)]) == sha256_of_arrays([[0, 1, 2]])
    True
    >>> sha256_of_arrays([None]) == sha256_of_arrays([[]])
    False
    """
    digest = hashlib.sha256(prefix)
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).data)
    return digest.hexdigest()
