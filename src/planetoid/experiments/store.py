"""Finished runs in a file, one line each, so that an interruption loses at most the runs that were under way."""

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
    """Results by the key of their task; those that are in the file are not made again."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.results: dict[str, Result] = {}
        if self.path.exists():
            whole = self._read()
            self.path.write_text("".join(whole), encoding="utf-8")  # without the half line of a run that was cut off

    def _read(self) -> list[str]:
        whole = []
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        for number, line in enumerate(lines):
            try:
                entry = json.loads(line)
                self.results[entry["key"]] = Result.from_dict(entry["result"])
            except (ValueError, KeyError, TypeError, PlanetoidError) as error:
                if number == len(lines) - 1:
                    continue
                raise DataError(f"{self.path}, line {number + 1} is no finished run ({error}); remove it") from None
            whole.append(line)
        return whole

    def missing(self, tasks: Iterable[RunTask]) -> list[RunTask]:
        """Return the tasks that are still to be done, each once."""
        unique = {task.key: task for task in tasks}
        return [task for key, task in unique.items() if key not in self.results]

    def make(self, tasks: list[RunTask], jobs: int, on_result: Callable[[RunTask, Result], None]) -> None:
        """Run tasks that are missing and keep what comes out at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for task, result in zip(tasks, each(run_task, tasks, jobs), strict=True):
                self.results[task.key] = result
                file.write(json.dumps({"key": task.key, "result": result.as_dict()}) + "\n")
                file.flush()
                on_result(task, result)
