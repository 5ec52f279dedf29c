"""Methods on repeated splits of the known labels: runs that may fail, and what they come to."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.cli.console import counted
from planetoid.cli.inputs import Data
from planetoid.datasets import Dataset
from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation import Protocol, Result, run_once
from planetoid.evaluation.metrics import calibration_bins
from planetoid.evaluation.workers import each
from planetoid.utils.threads import available_cores

__all__ = ["Outcome", "calibration", "confusion", "draw_protocol", "measure", "processes"]

TRAIN_SHARE = 0.8  # of the known labels: close to what a model will have that learns from all of them
N_BINS = 10


class Task(NamedTuple):
    """One fit of one method on one split."""

    method: str
    data: Dataset
    protocol: Protocol
    seed: int
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a task gave: a result with its predictions, or the reason of its failure.

    Attributes
    ----------
    method : str
    seed : int
    result : Result or None
    truth, predicted : int arrays
        Codes of the classes of the test nodes; none after a failure.
    confidence : float array
        Probability of the class that was predicted.
    error : str or None
    """

    method: str
    seed: int
    result: Result | None = None
    truth: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    predicted: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    confidence: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    error: str | None = None


def draw_protocol(
    data: Data,
    *,
    train_share: float | None,
    per_class: int | None,
    hold_out: float | None,
    new_nodes: bool,
) -> Protocol:
    """Return how splits are drawn: by default four fifths of each class are learned from, the rest is for the test."""
    codes, classes = data.coded
    n_labels = int((codes >= 0).sum())
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    if len(classes) < 2:
        raise DataError("there have to be two classes at least; planetoid check tells what is in the data")
    if train_share is not None and per_class is not None:
        raise ParameterError("--train-share and --per-class are two ways to the same thing; give one")
    for option, share in (("--train-share", train_share), ("--hold-out", hold_out)):
        if share is not None and not 0 < share < 1:
            raise ParameterError(f"{option} {share}: it is a share, above 0 and below 1")
    if per_class is not None and sizes.min() < per_class:
        smallest = classes.tolist()[int(sizes.argmin())]
        raise DataError(f"--per-class {per_class}: class {smallest!r} has {counted(int(sizes.min()), 'label')}")
    share = TRAIN_SHARE if train_share is None else train_share
    wanted = np.maximum(np.floor(share * sizes + 1e-9), 1) if per_class is None else np.full(len(sizes), per_class)
    rest = n_labels - int(wanted.sum())
    n_val = 0 if hold_out is None else round(hold_out * n_labels)
    if rest - n_val < 1:
        raise DataError(
            f"{n_labels:,} labels of {len(classes):,} classes leave nothing to measure on: {int(wanted.sum()):,} are "
            f"to learn from{f' and {n_val:,} to stop by' if n_val else ''}; get more labels, or learn from fewer"
        )
    return Protocol(
        split="rate" if per_class is None else "random",
        setting="unseen" if new_nodes else "transductive",
        validation=n_val > 0,
        per_class=per_class or 0,
        n_val=n_val,
        n_test=rest - n_val,
        rate=share if per_class is None else None,
    )


def measure(
    methods: Sequence[str],
    data: Dataset,
    protocol: Protocol,
    seeds: Sequence[int],
    parameters: Mapping[str, Mapping[str, Any]],
    jobs: int,
    on_outcome: Callable[[Outcome], None],
) -> None:
    """Run every method on every split and hand over what comes out, failures too."""
    tasks = [Task(method, data, protocol, seed, parameters.get(method, {})) for method in methods for seed in seeds]
    for outcome in each(attempt, tasks, jobs):
        on_outcome(outcome)


def attempt(task: Task) -> Outcome:
    """Run a task; an error becomes part of the outcome, so that other methods go on."""
    try:
        run = run_once(*task)
    except PlanetoidError as error:
        return Outcome(task.method, task.seed, error=str(error))
    except Exception as error:  # one method's fault is no reason to lose the others
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return Outcome(task.method, task.seed, error=told)
    codes = run.model.classes_[run.probabilities.argmax(axis=1)]
    return Outcome(
        task.method,
        task.seed,
        run.result,
        task.data.y[run.split.test],
        codes.astype(np.int32),
        run.probabilities.max(axis=1).astype(np.float32),
    )


def processes(jobs: int, n_tasks: int) -> int:
    """Return how many processes to use: as many as asked for, or up to four, but none without a task."""
    return max(1, min(jobs or min(4, available_cores()), n_tasks))


def confusion(outcomes: Sequence[Outcome], n_classes: int) -> npt.NDArray[np.int64]:
    """Count, over all splits, how often nodes of a class (row) were given a class (column)."""
    table = np.zeros((n_classes, n_classes), dtype=np.int64)
    for outcome in outcomes:
        np.add.at(table, (outcome.truth, outcome.predicted), 1)
    return table


def calibration(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return, for each tenth of the confidence, how many predictions fall there and how many of them are right."""
    confidence = np.concatenate([one.confidence for one in outcomes])
    right = np.concatenate([one.truth == one.predicted for one in outcomes])
    return [
        {"from": one.low, "to": one.high, "count": one.count, "confidence": one.confidence, "accuracy": one.accuracy}
        for one in calibration_bins(right, confidence, N_BINS)
    ]
