"""Text tables, read in batches: bytes in, Arrow columns out, and a slow second pass when something is wrong."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from planetoid.errors import DataError, Fix
from planetoid.io.dialect import ANY_WHITESPACE, detect_dialect, split_line
from planetoid.io.header import guess_decimal, is_number, looks_numeric
from planetoid.io.lines import WHITESPACE, Line, line_blocks, numbered_lines
from planetoid.io.table import Batch, Table, TableOptions

__all__ = ["TextTable"]

NOT_FINITE = re.compile(r"|[+-]?(nan|inf|infinity)", re.IGNORECASE)


class TextTable(Table):
    """A CSV, TSV or similar file, one record per line.

    The fast path hands blocks of whole lines to Arrow. When Arrow rejects one, or a value cannot be right, the file is
    read again line by line to find out where.
    """

    is_text = True

    path: Path

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(path)
        self._joined = options.content != "edges"  # which have no text
        self.dialect = detect_dialect(path, options.header, options.separator, joined=self._joined)
        if not self.dialect.sample:
            raise DataError(
                "the file has a header but no records",
                path=path,
                fix=Fix("header", False, "if its only line is not a header"),
            )
        separator = self.dialect.separator
        # Where tabs separate cells, a line of tabs has empty cells and is not blank.
        self._blank = WHITESPACE if separator == ANY_WHITESPACE else WHITESPACE.replace(separator, "")
        self.header_is_certain = self.dialect.header_is_certain
        self.has_names = self.dialect.names is not None
        self.names = self.dialect.names or tuple(map(str, range(self.dialect.width)))
        self.decimal = options.decimal or guess_decimal(separator, self.dialect.sample)
        if not self.has_names and len(self.dialect.sample[0]) != self.dialect.width:
            self._explain((), (), "the first line differs from the others")

    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        first_row = 0
        for block in line_blocks(self.path, self.dialect.skip, joined=self._joined):
            if not block.strip(self._blank.encode()):
                continue
            table = self._parse(block, texts, numbers)
            columns = [pc.utf8_trim_whitespace(_one_chunk(table.column(str(k)))) for k in texts]
            values = [_one_chunk(table.column(str(k))) for k in numbers]
            yield Batch(first_row, columns, self.finite_matrix(first_row, columns, numbers, values))
            first_row += len(table)

    def is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.dialect.sample if len(row) == self.dialect.width]
        filled = [looks_numeric(cell) for cell in cells if cell]
        return 2 * sum(filled) >= len(filled) > 0  # the others are errors, reported when they are read

    def line(self, row: int) -> int:
        return self._record(row).number

    def cell(self, row: int, column: int) -> str:
        return split_line(self._record(row).text, self.dialect.separator)[column]

    def lines(self) -> Iterator[Line]:
        """Read slowly: each line that is not blank."""
        for number, line in numbered_lines(self.path, self.dialect.skip, joined=self._joined):
            text = line.rstrip("\r\n")
            if text.strip(self._blank):
                yield Line(number, text)

    def _record(self, row: int) -> Line:
        return next(islice(self.lines(), row, None))

    def _parse(self, block: bytes, texts: Sequence[int], numbers: Sequence[int]) -> pa.Table:
        types = {str(k): pa.string() for k in texts} | {str(k): pa.float32() for k in numbers}
        source = _tidy(block, self.dialect.separator)
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(source),
                read_options=arrow_csv.ReadOptions(
                    column_names=list(map(str, range(self.dialect.width))), block_size=len(source) + 1
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.dialect.separator,
                    invalid_row_handler=lambda row: "error" if row.text.strip(self._blank) else "skip",
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=[""],
                    strings_can_be_null=False,
                    decimal_point=self.decimal,
                ),
            )
        except pa.ArrowInvalid as error:
            self._explain(texts, numbers, str(error))
        lines = block.count(b"\n")
        if len(table) != lines:
            lines = sum(1 for line in block.split(b"\n") if line.strip(self._blank.encode()))
        if len(table) != lines:
            self._explain(texts, numbers, "quotes or line ends do not match")
        return table

    def _explain(self, texts: Sequence[int], numbers: Sequence[int], reason: str) -> NoReturn:
        """Find the first line that cannot be read, and raise ``DataError`` about it."""
        width, separator = self.dialect.width, self.dialect.separator
        for k, (number, text) in enumerate(self.lines()):
            if '"' in text:
                self._check_quotes(number, text)
            cells = split_line(text, separator)
            if len(cells) != width:
                hints = ["delete the line if it is a title"] if k == 0 and not self.has_names else []
                if not hints or len(cells) > width:
                    hints.append(f"a cell that contains the separator {separator!r} needs quotes")
                raise DataError(
                    f"{len(cells)} cell{'s' * (len(cells) != 1)}, but other lines have {width}",
                    path=self.path,
                    line=number,
                    hint="; ".join(hints),
                )
            for column in numbers:
                if not NOT_FINITE.fullmatch(cells[column]) and not is_number(cells[column].replace(self.decimal, ".")):
                    self._refuse_number(number, cells, column, texts)
        raise DataError(f"cannot parse the file: {reason}", path=self.path)

    def _refuse_number(self, line: int, cells: Sequence[str], column: int, texts: Sequence[int]) -> NoReturn:
        ids = [cells[k] for k in texts]
        with_point = cells[column].replace(",", ".")
        raise DataError(
            f"{cells[column]!r} is not a number",
            path=self.path,
            line=line,
            column=self.column_name(column),
            node=ids[0] if len(ids) == 1 else None,
            edge=(ids[0], ids[1]) if len(ids) == 2 else None,
            hint=f"write it with a decimal point: {with_point}" if is_number(with_point) else None,
            fix=Fix("decimal", ",", "if all numbers have a decimal comma") if is_number(with_point) else (),
        )

    def _check_quotes(self, line: int, text: str) -> None:
        try:
            split_line(text, self.dialect.separator, strict=True)
        except csv.Error:
            raise DataError(
                "a quote is not closed",
                path=self.path,
                line=line,
                hint='close it on the same line, and write a quote inside a quoted cell as ""',
            ) from None


def _tidy(block: bytes, separator: str) -> bytes:
    """Remove the whitespace that Arrow would misread: runs between cells, and before a quote."""
    if separator == ANY_WHITESPACE:
        block = re.sub(rb"[ \t]+", b" ", block)
        return re.sub(rb"(?m)^ | (?=\r?$)", b"", block)
    if b' "' not in block:
        return block
    before_quote = rb"(^|" + re.escape(separator.encode()) + rb') +"'
    return b"\n".join(
        _requoted(line, before_quote, separator) if re.search(before_quote, line) else line
        for line in block.split(b"\n")
    )


def _requoted(line: bytes, before_quote: bytes, separator: str) -> bytes:
    if line.count(b'"') % 2:  # not closed: let Arrow see that it was opened
        return re.sub(before_quote, rb'\1"', line)
    cells = split_line(line.decode("utf-8", "surrogateescape"), separator)
    text = StringIO()
    csv.writer(text, delimiter=separator, lineterminator="").writerow(cells)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
