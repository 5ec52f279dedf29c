"""Finished runs in a file, one line each, so that an interruption loses only the runs in progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from planetoid.errors import DataError, PlanetoidError
from planetoid.evaluation import Result
from planetoid.evaluation.workers import each
from planetoid.experiments.cells import RunTask, run_task
from planetoid.utils.line_log import Entry, LineLog

__all__ = ["RunStore"]


class RunStore:
    """Results by the key of their task; runs that are in the file are not repeated.

    The key covers the code of a run (:func:`~planetoid.experiments.code_version.code_version`), so runs of earlier
    code stay in the file but are not shown. The file is only appended to. A line that was cut off is ignored, and its
    run is repeated.

    Parameters
    ----------
    path : str or Path
        A file of JSON lines, created with the first run.
    """

    def __init__(self, path: str | Path) -> None:
        self._log = LineLog(path, "planetoid runs", version=1)
        self.results: dict[str, Result] = {}
        self._take(self._log.read())

    def _take(self, entries: Iterable[Entry]) -> None:
        for number, entry in entries:
            try:
                self.results[entry["key"]] = Result.from_dict(entry["result"])
            except (ValueError, KeyError, TypeError, PlanetoidError) as error:
                path = self._log.path
                raise DataError(
                    f"not a finished run ({error})", hint="remove the line", path=path, line=number
                ) from None

    def missing(self, tasks: Iterable[RunTask]) -> list[RunTask]:
        """Return the tasks that have no result yet, without duplicates."""
        unique = {task.key: task for task in tasks}
        return [task for key, task in unique.items() if key not in self.results]

    def run(self, tasks: list[RunTask], jobs: int, on_result: Callable[[RunTask, Result], None]) -> None:
        """Execute tasks and store each result as soon as it is there; a second process on the file is rejected."""
        if not tasks:
            return
        with self._log.writing():
            for task, result in zip(tasks, each(run_task, tasks, jobs), strict=True):
                self._log.append({"key": task.key, "result": result.as_dict()})
                self.results[task.key] = result
                on_result(task, result)
