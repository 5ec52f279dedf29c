"""MATLAB files, read in a process of their own: scipy parses them in compiled code that trusts every length it finds.

A damaged file can end that process, but not this one, and can neither read nor write its memory. The child converts
what it finds to ``.npz``; sparse matrices are checked before they are used.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from planetoid.errors import DataError
from planetoid.io.limits import EXPANSION
from planetoid.utils.sparse_format import check_sparse_format

__all__ = ["convert", "read_matlab"]

DTYPE_KINDS = "fiubU"
OWN_MEMORY = 2**32  # bytes of address space that the child may take beside what the file may hold
FAILED = 3  # exit code of a child that says why
CHILD = "import sys; from planetoid.io.matlab import convert; sys.exit(convert(*sys.argv[1:]))"


def read_matlab(path: Path, local: Path) -> dict[str, Any]:
    """Return the numeric and text arrays of a file by name; sparse matrices in CSC format.

    Parameters
    ----------
    path : Path
        The file that messages name.
    local : Path
        Where it can be read.
    """
    from scipy import sparse

    with tempfile.TemporaryDirectory(prefix="planetoid-") as folder:
        target = Path(folder) / "arrays.npz"
        command = [sys.executable, "-c", CHILD, str(local), str(target), str(EXPANSION.value)]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
        if ended.returncode == FAILED and "HDF reader" in ended.stdout:
            hint = "save it with save(..., '-v7') in MATLAB"
            raise DataError("the file is a MATLAB 7.3 file (HDF5)", path=path, hint=hint)
        if ended.returncode:
            reason = ended.stdout.strip() if ended.returncode == FAILED else "it cannot be parsed"
            raise DataError(f"the file is corrupt, or not a .mat file: {reason}", path=path)
        with np.load(target, allow_pickle=False) as found:
            names = found["names"].tolist()
            parts = [
                {part: found[f"{k}.{part}"] for part in ("dense", "data", "indices", "indptr", "shape")
                 if f"{k}.{part}" in found.files}
                for k in range(len(names))
            ]  # fmt: skip
    arrays: dict[str, Any] = {}
    for name, part in zip(names, parts, strict=True):
        if "dense" in part:
            arrays[name] = part["dense"]
            continue
        matrix = sparse.csc_array(tuple(int(size) for size in part["shape"]), dtype=part["data"].dtype)
        matrix.data, matrix.indices, matrix.indptr = part["data"], part["indices"], part["indptr"]
        check_sparse_format(matrix, path)
        arrays[name] = matrix
    return arrays


def convert(source: str, target: str, expansion: str) -> int:
    """Write the arrays of a MATLAB file to an ``.npz`` file; return the exit code of the child."""
    from scipy import sparse
    from scipy.io import loadmat

    _limit_memory(OWN_MEMORY + int(expansion) * Path(source).stat().st_size)
    try:
        found = loadmat(source)
    except Exception as error:  # whatever the parser stumbles over
        print(" ".join(str(error).split())[:300])  # noqa: T201 - for the parent
        return FAILED
    names: list[str] = []
    arrays: dict[str, Any] = {}
    for name, one in found.items():
        if name.startswith("__") or not hasattr(one, "dtype") or one.dtype.kind not in DTYPE_KINDS:
            continue
        number = len(names)
        names.append(name)
        if sparse.issparse(one):
            parts = {"data": one.data, "indices": one.indices, "indptr": one.indptr, "shape": np.array(one.shape)}
            arrays |= {f"{number}.{part}": values for part, values in parts.items()}
        else:
            arrays[f"{number}.dense"] = one
    np.savez(target, names=np.array(names, dtype=str), **arrays)
    return 0


def _limit_memory(n_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
