"""Hyperparameter search on splits of its own, resumable, by optuna's tree-structured Parzen estimator."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.datasets import Dataset
from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation.journal import DEFAULTS, Journal, Trial, data_digest, open_journal
from planetoid.evaluation.protocols import Protocol, run_once
from planetoid.evaluation.results import Spread
from planetoid.evaluation.workers import each
from planetoid.labels import mask_labels
from planetoid.multi_label import check_supported
from planetoid.parameters import Parameters
from planetoid.registry import METHODS
from planetoid.search_space import Categorical, Float, Int, Plain, SearchSpace, Start

if TYPE_CHECKING:
    from types import ModuleType

    import optuna

__all__ = ["Trial", "Tuned", "hide_labels", "tune"]

# Trials that are sampled before the first of them is scored, whatever the number of processes, so that the choice does
# not depend on that number.
BATCH = 8


@dataclass(frozen=True)
class Tuned:
    """The best parameters of a search.

    Attributes
    ----------
    method, dataset, protocol : str
    parameters : dict
        What differs from the defaults, ``fixed`` included; for ``METHODS[method]().set_params(**parameters)``.
    metric : {"accuracy", "micro_f1"}
        What is maximized; micro F1 of several labels per node.
    score : Spread
        Over the splits that they were chosen on: too good to be quoted as a result.
    default : Spread or None
        Score of the defaults on the same splits.
    trials : int
        Number of trials.
    seeds : list of int
        Of the splits.
    """

    method: str
    dataset: str
    protocol: str
    parameters: dict[str, Plain]
    metric: str
    score: Spread
    default: Spread | None
    trials: int
    seeds: list[int]

    def as_dict(self) -> dict[str, object]:
        """Return plain data for ``json.dump``."""
        return asdict(self)


def hide_labels(data: Dataset, rows: npt.ArrayLike) -> Dataset:
    """Return the data without the labels of some nodes, which stay in the graph.

    Splits that are drawn from it never use those labels; with the test nodes of a public split hidden, parameters
    can be chosen without seeing any of their labels.
    """
    kept = np.setdiff1d(np.arange(data.n_nodes), np.asarray(rows, dtype=np.int64))
    Y = None if data.Y is None else mask_labels(data.Y, kept)
    return replace(data, y=mask_labels(data.y, kept), Y=Y, public=None)


def tune(
    method: str,
    data: Dataset,
    *,
    trials: int = 50,
    protocol: Protocol | None = None,
    seeds: Iterable[int] = range(1000, 1003),
    space: SearchSpace | None = None,
    fixed: Mapping[str, Plain] | None = None,
    starts: Iterable[Start] | None = None,
    seed: int = 0,
    jobs: int = 1,
    journal: str | Path | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuned:
    """Search for the best parameters of a method.

    Parameters
    ----------
    method : str
        Short name in ``pl.METHODS``.
    data : Dataset
        Every trial is scored on the test part of splits drawn from it; labels that must stay unseen have to be hidden
        first, see :func:`hide_labels`.
    trials : int
        Total number, those in the journal and the first one, the defaults, included.
    protocol : Protocol, optional
        Default: the paper's random splits.
    seeds : iterable of int
        Of the splits. Use others than those that results are reported on.
    space : dict, optional
        Where to search, by parameter name (nested ones as ``"training__steps"``); default: the method's
        ``search_space``, or for several labels per node what has an effect there.
    fixed : dict, optional
        Parameters that all trials have; they are removed from the space.
    starts : iterable of dict, optional
        Parameters to try first, with defaults for the rest; default: the method's ``search_starts``.
    seed : int
        Of the search.
    jobs : int
        Processes; the choice does not depend on it.
    journal : path, optional
        A file that records the trials, so that an interrupted search resumes and ends with the same result. It
        belongs to one search: with other data, splits, spaces or seeds it is rejected.
    on_trial : callable, optional
        Called with each :class:`Trial`.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(300, 3, 60, seed=0)
    >>> found = tune("lp", data, trials=2, protocol=Protocol(n_val=0, n_test=200), seeds=[7])
    >>> found.trials, found.score.mean >= found.default.mean
    (2, True)
    """
    if trials < 1:
        raise ParameterError(f"trials must be an integer >= 1, got {trials}", parameter="trials")
    fixed = dict(fixed or {})
    defaults = _defaults(method)
    check_supported(data, METHODS[method].__name__, supported=METHODS[method].multi_label)
    searched = METHODS[method].search_space_for(data) if space is None else space
    if not searched and METHODS[method].search_space and space is None:
        raise ParameterError(
            f"{method} has no parameters that have an effect on this data: it has several labels per node and no "
            "features; tune another method, such as graphemb",
            parameter="method",
        )
    if not searched and space is None:
        raise ParameterError(f"{method} has no parameters to tune", parameter="method")
    for name in (*fixed, *searched):
        if name not in defaults:
            raise ParameterError(
                f"{method} has no parameter {name!r}; valid parameters are {', '.join(defaults) or 'none'}",
                parameter=name,
            )
    searched = {name: entry for name, entry in searched.items() if name not in fixed}
    task = _Task(method, data, protocol or Protocol(), list(seeds), fixed)
    with open_journal(journal, lambda: _fingerprint(task, searched, seed)) as ended:
        tried_first = METHODS[method].search_starts if starts is None else tuple(starts)
        search = _Search(task, searched, tried_first, seed, ended)
        for trial in search.run(trials, jobs):
            if on_trial is not None:
                on_trial(trial)
        best = search.best()
    changed = {name: value for name, value in {**best.parameters, **fixed}.items() if defaults[name] != value}
    assert best.score is not None
    return Tuned(
        method=method,
        dataset=data.name,
        protocol=task.protocol.in_words(),
        parameters=changed,
        metric=_metric(data),
        score=best.score,
        default=search.defaults.score,
        trials=len(ended.trials),
        seeds=task.seeds,
    )


def _defaults(method: str) -> dict[str, Plain]:
    """Return the default of every parameter of a method, nested ones by their full name."""
    parameters = METHODS[method]().get_params()
    return {name: value for name, value in parameters.items() if not isinstance(value, Parameters)}


class _Task(NamedTuple):
    method: str
    data: Dataset
    protocol: Protocol
    seeds: list[int]
    parameters: dict[str, Plain]


def _score(task: _Task) -> list[float] | str:
    """Return the scores of a set of parameters, one per split, or why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs = [run_once(task.method, task.data, task.protocol, seed, task.parameters) for seed in task.seeds]
    except (PlanetoidError, FloatingPointError, np.linalg.LinAlgError) as error:
        return str(error) or type(error).__name__
    return [run.result.metrics[_metric(task.data)] for run in runs]


