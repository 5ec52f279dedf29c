"""Arrays without ids, as NumPy, SciPy and MATLAB save them: ``.npy``, ``.npz`` and ``.mat``.

Row k is node k, unless the file has ids of its own as the embeddings have that planetoid writes. Which array of a file
is meant follows from its shape and, where several fit, from its name.
"""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.feature_reader import FeatureBlock, FeatureOptions, FeatureReader
from planetoid.io.limits import check_expansion, check_lengths
from planetoid.io.matlab import read_matlab
from planetoid.io.matrices import MatrixFeatures
from planetoid.io.opening import check_file, check_not_encrypted
from planetoid.io.spooling import local_file
from planetoid.io.table import TableOptions, not_float32
from planetoid.io.typed_table import ArrowTable
from planetoid.utils.arrow import numbers_to_arrow

__all__ = ["ArrayFeatures", "ArrayTable"]

BLOCK_ROWS = 2**16
# What a damaged file is to NumPy, whose header is a Python literal.
DAMAGED = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, SyntaxError, MemoryError, RecursionError, OverflowError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)
MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK\x03\x04"}
IDS = ("ids", "id", "node_ids", "nodes")
USUAL_NAMES = {
    "features": ("x", "features", "feats", "attributes", "attrb", "embedding", "embeddings", "vectors"),
    "edges": ("edges", "edge_index", "network", "adj", "adjacency", "a", "w", "graph"),
    "labels": ("labels", "label", "y", "group", "gnd", "target"),
}


