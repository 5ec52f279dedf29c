"""Lines of ``id token:weight ...``, parsed in Arrow; the base of token files and svmlight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.header import is_number
from planetoid.io.lines import BLOCK_BYTES, WHITESPACE, first_records, line_blocks, numbered_lines

__all__ = ["SparseLine", "SparseLines", "SparseTextFile", "to_csr"]


@dataclass(frozen=True)
class SparseLines:
    """Parsed lines: the first word of each, and tokens with their weights from ``indptr[k]`` to ``indptr[k + 1]``."""

    first_row: int
    ids: pa.Array
    indptr: npt.NDArray[np.int64]
    tokens: pa.Array
    weights: npt.NDArray[np.float32]


class SparseLine(NamedTuple):
    """One line as text: its number, its first word, and the words after it."""

    number: int
    head: str
    words: list[str]


class SparseTextFile:
    """A text file of ``id token:weight ...`` lines; a token without a weight has the weight 1.

    If every one of the first lines has a tab, the id ends there and may contain spaces.
    """

    def __init__(self, path: Path, *, comment: str | None = None, weights_required: bool = False) -> None:
        self.path = path
        self._weights_required = weights_required
        self._comment = comment
        self.sample = first_records(path)
        self._skip = self.sample[0].number - 1
        self._tab_after_id = comment is None and all("\t" in line.text.strip(WHITESPACE) for line in self.sample)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> Iterator[SparseLines]:
        """Parse the file, block by block."""
        first_row = 0
        for block in line_blocks(self.path, self._skip, block_bytes):
            ids, indptr, words = self._split(block)
            tokens, weights = self._split_weights(words)
            yield SparseLines(first_row, ids, indptr, tokens, weights)
            first_row += len(ids)

    def lines(self) -> Iterator[SparseLine]:
        """Read slowly: each line that is not blank."""
        for number, line in numbered_lines(self.path, self._skip):
            text = (line.split(self._comment)[0] if self._comment else line).strip(WHITESPACE)
            if text:
                head, *tail = re.split("\t" if self._tab_after_id else f"[{WHITESPACE}]", text, maxsplit=1)
                yield SparseLine(number, head.strip(WHITESPACE), re.findall(f"[^{WHITESPACE}]+", "".join(tail)))

    def line(self, row: int) -> int:
        """Return the line of a record, counted from 1."""
        return next(islice(self.lines(), row, None)).number

    def _split(self, block: bytes) -> tuple[pa.Array, npt.NDArray[np.int64], pa.Array]:
        """Return the first word of each line, where its other words begin, and those words."""
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + 1
        offsets = np.concatenate([[0], ends]).astype(np.int32)
        lines = pa.Array.from_buffers(pa.string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(block)])
        try:
            lines.validate(full=True)
        except pa.ArrowInvalid as error:
            self._explain(str(error))
        if self._comment:
            lines = pc.replace_substring_regex(lines, self._comment + ".*", "")
        lines = pc.ascii_trim_whitespace(lines)
        lines = lines.filter(pc.not_equal(lines, ""))
        if self._tab_after_id:
            halves = pc.split_pattern(lines, "\t", max_splits=1)
        else:
            halves = pc.ascii_split_whitespace(lines, max_splits=1)
        starts, has_tail = np.asarray(halves.offsets)[:-1], np.asarray(halves.value_lengths()) > 1
        ids = pc.ascii_trim_whitespace(halves.values.take(starts))
        tails = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(halves.values.take(starts[has_tail] + 1)))
        counts = np.zeros(len(ids) + 1, dtype=np.int64)
        counts[1:][has_tail] = tails.value_lengths()
        return ids, np.cumsum(counts), tails.flatten()

    def _split_weights(self, words: pa.Array) -> tuple[pa.Array, npt.NDArray[np.float32]]:
        """Split ``token:weight`` at the last colon; without a colon the weight is 1."""
        weights = np.ones(len(words), dtype=np.float32)
        has_weight = pc.match_substring(words, ":")
        if self._weights_required and not pc.all(has_weight, min_count=0).as_py():
            self._explain("a word has no colon")
        if not pc.any(has_weight).as_py():
            return words, weights
        halves = pc.split_pattern(words.filter(has_weight), ":", max_splits=1, reverse=True).flatten()
        tokens, written = (halves.take(np.arange(half, len(halves), 2)) for half in (0, 1))
        try:
            weights[np.asarray(has_weight)] = written.cast(pa.float32())
        except pa.ArrowInvalid as error:
            self._explain(str(error))
        if not np.isfinite(weights).all() or pc.any(pc.equal(tokens, "")).as_py():
            self._explain("a weight is not a finite number, or a token is empty")
        return pc.replace_with_mask(words, has_weight, tokens), weights

    def _explain(self, reason: str) -> NoReturn:
        """Find the first word that cannot be read, and raise ``DataError`` about it."""
        expected = "column:value" if self._weights_required else "token or token:weight"
        for number, head, words in self.lines():
            for word in words:
                if not self._is_valid(word):
                    raise DataError(
                        f"expected {expected} with a finite number, got {word!r}",
                        path=self.path,
                        line=number,
                        node=None if self._weights_required else head,
                    )
        raise DataError(f"cannot parse the file: {reason}", path=self.path)

    def _is_valid(self, word: str) -> bool:
        token, colon, weight = word.rpartition(":")
        if not colon:
            return not self._weights_required
        return bool(token) and is_number(weight) and abs(float(weight)) <= float(np.finfo(np.float32).max)


def to_csr(lines: SparseLines, columns: npt.NDArray[np.integer], n_features: int) -> sparse.csr_array:
    """Return lines as CSR, given the column of each token (-1: ignored); a repeated token sums up its weights."""
    rows = np.repeat(np.arange(len(lines.ids), dtype=np.int32), np.diff(lines.indptr))
    weights = lines.weights
    known = columns >= 0
    if not known.all():
        rows, columns, weights = rows[known], columns[known], weights[known]
    matrix = sparse.csr_array((weights, (rows, columns)), shape=(len(lines.ids), n_features), dtype=np.float32)
    matrix.sum_duplicates()
    return matrix
