"""Text tables in pieces: bytes in, Arrow columns out, and a slow second look when something is wrong."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from planetoid.errors import DataError
from planetoid.io.files import open_binary
from planetoid.io.header import is_meant_as_number, is_number
from planetoid.io.layout import BLANKS, WHITESPACE, decode_line, sniff_layout, split_line
from planetoid.io.table import Batch, Table

__all__ = ["TextTable", "line_blocks", "numbered_lines"]

BLOCK_BYTES = 2**22


class TextTable(Table):
    """A CSV, TSV or similar file, one record a line.

    The fast way hands blocks of whole lines to Arrow. When Arrow refuses one,
    or a value cannot be right, the file is read again line by line to say
    where.
    """

    is_text = True

    def __init__(self, path: Path, header: bool | None, separator: str | None) -> None:
        self.path = path
        self.layout = sniff_layout(path, header, separator)
        if not self.layout.sample:
            raise DataError(f"{path} has a header but no line below it (if it is no header, say header=False)")
        separator = self.layout.separator
        self._blanks = BLANKS if separator == WHITESPACE else BLANKS.replace(separator, "")  # tabs alone: empty cells
        self.header_known = self.layout.header_known
        self.has_names = self.layout.names is not None
        self.names = self.layout.names or tuple(map(str, range(self.layout.width)))

    def batches(self, texts: Sequence[int], numbers: Sequence[int] = ()) -> Iterator[Batch]:
        first_row = 0
        for block in line_blocks(self.path, self.layout.skip):
            if not block.strip(self._blanks.encode()):
                continue
            table = self._parse(block, texts, numbers)
            columns = [pc.utf8_trim_whitespace(_whole(table.column(str(k)))) for k in texts]
            values = [_whole(table.column(str(k))) for k in numbers]
            yield Batch(first_row, columns, self.finite(first_row, columns, numbers, values))
            first_row += len(table)

    def is_numeric(self, column: int) -> bool:
        cells = [row[column] for row in self.layout.sample if len(row) == self.layout.width]
        filled = [is_meant_as_number(cell) for cell in cells if cell]
        return 2 * sum(filled) >= len(filled) > 0  # the others are mistakes, to be told of when they are met

    def place(self, row: int) -> str:
        return f"line {self._record(row)[0]}"

    def cell(self, row: int, column: int) -> str:
        return self._record(row)[1][column]

    def _parse(self, block: bytes, texts: Sequence[int], numbers: Sequence[int]) -> Any:
        types = {str(k): pa.string() for k in texts} | {str(k): pa.float32() for k in numbers}
        source = _tidy(block, self.layout.separator)
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(source),
                read_options=arrow_csv.ReadOptions(
                    column_names=list(map(str, range(self.layout.width))), block_size=len(source) + 1
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.layout.separator,
                    invalid_row_handler=lambda row: "error" if row.text.strip(self._blanks) else "skip",
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            self._explain(texts, numbers, str(error))
        lines = block.count(b"\n")
        if len(table) != lines:
            lines = sum(1 for line in block.split(b"\n") if line.strip(self._blanks.encode()))
        if len(table) != lines:
            self._explain(texts, numbers, "its quotes or line ends are out of step")
        return table

    def lines(self) -> Iterator[tuple[int, str]]:
        """Read slowly: the number and the text of each line that has any."""
        for number, line in numbered_lines(self.path, self.layout.skip):
            text = decode_line(self.path, number, line).rstrip("\r\n")
            if text.strip(self._blanks):
                yield number, text

    def _record(self, row: int) -> tuple[int, list[str]]:
        number, text = next(islice(self.lines(), row, None))
        return number, split_line(text, self.layout.separator)

    def _explain(self, texts: Sequence[int], numbers: Sequence[int], reason: str) -> NoReturn:
        """Find the first line that cannot be read, and raise a ``DataError`` about it."""
        width = self.layout.width
        for line, text in self.lines():
            where = f"{self.path}, line {line}"
            if '"' in text:
                self._check_quotes(where, text)
            cells = split_line(text, self.layout.separator)
            if len(cells) != width:
                raise DataError(
                    f"{where}: {len(cells)} cell{'s' * (len(cells) != 1)} where other lines have {width} "
                    f"(separator {self.layout.separator!r}; a cell that contains it needs quotes)"
                )
            for column in numbers:
                if not re.fullmatch(r"(?i)|[+-]?(nan|inf|infinity)", cells[column]) and not is_number(cells[column]):
                    raise DataError(
                        f"{where} ({', '.join(repr(cells[k]) for k in texts)}), {self.column(column)}: "
                        f"{cells[column]!r} is not a number{_hint(cells[column])}"
                    )
        raise DataError(f"{self.path} cannot be read: {reason}")

    def _check_quotes(self, where: str, text: str) -> None:
        try:
            split_line(text, self.layout.separator, strict=True)
        except csv.Error:
            raise DataError(
                f"{where}: a quote is opened and not closed; close it on the same line "
                "(a record is one line), and write a quote inside a quoted cell twice"
            ) from None


def line_blocks(path: Path, skip: int, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield a file from after ``skip`` lines on, in blocks of whole lines of about ``size`` bytes."""
    with open_binary(path) as file:
        for _ in range(skip):
            file.readline()
        rest: list[bytes] = []
        while piece := file.read(size):
            cut = piece.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, piece[:cut]])
                rest = []
            rest.append(piece[cut:])
        last = b"".join(rest)
        if last:
            yield last + b"\n"


def numbered_lines(path: Path, skip: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of each line after ``skip`` lines."""
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            if number > skip:
                yield number, line


def _tidy(block: bytes, separator: str) -> bytes:
    """Take out the blanks that Arrow would misread: runs between cells, and those before a quote."""
    if separator == WHITESPACE:
        block = re.sub(rb"[ \t]+", b" ", block)
        return re.sub(rb"(?m)^ | (?=\r?$)", b"", block)
    if b' "' not in block:
        return block
    before_quote = rb"(^|" + re.escape(separator.encode()) + rb') +"'
    return b"\n".join(
        _quoted_anew(line, before_quote, separator) if re.search(before_quote, line) else line
        for line in block.split(b"\n")
    )


def _quoted_anew(line: bytes, before_quote: bytes, separator: str) -> bytes:
    if line.count(b'"') % 2:  # not closed: let Arrow see that it was opened
        return re.sub(before_quote, rb'\1"', line)
    cells = split_line(line.decode("utf-8", "surrogateescape"), separator)
    text = StringIO()
    csv.writer(text, delimiter=separator, lineterminator="").writerow(cells)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _hint(cell: str) -> str:
    return f" (with a decimal point: {cell.replace(',', '.')})" if is_number(cell.replace(",", ".")) else ""


def _whole(column: Any) -> Any:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
