"""``Outcome``: what a run on one split came to; and a journal of them, so that long work resumes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid import __version__
from planetoid.data.dataset import Dataset
from planetoid.errors import DataError
from planetoid.evaluation import Protocol, Result
from planetoid.evaluation.journal import data_digest
from planetoid.utils.line_log import LineLog

__all__ = ["Outcome", "Outcomes", "open_outcomes"]

ARRAYS = {
    "nodes": np.int64, "truth": np.int32, "predicted": np.int32, "confidence": np.float32, "shares": np.float64,
    "found": np.int32, "sizes": np.int32,
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: a result with its predictions, or the error that ended it.

    Attributes
    ----------
    method : str
    seed : int
    result : Result or None
    nodes : int array
        Rows of the test nodes; empty after an error.
    truth, predicted : int arrays
        Codes of their classes.
    confidence : float array
        Probability of the predicted class.
    shares : float array
        How often each class is predicted among all nodes.
    found, sizes : int arrays
        Of nodes with several labels, instead of the four arrays before: how many of a node's labels are predicted; how
        many it has and how many are predicted, together.
    error : str or None
    """

    method: str
    seed: int
    result: Result | None = None
    nodes: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    truth: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    predicted: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    confidence: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    shares: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0, dtype=np.float64))
    found: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    sizes: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    error: str | None = None

    @property
    def has_sets(self) -> bool:
        """Whether the test nodes may have several labels."""
        return len(self.sizes) > 0

    def as_dict(self) -> dict[str, Any]:
        """Return an outcome without an error as plain data."""
        assert self.result is not None
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        return {"method": self.method, "seed": self.seed, "result": self.result.as_dict(), **arrays}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Outcome:
        """Return the outcome that :meth:`as_dict` was called on."""
        arrays: dict[str, Any] = {name: np.array(entry[name], dtype=kind) for name, kind in ARRAYS.items()}
        return cls(entry["method"], entry["seed"], Result.from_dict(entry["result"]), **arrays)


class Outcomes:
    """Outcomes that are finished, by method, split and parameters."""

    def __init__(self, log: LineLog | None = None) -> None:
        self._log = log
        self._found: dict[tuple[str, int, str], Outcome] = {}

    def find(self, method: str, seed: int, parameters: Mapping[str, object]) -> Outcome | None:
        """Return an outcome, ``None`` if it is not finished."""
        return self._found.get((method, seed, _as_text(parameters)))

    def add(self, outcome: Outcome, parameters: Mapping[str, object]) -> None:
        """Record an outcome; what failed is tried again next time."""
        if self._log is not None and outcome.result is not None:
            self._log.append({"parameters": _as_text(parameters), **outcome.as_dict()})

    def take(self, line: int, entry: Mapping[str, Any]) -> None:
        """Add an entry of the file."""
        try:
            outcome = Outcome.from_dict(entry)
            self._found[outcome.method, outcome.seed, entry["parameters"]] = outcome
        except (KeyError, TypeError, ValueError, DataError):
            path = None if self._log is None else self._log.path
            raise DataError("not an outcome of a run", path=path, line=line, hint="name another file") from None


@contextmanager
def open_outcomes(path: Path | None, data: Dataset, protocol: Protocol) -> Iterator[Outcomes]:
    """Yield the outcomes in a file, which belongs to one dataset and protocol, or none."""
    if path is None:
        yield Outcomes()
        return
    log = LineLog(
        path,
        "planetoid outcomes",
        version=2,
        identity=data_digest(data, repr([__version__, protocol, data.class_names])),
        of_what="other data, another kind of splits or another version of planetoid",
    )
    outcomes = Outcomes(log)
    with log.writing() as entries:
        for line, entry in entries:
            outcomes.take(line, entry)
        yield outcomes


def _as_text(parameters: Mapping[str, object]) -> str:
    return json.dumps(parameters, sort_keys=True, default=repr)