def _metric(data: Dataset) -> str:
    return "micro_f1" if data.multi_label else "accuracy"


def _fingerprint(task: _Task, space: SearchSpace, seed: int) -> str:
    """Return a digest of all that the scores depend on."""
    parts = [task.method, task.protocol, task.seeds, sorted(task.parameters.items()), sorted(space.items()), seed]
    return data_digest(task.data, repr(parts))


class _Search:
    """An optuna study that is asked in batches.

    The study itself is not stored: with the same seed and the scores of the journal it comes to the same trials again,
    so that a search that was interrupted ends as it would have without.
    """

    def __init__(self, task: _Task, space: SearchSpace, starts: Iterable[Start], seed: int, journal: Journal) -> None:
        self.task, self.space, self.journal = task, space, journal
        with _quiet_optuna() as library:
            self.failed = library.trial.TrialState.FAIL
            sampler = library.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=12)
            self.study = library.create_study(direction="maximize", sampler=sampler)
        for start in starts:
            self.study.enqueue_trial(self._from_start(start))

    def _from_start(self, start: Start) -> dict[str, Plain]:
        """Return ``start``, with defaults for the rest, moved into the space where it lies outside."""
        values, inside = {**_defaults(self.task.method), **start}, {}
        for name, entry in self.space.items():
            value = values[name]
            if isinstance(entry, Categorical):
                if value in entry.values:
                    inside[name] = value
            elif isinstance(value, (int, float)):  # not "auto", nor None
                inside[name] = type(entry.low)(min(max(value, entry.low), entry.high))
        return inside

    def run(self, trials: int, jobs: int) -> Iterator[Trial]:
        """Score the defaults, which the space may not contain, and sampled trials; yield those the journal had not."""
        if self.journal.find(DEFAULTS, {}) is None:
            trial = self.journal.add(DEFAULTS, {}, _score(self.task))
            yield replace(trial, parameters=dict(self.task.parameters))
        for first in range(0, trials - 1, BATCH):
            yield from self._run_batch(min(BATCH, trials - 1 - first), jobs)

    def _run_batch(self, count: int, jobs: int) -> Iterator[Trial]:
        """Sample this number of trials, then score them one after the other."""
        with _quiet_optuna():
            asked = [self.study.ask() for _ in range(count)]
            chosen = [{name: _suggest(trial, name, entry) for name, entry in self.space.items()} for trial in asked]
        known = [self.journal.find(trial.number, chosen[k]) for k, trial in enumerate(asked)]
        tasks = [
            self.task._replace(parameters={**chosen[k], **self.task.parameters})
            for k in range(count)
            if known[k] is None
        ]
        answers = each(_score, tasks, jobs)
        for trial, parameters, found in zip(asked, chosen, known, strict=True):
            answer = next(answers) if found is None else found
            ended = self.journal.add(trial.number, parameters, answer) if found is None else None
            if isinstance(answer, str):
                self.study.tell(trial, state=self.failed)
            else:
                self.study.tell(trial, float(np.mean(answer)))
            if ended is not None:
                yield ended
        next(answers, None)  # ends the processes

    def best(self) -> Trial:
        """Return the best trial, the defaults if none is better."""
        ended = [trial for trial in self.journal.trials if trial.score is not None]
        if not ended:
            raise DataError(f"every trial of {self.task.method} failed", hint="fit it once to see why")
        ended.sort(key=lambda trial: trial.number != DEFAULTS)
        return max(ended, key=_mean_score)

    @property
    def defaults(self) -> Trial:
        """The trial of the defaults."""
        return next(trial for trial in self.journal.trials if trial.number == DEFAULTS)


def _mean_score(trial: Trial) -> float:
    assert trial.score is not None
    return trial.score.mean


def _suggest(trial: optuna.Trial, name: str, entry: Float | Int | Categorical) -> Plain:
    if isinstance(entry, Categorical):
        return trial.suggest_categorical(name, list(entry.values))
    if isinstance(entry, Int):
        return trial.suggest_int(name, entry.low, entry.high, log=entry.log)
    return trial.suggest_float(name, entry.low, entry.high, log=entry.log)


@contextlib.contextmanager
def _quiet_optuna() -> Iterator[ModuleType]:
    """Import optuna, and silence its messages and its warnings about experimental options."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield optuna
    finally:
        optuna.logging.set_verbosity(before)
