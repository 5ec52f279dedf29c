"""Token files: sparse features as lines of ``id token:weight ...``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, Fix, PlanetoidWarning, warn
from planetoid.io.encode import IdEncoder
from planetoid.io.feature_reader import FeatureBlock, FeatureOptions, FeatureReader
from planetoid.io.header import is_number
from planetoid.io.limits import check_lengths
from planetoid.io.lines import BLOCK_BYTES, WHITESPACE
from planetoid.io.sparse_text import SparseTextFile, to_csr

__all__ = ["TokenFeatures"]

LARGEST_BLOCK = 2**26


class TokenFeatures(FeatureReader):
    """Lines of ``id token:weight ...``; the features are the tokens that occur, sorted, or those in the options."""

    ids_are_text = True

    def __init__(self, path: Path, options: FeatureOptions) -> None:
        self.path = path
        self._file = SparseTextFile(path)
        if options.format is None:
            self._check_other_formats()
        self.names = self._collect_tokens() if options.names is None else tuple(map(str, options.names))
        self.n_features = len(self.names)

    def blocks(self) -> Iterator[FeatureBlock]:
        assert self.names is not None
        vocabulary = pa.array(self.names, type=pa.string())
        size = min(max(BLOCK_BYTES, 32 * len(self.names)), LARGEST_BLOCK)  # each block hashes the vocabulary again
        total = ignored = 0
        for lines in self._file.blocks(size):
            check_lengths(lines.ids, self.path)
            columns = np.asarray(pc.fill_null(pc.index_in(lines.tokens, value_set=vocabulary), -1))
            total, ignored = total + len(columns), ignored + int(np.count_nonzero(columns < 0))
            yield FeatureBlock(lines.first_row, to_csr(lines, columns, self.n_features), lines.ids)
        if total and ignored == total:
            raise DataError(f"no token is among the {self.n_features:,} features requested", path=self.path)
        if ignored:
            warn(
                PlanetoidWarning(
                    f"{ignored:,} of {total:,} tokens are not among the features requested and are ignored",
                    path=self.path,
                )
            )

    def line(self, row: int) -> int:
        return self._file.line(row)

    def _collect_tokens(self) -> tuple[str, ...]:
        encoder = IdEncoder()
        pending: list[pa.Array] = []
        for lines in self._file.blocks():
            pending.append(pc.unique(lines.tokens))
            if sum(map(len, pending)) >= encoder.batch_size:
                encoder.encode(pa.chunked_array(pending))
                pending.clear()
        if pending:
            encoder.encode(pa.chunked_array(pending))
        if not len(encoder):
            raise DataError(
                "the file has ids but no tokens", path=self.path, hint="a line is an id, then tokens or token:weight"
            )
        tokens = encoder.distinct(text=True)
        return tuple(map(str, tokens.take(pc.array_sort_indices(tokens)).to_pylist()))

    def _check_other_formats(self) -> None:
        rows = [line.text.strip(WHITESPACE).split() or [""] for line in self._file.sample]
        words = [word for row in rows for word in row[1:]]
        numbers = bool(words) and all(map(is_number, words)) and any("." in word for word in words)
        if (numbers and len(set(map(len, rows))) == 1) or (not words and "," in rows[0][0]):
            raise DataError(
                "the file looks like a table of numbers, but .txt is read as lines of id token:weight ...",
                path=self.path,
                fix=(Fix("format", "table", "for a table"), Fix("format", "tokens", "for tokens")),
            )
