"""Predictions as tables, written piece by piece: CSV, TSV, Parquet, or lines of JSON."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planetoid.errors import ParameterError
from planetoid.utils.atomic import atomic_write

__all__ = ["FORMATS", "PredictionTable", "Sink", "check_format", "opened"]

FORMATS = (".csv", ".tsv", ".parquet")


class PredictionTable:
    """Turns ids and class probabilities into rows of id, label, probability and runner-up.

    Parameters
    ----------
    classes : array
        The label of each column of probabilities.
    all_probabilities : bool
        Add a column ``probability_CLASS`` for each class.
    integer_ids : bool
        Whether ids are integers; else they are text.
    """

    def __init__(self, classes: npt.NDArray[Any], *, all_probabilities: bool, integer_ids: bool) -> None:
        labels = classes.tolist()
        alike = len({type(label) for label in labels}) == 1
        self.labels = pa.array(labels if alike else [str(label) for label in labels])
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
                *((name, pa.float32()) for name in more),
            ]
        )
        self._all = all_probabilities

    def rows(self, ids: Any, probabilities: npt.NDArray[Any]) -> pa.Table:
        """Return a table of some nodes, and count their labels."""
        table = np.asarray(probabilities, dtype=np.float32)
        every = np.arange(len(table))
        best = table.argmax(axis=1)
        others = table.copy()
        others[every, best] = -1.0
        second = others.argmax(axis=1)
        for code, count in enumerate(np.bincount(best, minlength=len(self.labels)).tolist()):
            self.counts[str(self.labels[code].as_py())] += count
        self.n_rows += len(table)
        columns = [
            ids.cast(self._id_type),
            self.labels.take(pa.array(best)),
            pa.array(table[every, best]),
            self.labels.take(pa.array(second)),
            pa.array(table[every, second]),
        ]
        if self._all:
            columns += [pa.array(np.ascontiguousarray(column)) for column in table.T]
        return pa.table(columns, schema=self.schema)


class Sink(ABC):
    """Takes tables, one after the other."""

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Append some rows."""


class TextSink(Sink):
    """CSV or TSV, to a file or to stdout."""

    def __init__(self, stream: Any, schema: pa.Schema, separator: str) -> None:
        from pyarrow import csv

        self._stream = stream
        self._write_csv = csv.write_csv
        self._plain, self._quoted = (
            csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=style)
            for style in ("none", "needed")
        )
        self._header: pa.Table | None = pa.table([[name] for name in schema.names], names=schema.names)

    def write(self, table: pa.Table) -> None:
        if self._header is not None:  # not before there are rows: an error may come first
            header, self._header = self._header, None
            self.write(header)
        try:
            text = self._as_bytes(table, self._plain)
        except pa.ArrowInvalid:  # a text has a separator or a quote in it; then Arrow puts all of them in quotes
            text = self._as_bytes(table, self._quoted)
        self._stream.write(text.decode("utf-8"))

    def _as_bytes(self, table: pa.Table, options: Any) -> bytes:
        buffer = pa.BufferOutputStream()
        self._write_csv(table, buffer, options)
        return bytes(buffer.getvalue().to_pybytes())


class JsonSink(Sink):
    """One JSON object a line, to stdout."""

    def write(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


class ParquetSink(Sink):
    """Parquet, a row group a piece."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self.writer = pq.ParquetWriter(path, schema)

    def write(self, table: pa.Table) -> None:
        self.writer.write_table(table)


def check_format(out: Path) -> None:
    """Refuse a file whose suffix says nothing about its format."""
    if str(out) != "-" and out.suffix.lower() not in FORMATS:
        raise ParameterError(f"--out {out}: predictions are written as {', '.join(FORMATS)}, or - for stdout")


@contextmanager
def opened(out: Path, schema: pa.Schema, *, as_json: bool) -> Iterator[Sink]:
    """Open a file to the side, which gets its name when all is written; ``-`` is stdout."""
    if str(out) == "-":
        yield JsonSink() if as_json else TextSink(sys.stdout, schema, ",")
        sys.stdout.flush()
        return
    with atomic_write(out) as aside:
        if out.suffix.lower() == ".parquet":
            sink = ParquetSink(aside, schema)
            with sink.writer:
                yield sink
            return
        with aside.open("w", encoding="utf-8", newline="") as stream:
            yield TextSink(stream, schema, "\t" if out.suffix.lower() == ".tsv" else ",")
