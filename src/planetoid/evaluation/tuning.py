"""Choose parameters on splits of their own, resumably, by optuna's tree-structured search."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.datasets import Dataset
from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation.protocols import Protocol, run_once
from planetoid.evaluation.results import Spread
from planetoid.evaluation.spaces import SPACES, STARTS, Choice, Space, Whole
from planetoid.evaluation.workers import each
from planetoid.registry import METHODS

__all__ = ["Trial", "Tuned", "hide_labels", "tune"]

# So many trials are asked for before the first of them is answered, whatever the number of processes: the choice
# does not depend on that number.
ASKED_AT_ONCE = 8


@dataclass(frozen=True)
class Trial:
    """One set of parameters and how it did: accuracy over the splits, or why it failed; number -1 are the defaults."""

    number: int
    parameters: dict[str, Any]
    score: Spread | None
    failure: str = ""


@dataclass(frozen=True)
class Tuned:
    """The best parameters that were found.

    Attributes
    ----------
    method, dataset, protocol : str
    parameters : dict
        What differs from the defaults, ``fixed`` included; ready for ``METHODS[method](**parameters)``.
    score : Spread
        Accuracy over the splits that they were chosen on: too good to be quoted as a result.
    default : Spread or None
        Accuracy of the defaults on the same splits.
    trials : int
        How many were tried.
    seeds : list of int
        Of the splits.
    """

    method: str
    dataset: str
    protocol: str
    parameters: dict[str, Any]
    score: Spread
    default: Spread | None
    trials: int
    seeds: list[int]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for ``json.dump``."""
        return asdict(self)


def hide_labels(data: Dataset, rows: npt.ArrayLike) -> Dataset:
    """Return the data without the labels of some nodes, which stay in the graph.

    Splits that are drawn from it never touch those labels; with the test nodes of a public split hidden, parameters
    can be chosen without seeing one of their labels.
    """
    y = data.y.copy()
    y[np.asarray(rows, dtype=np.int64)] = -1
    return replace(data, y=y, public=None)


