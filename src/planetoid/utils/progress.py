"""A progress bar with the remaining time, shown on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Advance", "progress"]


class Advance(Protocol):
    """Advances the bar by ``amount`` and shows ``note`` beside it."""

    def __call__(self, amount: float, note: str = "") -> None: ...


@contextmanager
def progress(description: str, total: float, verbose: int) -> Iterator[Advance]:
    """Show a progress bar on stderr if ``verbose`` is set and stderr is a terminal."""
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
        task = bar.add_task(description, total=total, note="")
        yield lambda amount, note="": bar.update(task, advance=amount, note=note)
