"""A progress bar that tells the truth, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Advance", "progress"]


class Advance(Protocol):
    """Moves the bar: how much was done, and what to say beside it."""

    def __call__(self, amount: float, note: str = "") -> None: ...


@contextmanager
def progress(what: str, total: float, verbose: int) -> Iterator[Advance]:
    """Show a bar with the time left on stderr, if ``verbose`` and if that is a terminal."""
    if not verbose or not sys.stderr.isatty():
        yield lambda amount, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda amount, note="": bar.update(task, advance=amount, note=note)
