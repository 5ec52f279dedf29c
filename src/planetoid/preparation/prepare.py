"""``Preparation``: from the columns of a node table to features, the same for fitted and for new rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError
from planetoid.io.sparse_columns import is_mostly_zero
from planetoid.preparation.cells import is_text, numbers_of
from planetoid.preparation.kinds import ColumnOptions, Guess, guess_kind
from planetoid.preparation.numeric import Counts, Numbers
from planetoid.preparation.scalar import Booleans, Categories, Dates, Embedding
from planetoid.preparation.words import Text, Tokens

if TYPE_CHECKING:
    from planetoid.preparation.blocks import Block, Columns, Matrix

__all__ = ["Preparation"]

COLUMN_KINDS: dict[str, type[Block]] = {
    block.kind: block for block in (Numbers, Counts, Booleans, Categories, Dates, Embedding, Text, Tokens)
}
TOGETHER = ("number", "count")  # kinds of which one block takes all columns
MANY_COUNTS = 20  # columns that are mostly zero from which they are one sparse block, such as words


@dataclass(frozen=True)
class Preparation:
    """What is done with each column of a node table, and all that was learned from the fitted rows.

    Attributes
    ----------
    blocks : tuple of Block
    weights : tuple of float
        Of each block. A column of numbers, categories or dates has about unit norm in a row; a text, an embedding or
        a group of counts gets as much as all of those together, whatever its number of features.
    left_out : dict of str to str
        Columns that are not used, and why.
    """

    blocks: tuple[Block, ...]
    weights: tuple[float, ...]
    left_out: dict[str, str]

    @classmethod
    def fit(
        cls,
        columns: Columns,
        options: ColumnOptions | None = None,
        *,
        decimal: str = ".",
        left_out: Mapping[str, str] | None = None,
    ) -> tuple[Preparation, Matrix]:
        """Learn from columns of raw cells; return the preparation and the features of the same rows.

        ``decimal`` is the decimal separator of the file; ``left_out`` are columns that the caller has left out, and
        why.
        """
        options = options or ColumnOptions()
        guesses = {name: guess_kind(name, columns[name], options, decimal) for name in sorted(columns)}
        guesses = _with_counts(columns, guesses)
        unused = {name: guess.written for name, guess in guesses.items() if guess.kind == "none"}
        written = {name: guess.written for name, guess in guesses.items()}
        fitted = [
            COLUMN_KINDS[kind].fit_transform({name: columns[name] for name in names}, written)
            for kind, names in _groups(guesses)
        ]
        if not fitted:
            raise DataError(
                "the table has no column to learn from",
                hint="; ".join(f"{name!r} is left out because {reason}" for name, reason in unused.items()) or None,
            )
        blocks, parts = zip(*fitted, strict=True)
        n_single = sum(len(block.treatments()) for block in blocks if not block.is_rich)
        weights = [
            np.sqrt(max(1, n_single)) / (_mean_norm(part) or 1.0) if block.is_rich else 1.0
            for block, part in zip(blocks, parts, strict=True)
        ]
        preparation = cls(tuple(blocks), tuple(map(float, weights)), {**(left_out or {}), **unused})
        return preparation, preparation._joined(parts)

    @property
    def columns(self) -> list[str]:
        """The columns that the features are made of."""
        return [name for block in self.blocks for name in block.treatments()]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in the order of the columns of the matrix."""
        return [name for block in self.blocks for name in block.names()]

    def transform(self, columns: Columns) -> Matrix:
        """Return the features of new rows; a column that is missing is a ``DataError``."""
        missing = [name for name in self.columns if name not in columns]
        if missing:
            more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            raise DataError(
                f"the table has no column {', '.join(map(repr, missing[:3]))}{more}, which the model was fitted on",
                hint=f"the table has {', '.join(map(repr, list(columns)[:10]))}",
            )
        return self._joined([block.transform(columns) for block in self.blocks])

    def describe(self) -> list[tuple[str, str, str]]:
        """Return the name, the kind and the treatment of each column, those that are left out at the end."""
        rows = [(name, block.kind, text) for block in self.blocks for name, text in block.treatments().items()]
        return [*sorted(rows), *((name, "left out", reason) for name, reason in self.left_out.items())]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "blocks": [{"kind": block.kind, **dataclasses.asdict(block)} for block in self.blocks],
            "weights": list(self.weights),
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Preparation:
        """Return what :meth:`as_dict` was called on."""
        blocks = []
        for entry in document["blocks"]:
            values = {name: tuple(one) if isinstance(one, list) else one for name, one in entry.items()}
            kind = COLUMN_KINDS[str(values.pop("kind"))]
            blocks.append(kind(**values))
        return cls(tuple(blocks), tuple(document["weights"]), dict(document["left_out"]))

    def _joined(self, parts: Sequence[Matrix]) -> Matrix:
        weighted = [
            part if weight == 1.0 else (part * np.float32(weight))
            for part, weight in zip(parts, self.weights, strict=True)
        ]
        if all(isinstance(part, np.ndarray) for part in weighted):
            return np.ascontiguousarray(np.column_stack(weighted), dtype=np.float32)
        return sparse.csr_array(sparse.hstack(weighted, format="csr", dtype=np.float32))


def _groups(guesses: Mapping[str, Guess]) -> list[tuple[str, list[str]]]:
    """Return the columns of each block: all numbers together, every other column on its own."""
    groups = [(kind, [name for name, guess in guesses.items() if guess.kind == kind]) for kind in TOGETHER]
    single = [(guess.kind, [name]) for name, guess in guesses.items() if guess.kind not in (*TOGETHER, "none")]
    return [group for group in groups if group[1]] + single


def _with_counts(columns: Columns, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """Turn numbers that are mostly zero into counts, if there are many such columns."""
    found = [
        name for name, guess in guesses.items() if guess.kind == "number" and _is_mostly_zero(columns[name], guess)
    ]
    return guesses if len(found) < MANY_COUNTS else guesses | dict.fromkeys(found, Guess("count", "."))


def _is_mostly_zero(column: pa.ChunkedArray, guess: Guess) -> bool:
    if column.null_count or (is_text(column) and guess.written != "."):
        return False
    return is_mostly_zero([pa.array(numbers_of(column).values) if is_text(column) else column])


def _mean_norm(part: Matrix) -> float:
    """Return the root of the mean squared norm of the rows."""
    squares = part**2 if isinstance(part, np.ndarray) else part.power(2)
    return float(np.sqrt(squares.sum(dtype=np.float64) / max(1, part.shape[0])))
