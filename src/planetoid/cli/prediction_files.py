"""Predictions as tables, written in blocks: CSV, TSV, Parquet, or lines of JSON."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from planetoid.errors import ParameterError
from planetoid.utils.arrow import numbers_to_arrow, strings_to_arrow
from planetoid.utils.atomic import atomic_write

__all__ = ["FORMATS", "PredictionTable", "SetsOf", "Sink", "check_format", "open_sink"]

FORMATS = (".csv", ".tsv", ".parquet")

Scores = npt.NDArray[np.floating[Any]]


class SetsOf(Protocol):
    """Returns which classes are in the set of each row."""

    def __call__(self, probabilities: Scores, *, scores: Scores | None = None) -> npt.NDArray[np.bool_]: ...


class PredictionTable:
    """Converts ids and class probabilities to rows of id, label, probability and runner-up.

    Parameters
    ----------
    classes : array
        The label of each column of probabilities.
    all_probabilities : bool
        Add a column ``probability_CLASS`` for each class.
    sets : callable, optional
        Returns which classes are in the prediction set of each row of probabilities (and of other scores, if there are
        any), for a column ``set``.
    integer_ids : bool
        Whether ids are integers; else they are strings.
    """

    def __init__(
        self,
        classes: npt.NDArray[Any],
        *,
        all_probabilities: bool,
        integer_ids: bool,
        sets: SetsOf | None = None,
    ) -> None:
        labels = classes.tolist()
        self.labels = _labels_to_arrow(classes)
        self.counts: Counter[str] = Counter()
        self.n_rows = 0
        more = [f"probability_{label}" for label in labels] if all_probabilities else []
        self._id_type = pa.int64() if integer_ids else pa.string()
        self.schema = pa.schema(
            [
                ("id", self._id_type),
                ("label", self.labels.type),
                ("probability", pa.float32()),
                ("runner_up", self.labels.type),
                ("runner_up_probability", pa.float32()),
                *([("set", pa.string())] if sets is not None else []),
                *((name, pa.float32()) for name in more),
            ]
        )
        self._all_probabilities = all_probabilities
        self._sets = sets
        self._names = np.array([str(label) for label in labels], dtype=object)

    def rows(self, ids: pa.Array, probabilities: Scores, set_scores: Scores | None = None) -> pa.Table:
        """Return a table of some nodes, and count their labels."""
        table = np.asarray(probabilities, dtype=np.float32)
        rows = np.arange(len(table))
        best = table.argmax(axis=1)
        others = table.copy()
        others[rows, best] = -1.0
        second = others.argmax(axis=1)
        for code, count in enumerate(np.bincount(best, minlength=len(self.labels)).tolist()):
            self.counts[str(self.labels[code].as_py())] += count
        self.n_rows += len(table)
        columns = [
            ids.cast(self._id_type),
            self.labels.take(numbers_to_arrow(best)),
            numbers_to_arrow(table[rows, best]),
            self.labels.take(numbers_to_arrow(second)),
            numbers_to_arrow(table[rows, second]),
        ]
        if self._sets is not None:
            chosen = self._sets(probabilities, scores=set_scores)
            columns.append(strings_to_arrow([";".join(self._names[row]) for row in chosen]))
        if self._all_probabilities:
            columns += [numbers_to_arrow(column) for column in table.T]
        return pa.table(columns, schema=self.schema)


class Sink(ABC):
    """Takes tables, one after the other."""

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Append some rows."""


class TextSink(Sink):
    """CSV or TSV, to a file or to stdout."""

    def __init__(self, stream: TextIO, schema: pa.Schema, separator: str) -> None:
        self._stream = stream
        self._plain, self._quoted = (
            csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=style)
            for style in ("none", "needed")
        )
        self._header: pa.Table | None = pa.table(
            [strings_to_arrow([name]) for name in schema.names], names=schema.names
        )

    def write(self, table: pa.Table) -> None:
        if self._header is not None:  # not before there are rows: an error may come first
            header, self._header = self._header, None
            self.write(header)
        try:
            text = _as_bytes(table, self._plain)
        except pa.ArrowInvalid:  # a text contains a separator or a quote; then Arrow quotes all of them
            text = _as_bytes(table, self._quoted)
        self._stream.write(text.decode("utf-8"))


class JsonSink(Sink):
    """One JSON object per line, to stdout."""

    def write(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


class ParquetSink(Sink):
    """Parquet, one row group per block."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self.writer = pq.ParquetWriter(path, schema)

    def write(self, table: pa.Table) -> None:
        self.writer.write_table(table)


def check_format(out: Path) -> None:
    """Raise ``ParameterError`` for a file whose suffix names no format."""
    if str(out) != "-" and out.suffix.lower() not in FORMATS:
        raise ParameterError(f"--out must be a {', '.join(FORMATS)} file, or - for stdout, got {out}")


@contextmanager
def open_sink(out: Path, schema: pa.Schema, *, as_json: bool) -> Iterator[Sink]:
    """Open a file that appears when all is written; ``-`` is stdout."""
    if str(out) == "-":
        yield JsonSink() if as_json else TextSink(sys.stdout, schema, ",")
        sys.stdout.flush()
        return
    with atomic_write(out) as temporary:
        if out.suffix.lower() == ".parquet":
            sink = ParquetSink(temporary, schema)
            with sink.writer:
                yield sink
            return
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            yield TextSink(stream, schema, "\t" if out.suffix.lower() == ".tsv" else ",")


def _labels_to_arrow(classes: npt.NDArray[Any]) -> pa.Array:
    """Return integers and floats as they are, everything else as text."""
    if classes.dtype.kind in "iuf":
        return numbers_to_arrow(classes)
    return strings_to_arrow([str(label) for label in classes.tolist()])


def _as_bytes(table: pa.Table, options: csv.WriteOptions) -> bytes:
    buffer = pa.BufferOutputStream()
    csv.write_csv(table, buffer, options)
    return bytes(buffer.getvalue().to_pybytes())
