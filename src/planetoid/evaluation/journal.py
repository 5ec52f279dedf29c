"""``Journal``: the trials of a search and their scores, in a file if there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.evaluation.results import Spread
from planetoid.search_space import Plain
from planetoid.utils.hashing import sha256_of_arrays
from planetoid.utils.line_log import Entry, LineLog

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.data.dataset import Dataset

__all__ = ["DEFAULTS", "Answer", "Journal", "Trial", "data_digest", "open_journal"]

Answer: TypeAlias = "list[float] | str"  # scores on the splits, or why there are none
DEFAULTS = -1  # number of the trial of the defaults


@dataclass(frozen=True)
class Trial:
    """One set of parameters and its score over the splits, or why it failed; number -1 are the defaults."""

    number: int
    parameters: dict[str, Plain]
    score: Spread | None
    failure: str = ""


class Journal:
    """Trials that have ended, in their order; each is written to the file, if there is one, before it counts."""

    def __init__(self, log: LineLog | None = None) -> None:
        self._log = log
        self._answers: dict[tuple[int, str], Answer] = {}
        self.trials: list[Trial] = []

    def find(self, number: int, parameters: dict[str, Plain]) -> Answer | None:
        """Return the answer of a trial, ``None`` if it has not ended."""
        return self._answers.get((number, _as_text(parameters)))

    def add(self, number: int, parameters: dict[str, Plain], answer: Answer) -> Trial:
        """Record a trial that has ended."""
        if self._log is not None:
            self._log.append({"number": number, "parameters": parameters, "answer": answer})
        return self._keep(number, parameters, answer)

    def take(self, entries: list[Entry]) -> None:
        """Add the trials of a file."""
        for line, entry in entries:
            match entry:
                case {"number": int(number), "parameters": dict(parameters), "answer": str() | list() as answer}:
                    self._keep(number, parameters, answer)
                case _:
                    raise DataError("not a trial", path=None if self._log is None else self._log.path, line=line)

    def _keep(self, number: int, parameters: dict[str, Plain], answer: Answer) -> Trial:
        if isinstance(answer, str):
            trial = Trial(number, parameters, None, answer)
        else:
            trial = Trial(number, parameters, Spread.of(answer))
        self._answers[number, _as_text(parameters)] = answer
        self.trials.append(trial)
        return trial


@contextmanager
def open_journal(path: str | Path | None, fingerprint: Callable[[], str]) -> Iterator[Journal]:
    """Yield the journal in a file, which belongs to one search and to one process at a time, or an empty one.

    ``fingerprint`` is a digest of all that the scores depend on.
    """
    if path is None:
        yield Journal()
        return
    log = LineLog(
        path,
        "planetoid journal",
        version=1,
        identity=fingerprint(),
        of_what="another search (other data, splits, parameters or seed)",
    )
    journal = Journal(log)
    with log.writing() as entries:
        journal.take(entries)
        yield journal


def data_digest(data: Dataset, more: str) -> str:
    """Return a digest of all of a dataset that scores depend on, and of a text that says what else they depend on.

    >>> from planetoid.datasets import make_citation
    >>> one, other = make_citation(60, seed=0), make_citation(60, seed=1)
    >>> data_digest(one, "") == data_digest(one, ""), data_digest(one, "") == data_digest(other, "")
    (True, False)
    """
    arrays: list[npt.ArrayLike | None] = [data.y, data.graph.indptr, data.graph.indices, data.graph.weights]
    if data.X is not None:
        arrays += [data.X] if isinstance(data.X, np.ndarray) else [data.X.indptr, data.X.indices, data.X.data]
    if data.Y is not None:
        arrays += [data.Y.indptr, data.Y.indices]
    if data.public is not None:
        arrays += [data.public.train, data.public.val, data.public.test]
    shapes = [None if array is None else np.shape(array) for array in arrays]
    return sha256_of_arrays(arrays, repr([more, shapes]).encode())


def _as_text(parameters: dict[str, Plain]) -> str:
    return json.dumps(parameters, sort_keys=True)
