"""svmlight files: sparse features as lines of ``label column:value ...``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError
from planetoid.io.feature_reader import FeatureBlock, FeatureOptions, FeatureReader
from planetoid.io.sparse_text import SparseLine, SparseLines, SparseTextFile, to_csr

__all__ = ["SvmlightFeatures"]


class SvmlightFeatures(FeatureReader):
    """Lines of ``label column:value ...``, one per node, in order; the labels are ignored.

    Columns are counted from 1, as svmlight does, unless a 0 occurs.
    """

    def __init__(self, path: Path, options: FeatureOptions) -> None:
        self.path = path
        self._file = SparseTextFile(path, comment="#", weights_required=True)
        smallest, largest = self._range_of_columns()
        self._first_column = 0 if smallest == 0 else 1
        needed = largest - self._first_column + 1
        if options.n_features is not None and needed > options.n_features:
            raise DataError(
                f"the file has a column {largest}, but there are {options.n_features:,} features", path=path
            )
        self.n_features = needed if options.n_features is None else options.n_features

    def blocks(self) -> Iterator[FeatureBlock]:
        for lines in self._file.blocks():
            columns = self._columns(lines) - self._first_column
            yield FeatureBlock(lines.first_row, to_csr(lines, columns, self.n_features))

    def line(self, row: int) -> int:
        return self._file.line(row)

    def _range_of_columns(self) -> tuple[int, int]:
        smallest, largest = 2**31, -1
        for lines in self._file.blocks():
            columns = self._columns(lines)
            if len(columns):
                smallest, largest = min(smallest, int(columns.min())), max(largest, int(columns.max()))
        if largest < 0:
            raise DataError("the file has no column:value", path=self.path)
        return smallest, largest

    def _columns(self, lines: SparseLines) -> npt.NDArray[np.int64]:
        if pc.any(pc.match_substring(lines.ids, ":")).as_py():
            self._explain(_wrong_label)
        if not pc.all(pc.match_substring_regex(lines.tokens, r"^[0-9]{1,9}$"), min_count=0).as_py():
            self._explain(_wrong_pair)
        return np.asarray(lines.tokens.cast(pa.int64()))

    def _explain(self, problem_of: Callable[[SparseLine], str | None]) -> NoReturn:
        for line in self._file.lines():
            problem = problem_of(line)
            if problem:
                raise DataError(problem, path=self.path, line=line.number)
        raise DataError("the file is not in svmlight format", path=self.path)


def _wrong_label(line: SparseLine) -> str | None:
    return f"expected a label (0 if there is none), got {line.head!r}" if ":" in line.head else None


def _wrong_pair(line: SparseLine) -> str | None:
    wrong = (word for word in line.words if not re.fullmatch(r"[0-9]{1,9}:[^:]+", word))
    return next((f"expected column:value, got {word!r}" for word in wrong), None)
