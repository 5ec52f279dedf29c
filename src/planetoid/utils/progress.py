"""Progress with the remaining time: a bar on terminals, a plain line every 30 seconds elsewhere.

Without ``verbose``, the lines go to the logger ``planetoid.utils.progress`` if it takes messages of level INFO.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Advance", "progress"]

LOGGER = logging.getLogger(__name__)
INTERVAL = 30.0  # seconds between plain lines; what is finished earlier prints none


class Advance(Protocol):
    """Advances the bar by ``amount`` and shows ``note`` beside it."""

    def __call__(self, amount: float, note: str = "") -> None: ...


@contextmanager
def progress(description: str, total: float, verbose: int) -> Iterator[Advance]:
    """Show progress on stderr if ``verbose`` is set."""
    if not verbose and LOGGER.isEnabledFor(logging.INFO):
        with _Lines(description, total, LOGGER.info) as lines:
            yield lines.advance
    elif not verbose:
        yield lambda amount, note="": None
    elif sys.stderr.isatty():
        with _bar(description, total) as advance:
            yield advance
    else:
        with _Lines(description, total, _to_stderr) as lines:
            yield lines.advance


@contextmanager
def _bar(description: str, total: float) -> Iterator[Advance]:
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


class _Lines:
    """Prints a line at intervals, also while a single step takes long."""

    def __init__(self, description: str, total: float, show: Callable[[str], None]) -> None:
        self.show = show
        self.description, self.total = description, total
        self.done, self.note = 0.0, ""
        self.started = time.monotonic()
        self.finished = threading.Event()
        self.thread = threading.Thread(target=self._print_at_intervals, name="progress", daemon=True)

    def advance(self, amount: float, note: str = "") -> None:
        self.done += amount
        self.note = note

    def line(self) -> str:
        """Return what is known now."""
        elapsed = time.monotonic() - self.started
        share = min(1.0, self.done / self.total) if self.total else 1.0
        left = f", about {_duration(elapsed * (1 - share) / share)} left" if 0 < share < 1 else ""
        parts = [self.description, f"{share:.0%} after {_duration(elapsed)}{left}", self.note]
        return ": ".join(part for part in parts if part)

    def _print_at_intervals(self) -> None:
        while not self.finished.wait(INTERVAL):
            self.show(self.line())

    def __enter__(self) -> _Lines:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finished.set()
        self.thread.join()


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def _duration(seconds: float) -> str:
    """Return minutes and seconds, or hours and minutes.

    >>> _duration(75), _duration(7500)
    ('1:15 min', '2:05 h')
    """
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d} min" if whole < 3600 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"
