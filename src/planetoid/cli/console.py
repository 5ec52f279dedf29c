"""Where a command writes: results to stdout, everything else to stderr, files to the side first."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from planetoid.errors import ParameterError, PlanetoidWarning

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["output_folder", "print_json", "print_table", "tell", "warnings_in_a_line", "written"]


def tell(message: str, *, quiet: bool = False) -> None:
    """Write a message for people to stderr."""
    if not quiet:
        print(message, file=sys.stderr)  # noqa: T201


def print_json(data: Any) -> None:
    """Write plain data to stdout as JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))  # noqa: T201


def print_table(table: Table) -> None:
    """Write a table to stdout: as wide as the terminal, or as the table where there is none."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 120).print(table)


def output_folder(path: Path) -> Path:
    """Make a folder for results, or say at once, before any long work, that it cannot be."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is a file; --out names a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise ParameterError(f"{path} cannot be written to; name another folder with --out")
    return path


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give a name to write to; the file gets its own name when it is complete, and never half."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Show our own warnings as one line without file and line number."""
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
            tell(f"warning: {message}")
        else:
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
