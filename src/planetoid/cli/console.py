"""What a command prints: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.table import Table

__all__ = [
    "has_reader", "plain_table", "prepare_streams", "print_json", "print_lines", "print_message", "print_table",
    "status",
]  # fmt: skip


class PipeOutput(io.FileIO):
    """The end of a pipe that is written to; what nobody reads any more is dropped, as after ``| head``.

    So a command ends in the same way whether its reader has ended before the last line was written or after it.
    """

    has_reader = True

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self.has_reader = False
            return memoryview(data).nbytes


def prepare_streams() -> bool:
    """Make stdout and stderr take any text; return whether results can be written at all.

    Files and pipes get UTF-8, whatever the locale, as the files that planetoid writes are; a terminal that cannot show
    a character gets its number. What is written to a pipe without a reader is dropped.
    """
    if sys.stderr is None:  # closed; print would write to stdout instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
            sys.stdout = _without_broken_pipes(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _without_broken_pipes(sys.stderr)
    return sys.stdout is not None


def has_reader() -> bool:
    """Return whether results still go anywhere: not if stdout is a pipe whose reader has ended."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.has_reader if isinstance(raw, PipeOutput) else True


def _without_broken_pipes(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return the same stream, or one to the same pipe that does not fail if its reader ends."""
    try:
        kind = os.fstat(stream.fileno()).st_mode
    except OSError:  # not a file
        return stream
    if not stat.S_ISFIFO(kind) and not stat.S_ISSOCK(kind):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(PipeOutput(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )


def print_message(message: str, *, quiet: bool = False) -> None:
    """Write a message to stderr."""
    if not quiet:
        print(message, file=sys.stderr)  # noqa: T201


def print_lines(lines: list[str]) -> None:
    """Write lines of text to stdout."""
    print("\n".join(lines))  # noqa: T201


def print_json(data: object) -> None:
    """Write plain data to stdout as JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))  # noqa: T201


def print_table(table: Table) -> None:
    """Write a table to stdout: as wide as the terminal or, without one, as the table."""
    from rich.console import Console

    console = Console()
    if not sys.stdout.isatty():
        console = Console(width=max(80, Console(width=10_000).measure(table).maximum))
    console.print(table)


def plain_table(*left: str, right: tuple[str, ...] = ()) -> Table:
    """Return a table without a frame: columns of text, then columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold", min_width=11)  # the longest short name of a method
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


@contextmanager
def status(text: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; yields a function that changes the text."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(text)) as spinner:
        yield lambda text: spinner.update(Text(text))
