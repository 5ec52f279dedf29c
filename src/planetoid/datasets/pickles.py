"""Read the authors' Python 2 pickles without executing anything in them.

A pickle is a program. This reader allows five names: numpy arrays and dtypes,
scipy's CSR matrices, ``list`` and ``defaultdict``. Even these are not the real
classes, but stand-ins that only store their arguments; the arrays are built
afterwards, from plain numbers and bytes. Any other name is an error before it
is looked up.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.errors import DataError
from planetoid.utils.sparse_format import check_sparse_format

__all__ = ["Matrix", "read_pickle"]

Matrix: TypeAlias = "npt.NDArray[Any] | sparse.csr_array"
Unpickled: TypeAlias = "Matrix | dict[Any, Any]"

_NUMBER_KINDS = "biuf"


class _DType:
    """Stands for ``numpy.dtype``: stores the code and the byte order."""

    def __init__(self, code: object = b"", *_: object) -> None:
        self.code, self.order = _text(code), "="

    def __setstate__(self, state: Sequence[object]) -> None:
        self.order = _text(state[1])

    def resolve(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.code).newbyteorder("=" if self.order == "|" else self.order)  # type: ignore[arg-type]
        if dtype.kind not in _NUMBER_KINDS:
            raise ValueError(f"an array of {dtype}, not of numbers")
        return dtype


class _Array:
    """Stands for ``numpy.ndarray``: stores shape, dtype and bytes."""

    def __init__(self, *_: object) -> None:
        self.state: Sequence[Any] = ()

    def __setstate__(self, state: Sequence[Any]) -> None:
        self.state = state

    def resolve(self) -> npt.NDArray[Any]:
        _, shape, dtype, fortran, data = self.state
        if not isinstance(dtype, _DType) or not isinstance(data, bytes):
            raise ValueError("an array without a dtype or bytes")
        flat = np.frombuffer(data, dtype=dtype.resolve())
        return np.asarray(flat.reshape(shape, order="F" if fortran else "C"))


class _Csr:
    """Stands for ``scipy.sparse.csr_matrix``: stores its attributes."""

    def __init__(self, *_: object) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: Mapping[object, object]) -> None:
        self.state = {_text(name): value for name, value in state.items()}

    def resolve(self) -> sparse.csr_array:
        parts = [self.state[name].resolve() for name in ("data", "indices", "indptr")]
        shape = tuple(int(size) for size in self.state["_shape"])
        matrix = sparse.csr_array(tuple(parts), shape=shape)
        check_sparse_format(matrix)
        return matrix


def _reconstruct(kind: object = None, *_: object) -> _Array:
    if kind is not _Array:
        raise ValueError("an array of an unknown class")
    return _Array()


def _defaultdict(factory: object = None, *_: object) -> dict[object, object]:
    if factory is not list:
        raise ValueError("a defaultdict of something other than lists")
    return {}


_ALLOWED: dict[tuple[str, str], object] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _DType,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("collections", "defaultdict"): _defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _AllowListUnpickler(pickle._Unpickler):
    """In Python, because the memo of the one in C is an array: a pickle of 20 bytes makes it as long as it likes."""

    def find_class(self, module: str, name: str) -> object:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            allowed = "numpy arrays, scipy CSR matrices, lists and dictionaries"
            raise DataError(f"the pickle refers to {module}.{name}; only {allowed} are allowed") from None


def read_pickle(path: str | Path) -> Unpickled:
    """Return the array, ``csr_array`` or dictionary that a pickle holds.

    Raises
    ------
    DataError
        If the file is damaged, or refers to anything but numbers in arrays, CSR
        matrices, lists and dictionaries. Nothing in it has been executed by then.
    """
    path = Path(path)
    try:
        found = _AllowListUnpickler(io.BytesIO(path.read_bytes()), encoding="bytes").load()
        return found.resolve() if isinstance(found, (_Array, _Csr)) else found
    except DataError as error:
        raise DataError(error.message, path=path) from None
    except OSError:
        raise
    except Exception as error:  # a damaged pickle may fail in any way
        raise DataError(f"not a readable pickle of arrays: {type(error).__name__}: {error}", path=path) from None


def _text(value: object) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else str(value)
