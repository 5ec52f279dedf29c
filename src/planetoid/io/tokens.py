"""Sparse features as text: ``id token:weight ...``, and svmlight."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.io.encode import IdEncoder
from planetoid.io.header import is_number
from planetoid.io.readers import FeatureReader, Piece
from planetoid.io.text import BLOCK_BYTES
from planetoid.io.words import WordFile, Words

__all__ = ["SvmlightReader", "TokenReader"]

LARGEST_BLOCK = 2**26


class TokenReader(FeatureReader):
    """``id token:weight ...`` lines; the features are the tokens that occur, sorted, or those given."""

    ids_are_text = True

    def __init__(self, path: Path, names: Sequence[str] | None, *, certain: bool) -> None:
        self.path = path
        self._file = WordFile(path)
        if not certain:
            self._refuse_other_formats()
        self.names = tuple(map(str, names)) if names is not None else self._collect()
        self.n_features = len(self.names)

    def pieces(self) -> Iterator[Piece]:
        assert self.names is not None
        vocabulary = pa.array(self.names, type=pa.string())
        size = min(max(BLOCK_BYTES, 32 * len(self.names)), LARGEST_BLOCK)  # each block hashes the vocabulary anew
        seen = ignored = 0
        for words in self._file.words(size):
            columns = np.asarray(pc.fill_null(pc.index_in(words.tokens, value_set=vocabulary), -1))
            seen, ignored = seen + len(columns), ignored + int(np.count_nonzero(columns < 0))
            yield Piece(words.first_row, _rows(words, columns, self.n_features), words.ids)
        if seen and ignored == seen:
            raise DataError(f"{self.path}: none of its tokens is among the {self.n_features:,} features asked for")
        if ignored:
            warnings.warn(
                f"{self.path}: {ignored:,} of {seen:,} tokens are not among the features asked for and are ignored",
                PlanetoidWarning,
                stacklevel=3,
            )

    def ids(self) -> Iterator[Any]:
        """Read the ids alone."""
        for words in self._file.words():
            yield words.ids

    def place(self, row: int) -> str:
        return self._file.place(row)

    def _collect(self) -> tuple[str, ...]:
        encoder = IdEncoder()
        waiting: list[Any] = []
        for words in self._file.words():
            waiting.append(pc.unique(words.tokens))
            if sum(map(len, waiting)) >= encoder.worthwhile:
                encoder.encode(pa.chunked_array(waiting))
                waiting.clear()
        if waiting:
            encoder.encode(pa.chunked_array(waiting))
        if not len(encoder):
            raise DataError(f"{self.path} has ids but no tokens; a line is an id, then tokens or token:weight")
        tokens, _ = encoder.sorted(text=True)
        return tuple(map(str, tokens.to_numpy()))

    def _refuse_other_formats(self) -> None:
        rows = [text.split() for _, text in self._file.sample]
        words = [word for row in rows for word in row[1:]]
        numbers = bool(words) and all(map(is_number, words)) and any("." in word for word in words)
        if (numbers and len(set(map(len, rows))) == 1) or (not words and "," in rows[0][0]):
            raise DataError(
                f"{self.path} looks like a table of numbers, but .txt is read as lines of id token:weight ...; "
                'say format="table" or format="tokens"'
            )


class SvmlightReader(FeatureReader):
    """``label column:value ...`` lines, one for each node, in order; the labels are left alone.

    Columns are counted from 1, as svmlight does, unless a 0 occurs.
    """

    def __init__(self, path: Path, n_features: int | None) -> None:
        self.path = path
        self._file = WordFile(path, comment="#", weights_required=True)
        smallest, largest = self._extent()
        self._base = 0 if smallest == 0 else 1
        needed = largest - self._base + 1
        if n_features is not None and needed > n_features:
            raise DataError(f"{path} has a column {largest}, but there are {n_features} features")
        self.n_features = needed if n_features is None else n_features

    def pieces(self) -> Iterator[Piece]:
        for words in self._file.words():
            columns = self._columns(words)
            yield Piece(words.first_row, _rows(words, columns - self._base, self.n_features))

    def place(self, row: int) -> str:
        return self._file.place(row)

    def _extent(self) -> tuple[int, int]:
        smallest, largest = 2**31, -1
        for words in self._file.words():
            columns = self._columns(words)
            if len(columns):
                smallest, largest = min(smallest, int(columns.min())), max(largest, int(columns.max()))
        if largest < 0:
            raise DataError(f"{self.path} has no column:value at all")
        return smallest, largest

    def _columns(self, words: Words) -> npt.NDArray[np.int64]:
        if pc.any(pc.match_substring(words.ids, ":")).as_py():
            self._explain(lambda label, _: ":" in label and f"{label!r} stands where the label should be (0 if none)")
        if not pc.all(pc.match_substring_regex(words.tokens, r"^[0-9]{1,9}$"), min_count=0).as_py():
            self._explain(lambda _, pairs: next((f"{w!r} is not column:value" for w in pairs if not _is_pair(w)), ""))
        return np.asarray(words.tokens.cast(pa.int64()))

    def _explain(self, problem: Callable[[str, list[str]], str | bool]) -> NoReturn:
        for number, (label, *pairs) in self._file.lines():
            found = problem(label, pairs)
            if found:
                raise DataError(f"{self.path}, line {number}: {found}")
        raise DataError(f"{self.path} is not in svmlight format")


def _is_pair(word: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}:[^:]+", word) is not None


def _rows(words: Words, columns: npt.NDArray[Any], n_features: int) -> Any:
    """Return rows as CSR; a token twice in a line counts with the sum of its weights."""
    rows = np.repeat(np.arange(len(words.ids), dtype=np.int32), np.diff(words.indptr))
    known = columns >= 0
    if not known.all():
        rows, columns = rows[known], columns[known]
    weights = words.weights if known.all() else words.weights[known]
    matrix = sparse.csr_array((weights, (rows, columns)), shape=(len(words.ids), n_features), dtype=np.float32)
    matrix.sum_duplicates()
    return matrix