class ArrayFeatures(FeatureReader):
    """A matrix with one row per node, dense or sparse."""

    def __init__(self, path: Path, options: FeatureOptions) -> None:
        self.path = path
        arrays = _load(path)
        self._ids = next((_ids(arrays[name], path) for name in arrays if name.lower() in IDS), None)
        matrices = {name: one for name, one in arrays.items() if one.ndim == 2 and one.dtype.kind in "fiub"}
        name, found = _chosen(path, matrices, "features", "a numeric matrix")
        if found.shape[0] == 0:
            raise DataError("the matrix has no rows", path=path)
        if self._ids is not None and len(self._ids) != found.shape[0]:
            raise DataError(f"{len(self._ids):,} ids, but {name!r} has {found.shape[0]:,} rows", path=path)
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite
            self._matrix = sparse.csr_array(found, dtype=np.float32) if sparse.issparse(found) else found
            self._check_finite(found)
        self.n_features = int(found.shape[1])

    def blocks(self) -> Iterator[FeatureBlock]:
        for start in range(0, self._matrix.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            part = self._matrix[rows]
            dense = part if sparse.issparse(part) else np.asarray(part, dtype=np.float32)
            yield FeatureBlock(start, dense, None if self._ids is None else self._ids[rows])

    def _check_finite(self, found: Any) -> None:
        matrix = self._matrix.tocoo() if sparse.issparse(self._matrix) else None
        values = self._matrix.astype(np.float32, copy=False) if matrix is None else matrix.data
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            row, column = wrong[0] if matrix is None else (matrix.row[wrong[0, 0]], matrix.col[wrong[0, 0]])
            value = (found if matrix is None else sparse.csr_array(found))[row, column]
            raise self.error(not_float32(value), int(row), column=int(column))


class ArrayTable(ArrowTable):
    """Edges from an array of pairs or an adjacency matrix, labels from an array with one entry per node."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        arrays = _load(path)
        if options.content == "labels":
            fitting = {name: one for name, one in arrays.items() if _is_column(one) and name.lower() not in IDS}
            labels = np.asarray(_chosen(path, fitting, "labels", "an array with one label per node")[1]).ravel()
            ids = next((_ids(arrays[name], path) for name in arrays if name.lower() in IDS), None)
            nodes = numbers_to_arrow(np.arange(len(labels))) if ids is None else ids
            columns = {"id": nodes, "label": pa.array(labels.astype(str) if labels.dtype.kind == "U" else labels)}
        else:
            fitting = {name: one for name, one in arrays.items() if _is_pairs(one) or _is_square(one)}
            columns = _edges(_chosen(path, fitting, "edges", "an n x 2 array of edges or a square adjacency matrix")[1])
        super().__init__(pa.table(columns), path)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; nothing is unpickled."""
    start = check_file(path)
    suffix = path.suffix.lower()
    if not start.startswith(MAGIC.get(suffix, b"")):
        raise DataError(f"the file is not a {suffix} file, whatever its name", path=path)
    try:
        if suffix == ".mat":
            return read_matlab(path, local_file(path))
        if suffix == ".npz":
            with zipfile.ZipFile(local_file(path)) as archive:
                check_not_encrypted(archive, path)
                check_expansion(local_file(path), sum(member.file_size for member in archive.infolist()))
        loaded = np.load(local_file(path), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded}
        with loaded:
            if "format" in loaded.files and "shape" in loaded.files:  # by scipy.sparse.save_npz
                blocks = MatrixFeatures(path, FeatureOptions()).blocks()  # which checks its structure
                return {path.stem: sparse.vstack([block.X for block in blocks], format="csr")}
            return {name: loaded[name] for name in loaded.files}
    except DataError:
        raise
    except DAMAGED as error:
        if "allow_pickle" in str(error):
            raise DataError(
                "the file contains Python objects, which are never loaded",
                path=path,
                hint="save arrays of numbers or of strings: array.astype(str)",
            ) from None
        raise DataError(f"the file is corrupt, or not a {suffix} file: {error}", path=path) from None


def _chosen(path: Path, fitting: Mapping[str, Any], content: str, what: str) -> tuple[str, Any]:
    """Return the only array that fits, else the one with a usual name."""
    if len(fitting) == 1:
        return next(iter(fitting.items()))
    named = [name for usual in USUAL_NAMES[content] for name in fitting if name.lower() == usual]
    if not named:
        listed = ", ".join(map(repr, fitting)) or "no array"
        raise DataError(
            f"the file must have {what}, but {listed} {'fit' if len(fitting) > 1 else 'fits'}",
            path=path,
            hint=f"save it alone, or under the name {USUAL_NAMES[content][0]!r}",
        )
    return named[0], fitting[named[0]]


def _is_column(array: Any) -> bool:
    return not sparse.issparse(array) and array.dtype.kind in "iufbU" and (array.ndim == 1 or 1 in array.shape)


def _is_pairs(array: Any) -> bool:
    dense = not sparse.issparse(array) and array.ndim == 2 and array.dtype.kind in "iufU"
    return dense and (array.shape[1] in (2, 3) or array.shape[0] == 2)


def _is_square(array: Any) -> bool:
    return array.ndim == 2 and array.shape[0] == array.shape[1] and array.dtype.kind in "fiub"


def _ids(array: npt.NDArray[Any], path: Path) -> pa.Array:
    flat = np.asarray(array).ravel()
    if flat.dtype.kind != "U":
        return numbers_to_arrow(flat.astype(np.int64))
    ids = pa.array(flat.tolist(), pa.string())
    check_lengths(ids, path)
    return ids


def _edges(found: Any) -> dict[str, pa.Array]:
    if _is_square(found):
        matrix = sparse.coo_array(found)
        columns = {"source": matrix.row.astype(np.int64), "target": matrix.col.astype(np.int64)}
        weights = {} if (matrix.data == 1).all() else {"weight": matrix.data}
        return {name: numbers_to_arrow(values) for name, values in {**columns, **weights}.items()}
    pairs = found.T if found.shape[1] not in (2, 3) else found  # PyG's edge_index is 2 x n
    ends = [np.ascontiguousarray(pairs[:, k]) for k in (0, 1)]
    if pairs.dtype.kind == "U":
        return {name: pa.array(end.tolist()) for name, end in zip(("source", "target"), ends, strict=True)}
    columns = {name: end.astype(np.int64) for name, end in zip(("source", "target"), ends, strict=True)}
    weights = {"weight": pairs[:, 2].astype(np.float64)} if pairs.shape[1] == 3 else {}
    return {name: numbers_to_arrow(values) for name, values in {**columns, **weights}.items()}
