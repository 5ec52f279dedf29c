"""Methods on repeated splits of the known labels: runs that may fail, and their results."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.cli.console import print_message
from planetoid.cli.engines import tasks_on
from planetoid.cli.outcomes import Outcome, open_outcomes
from planetoid.data.dataset import Dataset
from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation import Protocol, run_once
from planetoid.evaluation.comparison import LabelScores, score_label_sets, score_labels
from planetoid.evaluation.metrics import CalibrationBin, calibration_bins
from planetoid.evaluation.workers import each
from planetoid.multi_label import indicator
from planetoid.utils.progress import progress
from planetoid.utils.text import pluralize
from planetoid.utils.threads import available_cores

__all__ = [
    "Outcome", "calibration", "confusion_matrix", "label_scores", "measure", "measure_with_progress", "n_processes",
    "split_protocol",
]  # fmt: skip

N_FOLDS = 5  # train on 80 % of the labels, close to what a model has that is fitted on all of them
TRAIN_SHARE = 0.8  # where labels are held out for early stopping besides
N_BINS = 10


class Task(NamedTuple):
    """One fit of one method on one split."""

    method: str
    data: Dataset
    protocol: Protocol
    seed: int
    parameters: Mapping[str, object]


def split_protocol(
    data: Dataset,
    *,
    train_share: float | None,
    per_class: int | None,
    hold_out: float | None,
    new_nodes: bool,
) -> Protocol:
    """Return how splits are drawn: by default as the folds of a stratified cross-validation over all labels."""
    sizes = np.bincount(data.y[data.y >= 0], minlength=data.n_classes)
    n_labels = int(sizes.sum())
    if data.n_classes < 2:
        raise DataError("at least two classes are required; planetoid check shows what is in the data")
    if train_share is not None and per_class is not None:
        raise ParameterError("--train-share and --per-class are mutually exclusive")
    for option, share in (("--train-share", train_share), ("--hold-out", hold_out)):
        if share is not None and not 0 < share < 1:
            raise ParameterError(f"{option} must be a number in (0, 1), got {share}")
    if per_class is not None and data.multi_label:
        raise ParameterError("--per-class is for one label per node; for several, use --train-share")
    if per_class is not None and sizes.min() < per_class:
        smallest = data.classes.tolist()[int(sizes.argmin())]
        raise DataError(f"--per-class {per_class}: class {smallest!r} has only {pluralize(int(sizes.min()), 'label')}")
    setting: Literal["unseen", "transductive"] = "unseen" if new_nodes else "transductive"
    if train_share is None and per_class is None and hold_out is None and sizes.max() > 1:
        return Protocol(split="folds", setting=setting, n_folds=max(2, min(N_FOLDS, int(sizes.max()))))
    share = TRAIN_SHARE if train_share is None else train_share
    n_train = np.maximum(np.floor(share * sizes + 1e-9), 1) if per_class is None else np.full(len(sizes), per_class)
    rest = n_labels - int(n_train.sum())
    n_val = 0 if hold_out is None else round(hold_out * n_labels)
    if rest - n_val < 1:
        held_out = f" and {n_val:,} for early stopping" if n_val else ""
        raise DataError(
            f"no label is left for testing: of {n_labels:,} labels in {data.n_classes:,} classes, "
            f"{int(n_train.sum()):,} are for training{held_out}",
            hint="add labels, or train on fewer",
        )
    return Protocol(
        split="rate" if per_class is None else "random",
        setting=setting,
        validation=n_val > 0,
        per_class=per_class or 20,
        n_val=n_val,
        n_test=None if data.multi_label else rest - n_val,
        rate=share if per_class is None else None,
    )


def measure(
    methods: Sequence[str],
    data: Dataset,
    protocol: Protocol,
    seeds: Sequence[int],
    parameters: Mapping[str, Mapping[str, object]],
    jobs: int,
    on_outcome: Callable[[Outcome], None],
    journal: Path | None = None,
) -> None:
    """Run every method on every split, and pass on each outcome, errors included.

    What is finished is in the journal, if there is one, before it is passed on, and is not computed again.
    """
    tasks = [Task(method, data, protocol, seed, parameters.get(method, {})) for method in methods for seed in seeds]
    with open_outcomes(journal, data, protocol) as finished:
        known = [finished.find(task.method, task.seed, task.parameters) for task in tasks]
        answers = each(attempt, [task for task, found in zip(tasks, known, strict=True) if found is None], jobs)
        for task, found in zip(tasks, known, strict=True):
            outcome = next(answers) if found is None else found
            if found is None:
                finished.add(outcome, task.parameters)
            on_outcome(outcome)
        next(answers, None)  # ends the processes


def measure_with_progress(
    methods: Sequence[str],
    data: Dataset,
    protocol: Protocol,
    seeds: Sequence[int],
    parameters: Mapping[str, Mapping[str, object]],
    on_outcome: Callable[[Outcome], None],
    *,
    jobs: int,
    engine: str | None,
    scheduler: str | None,
    journal: Path | None,
    quiet: bool,
) -> None:
    """Take :func:`measure` to where the options of a command say; after an interruption, say what is kept."""
    n_tasks = len(methods) * len(seeds)
    jobs = n_processes(jobs, n_tasks)

    def collect(outcome: Outcome) -> None:
        on_outcome(outcome)
        advance(1, f"{outcome.method}, split {outcome.seed}")

    try:
        with tasks_on(engine, scheduler, jobs), progress("", n_tasks, verbose=not quiet) as advance:
            measure(methods, data, protocol, seeds, parameters, jobs, collect, journal)
    except KeyboardInterrupt:
        if journal is not None:
            print_message(f"Finished runs are in {journal}: the same command continues from there.", quiet=quiet)
        raise


def attempt(task: Task) -> Outcome:
    """Run a task; an error becomes part of the outcome, so that other methods continue."""
    try:
        run = run_once(*task)
    except PlanetoidError as error:
        return Outcome(task.method, task.seed, error=str(error))
    except Exception as error:  # a bug in one method is no reason to lose the others
        frame = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error} ({frame.name}, line {frame.lineno})"
        return Outcome(task.method, task.seed, error=message)
    if task.data.Y is not None:
        truth = task.data.Y[run.split.test].toarray()
        predicted = indicator(run.probabilities, run.model.threshold_) > 0
        found, sizes = (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)
        return Outcome(
            task.method,
            task.seed,
            run.result,
            run.split.test,
            found=found.astype(np.int32),
            sizes=sizes.astype(np.int32),
        )
    codes = run.model.classes_[run.probabilities.argmax(axis=1)]
    everywhere = np.bincount(run.model.predict(), minlength=task.data.n_classes)
    return Outcome(
        task.method,
        task.seed,
        run.result,
        run.split.test,
        task.data.y[run.split.test],
        codes.astype(np.int32),
        run.probabilities.max(axis=1).astype(np.float32),
        everywhere / everywhere.sum(),
    )


def n_processes(jobs: int, n_tasks: int) -> int:
    """Return the number of processes: as many as asked for (0: one per core, at most 4), but no more than tasks."""
    return max(1, min(jobs or min(4, available_cores()), n_tasks))


def label_scores(outcomes: Sequence[Outcome]) -> LabelScores:
    """Return how often each label was predicted correctly, over all splits of a method."""
    if any(one.has_sets for one in outcomes):
        return score_label_sets(
            [one.nodes for one in outcomes], [one.found for one in outcomes], [one.sizes for one in outcomes]
        )
    return score_labels([one.nodes for one in outcomes], [one.truth == one.predicted for one in outcomes])


def confusion_matrix(outcomes: Sequence[Outcome], n_classes: int) -> npt.NDArray[np.int64]:
    """Count, over all splits, how often a class (row) was predicted as a class (column)."""
    matrix = np.zeros((n_classes, n_classes), dtype=np.int64)
    for outcome in outcomes:
        np.add.at(matrix, (outcome.truth, outcome.predicted), 1)
    return matrix


def calibration(outcomes: Sequence[Outcome]) -> list[CalibrationBin]:
    """Return the predictions of all splits in bins of confidence."""
    confidence = np.concatenate([one.confidence for one in outcomes])
    correct = np.concatenate([one.truth == one.predicted for one in outcomes])
    return calibration_bins(correct, confidence, N_BINS)
