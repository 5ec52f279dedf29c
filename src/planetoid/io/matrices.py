"""Sparse matrices in ``.npz`` files, as ``scipy.sparse.save_npz`` writes them."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.feature_reader import FeatureBlock, FeatureOptions, FeatureReader
from planetoid.io.opening import check_file

__all__ = ["MatrixFeatures"]

BLOCK_ROWS = 2**16


class MatrixFeatures(FeatureReader):
    """A scipy sparse matrix in an ``.npz`` file: one row per node, without ids."""

    path: Path

    def __init__(self, path: Path, options: FeatureOptions) -> None:
        self.path = path
        self._matrix = self._load()
        wrong = np.flatnonzero(~np.isfinite(self._matrix.data))
        if len(wrong):
            entry = int(wrong[0])
            row = int(np.searchsorted(self._matrix.indptr, entry, side="right") - 1)
            column = int(self._matrix.indices[entry])
            raise self.error(f"{self._matrix.data[entry]} is not a finite number", row, column=column)
        self.n_features = int(self._matrix.shape[1])

    def blocks(self) -> Iterator[FeatureBlock]:
        for start in range(0, self._matrix.shape[0], BLOCK_ROWS):
            yield FeatureBlock(start, self._matrix[start : start + BLOCK_ROWS])

    def _load(self) -> sparse.csr_array:
        check_file(self.path)
        try:
            with self.path.open("rb") as file:
                loaded = sparse.load_npz(file)  # never unpickles
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise DataError(
                "the file is corrupt, or not a sparse matrix written by scipy.sparse.save_npz", path=self.path
            ) from None
        if loaded.ndim != 2 or loaded.dtype.kind not in "fiub":
            raise DataError(
                f"features must be a numeric matrix, not {loaded.ndim} dimension(s) of {loaded.dtype}", path=self.path
            )
        if loaded.shape[0] == 0:
            raise DataError("the matrix has no rows", path=self.path)
        try:
            matrix = sparse.csr_array(loaded, dtype=np.float32)
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"the file is corrupt: {error}", path=self.path) from None
        matrix.sum_duplicates()
        return matrix