def tune(
    method: str,
    data: Dataset,
    *,
    trials: int = 50,
    protocol: Protocol | None = None,
    seeds: Iterable[int] = range(1000, 1003),
    space: Space | None = None,
    fixed: Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    journal: str | Path | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuned:
    """Try parameters of a method and return the best.

    Parameters
    ----------
    method : str
        Short name in ``pl.METHODS``.
    data : Dataset
        Every trial is measured on the test part of splits drawn from it; what must stay unseen has to be hidden
        first, see :func:`hide_labels`.
    trials : int
        How many there are in the end, those in the journal and the first, the defaults, included.
    protocol : Protocol, optional
        The paper's random splits if not given.
    seeds : iterable of int
        Of the splits. Use others than those that results are reported on.
    space : dict, optional
        What to try, see :data:`planetoid.evaluation.spaces.SPACES`.
    fixed : dict, optional
        Parameters that all trials have; they leave the space.
    seed : int
        Of the search.
    jobs : int
        Processes; the choice does not depend on it.
    journal : path, optional
        A file that keeps the trials, so that an interrupted search goes on.
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
        raise ParameterError(f"trials={trials}; there must be one at least")
    fixed = dict(fixed or {})
    known = METHODS[method]().get_params(deep=False)
    searched = {name: entry for name, entry in (space or SPACES[method]).items() if name not in fixed}
    for name in (*fixed, *searched):
        if name not in known:
            raise ParameterError(f"{method} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
    protocol, listed = protocol or Protocol(), list(seeds)
    search = _Search(method, data, protocol, listed, searched, fixed, seed, journal)
    first = search.try_defaults()
    if first is not None and on_trial is not None:
        on_trial(first)
    while (left := trials - 1 - search.done) > 0:
        for trial in search.answer(min(ASKED_AT_ONCE, left), jobs):
            if on_trial is not None:
                on_trial(trial)
    parameters, score = search.best()
    changed = {name: value for name, value in {**parameters, **fixed}.items() if known[name] != value}
    return Tuned(
        method, data.name, protocol.in_words(), changed, score, search.score_of_defaults(), search.done + 1, listed
    )


class _Task(NamedTuple):
    method: str
    data: Dataset
    protocol: Protocol
    seeds: list[int]
    parameters: dict[str, Any]


def _score(task: _Task) -> list[float] | str:
    """Return the accuracies of a set of parameters, or why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs = [run_once(task.method, task.data, task.protocol, seed, task.parameters) for seed in task.seeds]
    except (PlanetoidError, FloatingPointError, np.linalg.LinAlgError) as error:
        return str(error) or type(error).__name__
    return [run.result.metrics["accuracy"] for run in runs]


class _Search:
    """An optuna study, asked in batches."""

    def __init__(
        self, method: str, data: Dataset, protocol: Protocol, seeds: list[int], space: Space, fixed: Mapping[str, Any],
        seed: int, journal: str | Path | None,
    ) -> None:  # fmt: skip
        self.task = _Task(method, data, protocol, seeds, dict(fixed))
        self.space = space
        with _quiet_optuna() as optuna:
            self.complete = optuna.trial.TrialState.COMPLETE
            self.failed = optuna.trial.TrialState.FAIL
            storage = None
            if journal is not None:
                Path(journal).parent.mkdir(parents=True, exist_ok=True)
                backend = optuna.storages.journal.JournalFileBackend(str(journal))
                storage = optuna.storages.JournalStorage(backend)
            self.study = optuna.create_study(
                study_name=f"{method} on {data.name}", direction="maximize", storage=storage, load_if_exists=True
            )
            for trial in self.study.get_trials(deepcopy=False):
                if not trial.state.is_finished() and trial.number not in self._waiting():
                    self.study.tell(trial.number, state=self.failed)  # its process ended before it did
            self.study.sampler = optuna.samplers.TPESampler(
                seed=seed + self.done, multivariate=True, constant_liar=True, n_startup_trials=12
            )
        if not self.study.get_trials(deepcopy=False):
            for start in STARTS.get(method, ()):
                self.study.enqueue_trial(self._defaults(start))

    def _waiting(self) -> set[int]:
        return {trial.number for trial in self.study.get_trials(deepcopy=False) if trial.state.name == "WAITING"}

    def _defaults(self, start: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults of the method but for ``start``, moved into the space where they lie outside."""
        known, defaults = {**METHODS[self.task.method]().get_params(deep=False), **start}, {}
        for name, entry in self.space.items():
            value = known[name]
            if isinstance(entry, Choice):
                if value in entry.values:
                    defaults[name] = value
            elif isinstance(value, (int, float)):  # not "auto", nor None
                defaults[name] = type(entry.low)(min(max(value, entry.low), entry.high))
        return defaults

    @property
    def done(self) -> int:
        """How many trials have ended."""
        return sum(trial.state.is_finished() for trial in self.study.get_trials(deepcopy=False))

    def try_defaults(self) -> Trial | None:
        """Run the defaults, which the space may not contain, unless the journal has them."""
        if "defaults" in self.study.user_attrs:
            return None
        answer = _score(self.task)
        self.study.set_user_attr("defaults", answer)
        failure = answer if isinstance(answer, str) else ""
        return Trial(-1, dict(self.task.parameters), self.score_of_defaults(), failure)

    def answer(self, count: int, jobs: int) -> Iterator[Trial]:
        """Ask for so many trials, run them, and tell what came out."""
        with _quiet_optuna():
            asked = [self.study.ask() for _ in range(count)]
            chosen = [{name: _suggest(trial, name, entry) for name, entry in self.space.items()} for trial in asked]
        tasks = [self.task._replace(parameters={**parameters, **self.task.parameters}) for parameters in chosen]
        for trial, parameters, answer in zip(asked, chosen, each(_score, tasks, jobs), strict=True):
            if isinstance(answer, str):
                self.study.tell(trial, state=self.failed)
                yield Trial(trial.number, parameters, None, answer)
            else:
                trial.set_user_attr("accuracies", answer)
                self.study.tell(trial, float(np.mean(answer)))
                yield Trial(trial.number, parameters, Spread.of(answer))

    def best(self) -> tuple[dict[str, Any], Spread]:
        """Return the parameters of the best trial and their score."""
        ended = [trial for trial in self.study.get_trials(deepcopy=False) if trial.state == self.complete]
        default = self.score_of_defaults()
        if not ended and default is None:
            raise DataError(f"no trial of {self.task.method} came to an end; fit it once to see why")
        best = max(ended, key=lambda trial: trial.value, default=None)
        if best is None or (default is not None and default.mean >= best.value):
            assert default is not None
            return {}, default
        return dict(best.params), Spread.of(best.user_attrs["accuracies"])

    def score_of_defaults(self) -> Spread | None:
        """Return the score of the defaults, ``None`` if they failed."""
        answer = self.study.user_attrs["defaults"]
        return None if isinstance(answer, str) else Spread.of(answer)


def _suggest(trial: Any, name: str, entry: Any) -> Any:
    if isinstance(entry, Choice):
        return trial.suggest_categorical(name, list(entry.values))
    if isinstance(entry, Whole):
        return trial.suggest_int(name, entry.low, entry.high, log=entry.log)
    return trial.suggest_float(name, entry.low, entry.high, log=entry.log)


@contextlib.contextmanager
def _quiet_optuna() -> Iterator[Any]:
    """Import optuna, and keep its messages and its warnings of experimental options to itself."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield optuna
    finally:
        optuna.logging.set_verbosity(before)
