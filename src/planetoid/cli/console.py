"""Where a command writes: results to stdout, everything else to stderr, files to the side first."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from planetoid.errors import ParameterError, PlanetoidWarning

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "check_output",
    "check_place",
    "counted",
    "in_options",
    "noted",
    "output_folder",
    "print_json",
    "print_lines",
    "print_table",
    "simple_table",
    "tell",
    "warnings_in_a_line",
    "why_not",
    "working",
]

# What a message of the library calls by its name in Python, and its name on the command line.
IN_OPTIONS = (
    ("naming the features wanted, names=[...]", "--ignore NAME"),
    ('say format="table" or format="tokens"', "say --features-format table or --features-format tokens"),
    ("pass header=True (header=False: it is none)", "say --header FILE (--no-header FILE: it is none)"),
    ("say header=False", "say --no-header FILE"),
    ("Say label_column=...", "Say --label-column NAME"),
    ("pass overwrite=True to replace it", "--force replaces it"),
    ("leave it out by --ignore", "leave it out with --ignore"),
)


def in_options(message: str) -> str:
    """Put a message of the library in terms of the command line, on one line.

    >>> in_options("there is a model in m already; pass overwrite=True to replace it")
    'there is a model in m already; --force replaces it'
    """
    for python, option in IN_OPTIONS:
        message = message.replace(python, option)
    return " ".join(message.split())


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a count and its noun.

    >>> counted(1, "label"), counted(2000, "label"), counted(0, "class", "classes")
    ('1 label', '2,000 labels', '0 classes')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def tell(message: str, *, quiet: bool = False) -> None:
    """Write a message for people to stderr."""
    if not quiet:
        print(message, file=sys.stderr)  # noqa: T201


def print_lines(lines: list[str]) -> None:
    """Write lines of text to stdout."""
    print("\n".join(lines))  # noqa: T201


def print_json(data: Any) -> None:
    """Write plain data to stdout as JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))  # noqa: T201


def print_table(table: Table) -> None:
    """Write a table to stdout: as wide as the terminal, or as the table where there is none."""
    from rich.console import Console

    console = Console()
    if not sys.stdout.isatty():
        console = Console(width=max(80, Console(width=10_000).measure(table).maximum))
    console.print(table)


def simple_table(*left: str, right: tuple[str, ...] = ()) -> Table:
    """Return a table without lines around it: columns of text, then columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold", min_width=11)  # a method's name, in one piece
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def why_not(reasons: dict[str, str]) -> list[str]:
    """Return a line a reason, with the methods that it keeps out.

    >>> why_not({"feat": "it needs features", "lp": "it needs a graph", "tsvm": "it needs features"})
    ['not feat, tsvm: it needs features', 'not lp: it needs a graph']
    """
    kept_out: dict[str, list[str]] = {}
    for method, reason in reasons.items():
        kept_out.setdefault(reason, []).append(method)
    return [f"not {', '.join(methods)}: {reason}" for reason, methods in kept_out.items()]


def check_output(path: Path, *, force: bool) -> None:
    """Say at once, before any long work, that a file cannot be written or is not to be overwritten."""
    if path.is_dir():
        raise ParameterError(f"{path} is a folder; --out names a file")
    if path.exists() and not force:
        raise ParameterError(f"{path} exists; --force replaces it")
    check_place(path)


def check_place(path: Path) -> None:
    """Say at once that nothing can be written at a path, whose folders need not exist yet."""
    folder = path.absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise ParameterError(f"{path} cannot be written: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ParameterError(f"{path} cannot be written: there is no right to write to {folder}")


def output_folder(path: Path) -> Path:
    """Make a folder for results, or say at once, before any long work, that it cannot be."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is a file; --out names a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise ParameterError(f"{path} cannot be written to; name another folder with --out")
    return path


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something goes on; the function given changes the words."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)) as status:
        yield lambda text: status.update(Text(text))


@contextmanager
def noted(notes: list[str], *, quiet: bool) -> Iterator[None]:
    """Add each of our own warnings to ``notes``, once, and tell it."""

    def note(text: str) -> None:
        if text not in notes:
            notes.append(text)
            tell(f"warning: {text}", quiet=quiet)

    with _warnings_to(note):
        warnings.simplefilter("always", PlanetoidWarning)
        yield


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Show our own warnings as one line without file and line number."""
    with _warnings_to(lambda text: tell(f"warning: {text}")):
        yield


@contextmanager
def _warnings_to(receive: Callable[[str], None]) -> Iterator[None]:
    """Hand the text of our own warnings to a function; others are shown as usual."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, PlanetoidWarning):
            receive(in_options(str(message)))
        else:
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
