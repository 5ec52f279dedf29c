"""Sparse matrices in ``.npz`` files, as ``scipy.sparse.save_npz`` writes them."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.feature_reader import FeatureBlock, FeatureOptions, FeatureReader
from planetoid.io.limits import COLUMNS, check_expansion
from planetoid.io.opening import check_file, check_not_encrypted
from planetoid.io.table import not_float32
from planetoid.utils.sparse_format import check_sparse_format

__all__ = ["MatrixFeatures"]

BLOCK_ROWS = 2**16


class MatrixFeatures(FeatureReader):
    """A scipy sparse matrix in an ``.npz`` file: one row per node, without ids."""

    path: Path

    def __init__(self, path: Path, options: FeatureOptions) -> None:
        self.path = path
        loaded = self._load()
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite
            self._matrix = sparse.csr_array(loaded, dtype=np.float32)
            self._matrix.sum_duplicates()
        wrong = np.flatnonzero(~np.isfinite(self._matrix.data))
        if len(wrong):
            entry = int(wrong[0])
            row = int(np.searchsorted(self._matrix.indptr, entry, side="right") - 1)
            column = int(self._matrix.indices[entry])
            raise self.error(not_float32(sparse.csr_array(loaded)[row, column]), row, column=column)
        self.n_features = int(self._matrix.shape[1])

    def blocks(self) -> Iterator[FeatureBlock]:
        for start in range(0, self._matrix.shape[0], BLOCK_ROWS):
            yield FeatureBlock(start, self._matrix[start : start + BLOCK_ROWS])

    def _load(self) -> sparse.sparray | sparse.spmatrix:
        check_file(self.path)
        try:
            check_expansion(self.path, _declared_size(self.path))
            with self.path.open("rb") as file, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy's, about what is checked below
                loaded = sparse.load_npz(file)  # never unpickles
        except DataError:
            raise
        except Exception:  # zipfile, zlib, numpy and scipy have many errors for bytes that they do not expect
            raise DataError(
                "the file is corrupt, or not a sparse matrix written by scipy.sparse.save_npz", path=self.path
            ) from None
        if loaded.ndim != 2 or loaded.dtype.kind not in "fiub":
            raise DataError(
                f"features must be a numeric matrix, not {loaded.ndim} dimension(s) of {loaded.dtype}", path=self.path
            )
        if loaded.shape[0] == 0:
            raise DataError("the matrix has no rows", path=self.path)
        COLUMNS.check(loaded.shape[1], self.path)
        check_expansion(self.path, 8 * loaded.shape[0])  # a matrix of coordinates may claim any number of rows
        check_sparse_format(loaded, self.path)
        return loaded


def _declared_size(path: Path) -> int:
    """Return the bytes that the arrays of an ``.npz`` file would take, by what its headers say."""
    total = 0
    with zipfile.ZipFile(path) as archive:
        check_not_encrypted(archive, path)
        for member in archive.infolist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                read_header = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }.get(version)
                if read_header is None:
                    raise ValueError(f"version {version} of the array format")
                shape, _, dtype = read_header(file)
            total += max(member.file_size, math.prod(shape) * dtype.itemsize)
    return total
