"""Finished runs in a file, one line each, so that an interruption loses only the runs in progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from planetoid.errors import DataError, PlanetoidError
from planetoid.evaluation import Result
from planetoid.evaluation.workers import each
from planetoid.experiments.cells import RunTask, run_task

__all__ = ["RunStore"]


class RunStore:
    """Results by the key of their task; runs that are in the file are not repeated.

    The key covers the code of a run (:func:`~planetoid.experiments.code_version.code_version`), so runs of earlier
    code stay in the file but are not shown.

    Parameters
    ----------
    path : str or Path
        A file of JSON lines, created with the first run.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.results: dict[str, Result] = {}
        if self.path.exists():
            complete = self._read()
            self.path.write_text("".join(complete), encoding="utf-8")  # drops the last line if it was cut off

    def _read(self) -> list[str]:
        complete = []
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                self.results[entry["key"]] = Result.from_dict(entry["result"])
            except (ValueError, KeyError, TypeError, PlanetoidError) as error:
                if number == len(lines):
                    continue
                raise DataError(
                    f"not a finished run ({error})", hint="remove the line", path=self.path, line=number
                ) from None
            complete.append(line)
        return complete

    def missing(self, tasks: Iterable[RunTask]) -> list[RunTask]:
        """Return the tasks that have no result yet, without duplicates."""
        unique = {task.key: task for task in tasks}
        return [task for key, task in unique.items() if key not in self.results]

    def run(self, tasks: list[RunTask], jobs: int, on_result: Callable[[RunTask, Result], None]) -> None:
        """Execute tasks and store each result as soon as it is there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for task, result in zip(tasks, each(run_task, tasks, jobs), strict=True):
                self.results[task.key] = result
                file.write(json.dumps({"key": task.key, "result": result.as_dict()}) + "\n")
                file.flush()
                on_result(task, result)
