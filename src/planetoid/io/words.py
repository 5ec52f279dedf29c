"""Lines of words, ``id token:weight ...``, taken apart in Arrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError
from planetoid.io.header import is_number
from planetoid.io.layout import BLANKS, decode_line, first_records
from planetoid.io.text import BLOCK_BYTES, line_blocks, numbered_lines

__all__ = ["WordFile", "Words"]


@dataclass(frozen=True)
class Words:
    """Lines taken apart: the first word of each, and tokens with their weights from ``indptr[k]`` on."""

    first_row: int
    ids: Any
    indptr: npt.NDArray[np.int64]
    tokens: Any
    weights: npt.NDArray[np.float32]


class WordFile:
    """A text file of ``id token:weight ...`` lines, a token without a weight having 1.

    If every one of the first lines has a tab, the id ends there and may have
    blanks in it.
    """

    def __init__(self, path: Path, *, comment: str | None = None, weights_required: bool = False) -> None:
        self.path = path
        self._weights_required = weights_required
        self._comment = comment
        self.sample = first_records(path)
        self._skip = self.sample[0][0] - 1
        self._tabbed = comment is None and all("\t" in text.strip(BLANKS) for _, text in self.sample)

    def words(self, block_bytes: int = BLOCK_BYTES) -> Iterator[Words]:
        """Take the file apart, block by block."""
        first_row = 0
        for block in line_blocks(self.path, self._skip, block_bytes):
            ids, indptr, tokens = self._split(block)
            tokens, weights = self._weigh(tokens)
            yield Words(first_row, ids, indptr, tokens, weights)
            first_row += len(ids)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Read slowly: the number and the words of each line that has any."""
        for number, line in numbered_lines(self.path, self._skip):
            text = decode_line(self.path, number, line)
            text = (text.split(self._comment)[0] if self._comment else text).strip(BLANKS)
            if text:
                head, *tail = re.split("\t" if self._tabbed else f"[{BLANKS}]", text, maxsplit=1)
                yield number, [head.strip(BLANKS), *re.findall(f"[^{BLANKS}]+", "".join(tail))]

    def place(self, row: int) -> str:
        """Return the line of a record, for messages."""
        return f"line {next(islice(self.lines(), row, None))[0]}"

    def _split(self, block: bytes) -> tuple[Any, npt.NDArray[np.int64], Any]:
        """Return the first word of each line, where its other words begin, and those."""
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + 1
        offsets = np.concatenate([[0], ends]).astype(np.int32)
        lines = pa.Array.from_buffers(pa.string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(block)])
        try:
            lines.validate(full=True)
        except pa.ArrowInvalid as error:
            self.explain(str(error))
        if self._comment:
            lines = pc.replace_substring_regex(lines, self._comment + ".*", "")
        lines = pc.ascii_trim_whitespace(lines)
        lines = lines.filter(pc.not_equal(lines, ""))
        if self._tabbed:
            halves = pc.split_pattern(lines, "\t", max_splits=1)
        else:
            halves = pc.ascii_split_whitespace(lines, max_splits=1)
        starts, has_tail = np.asarray(halves.offsets)[:-1], np.asarray(halves.value_lengths()) > 1
        ids = pc.ascii_trim_whitespace(halves.values.take(starts))
        tails = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(halves.values.take(starts[has_tail] + 1)))
        counts = np.zeros(len(ids) + 1, dtype=np.int64)
        counts[1:][has_tail] = tails.value_lengths()
        return ids, np.cumsum(counts), tails.flatten()

    def _weigh(self, words: Any) -> tuple[Any, npt.NDArray[np.float32]]:
        """Take ``token:weight`` apart at the last colon; no colon stands for the weight 1."""
        weights = np.ones(len(words), dtype=np.float32)
        has_weight = pc.match_substring(words, ":")
        if self._weights_required and not pc.all(has_weight, min_count=0).as_py():
            self.explain("a word has no colon")
        if not pc.any(has_weight).as_py():
            return words, weights
        halves = pc.split_pattern(words.filter(has_weight), ":", max_splits=1, reverse=True).flatten()
        tokens, given = (halves.take(np.arange(half, len(halves), 2)) for half in (0, 1))
        try:
            weights[np.asarray(has_weight)] = given.cast(pa.float32())
        except pa.ArrowInvalid as error:
            self.explain(str(error))
        if not np.isfinite(weights).all() or pc.any(pc.equal(tokens, "")).as_py():
            self.explain("a weight is not a finite number, or a token is empty")
        return pc.replace_with_mask(words, has_weight, tokens), weights

    def explain(self, reason: str) -> NoReturn:
        """Find the first word that cannot be read, and raise a ``DataError`` about it."""
        for number, (node, *words) in self.lines():
            for word in words:
                if not self._is_right(word):
                    right = "column:value" if self._weights_required else "token (without a colon) or token:weight"
                    raise DataError(
                        f"{self.path}, line {number} ({node!r}): {word!r} is not {right}, with a finite number"
                    )
        raise DataError(f"{self.path} cannot be read: {reason}")

    def _is_right(self, word: str) -> bool:
        token, colon, weight = word.rpartition(":")
        if not colon:
            return not self._weights_required
        return bool(token) and is_number(weight) and abs(float(weight)) <= float(np.finfo(np.float32).max)
