"""Run methods over seeds, showing each what the protocol allows and nothing else."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.datasets import Dataset, Split
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator import GraphClassifier
from planetoid.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from planetoid.evaluation.results import Result
from planetoid.evaluation.workers import each
from planetoid.labels import mask_labels
from planetoid.parameters import Parameters
from planetoid.registry import METHODS

__all__ = ["Protocol", "Run", "evaluate", "run_once", "what_it_uses"]

_SETTINGS = {
    "transductive": "test nodes in the graph",
    "features": "test nodes in the graph while fitting, predicted from their features alone",
    "unseen": "test nodes and their edges unseen while fitting, predicted from their features",
}


@dataclass(frozen=True)
class Protocol:
    """How labels are drawn, and what a method is shown.

    Parameters
    ----------
    split : {"random", "public", "rate"}
        See :meth:`planetoid.datasets.Dataset.split`; the first and the last are drawn anew for each seed.
    setting : {"transductive", "features", "unseen"}
        Whether test nodes stand in the graph and are predicted there; stand
        there while fitting but are predicted from their features alone; or
        are truly unseen. The last two need an inductive method.
    validation : bool
        Whether the method may look at validation labels, to stop or to choose.
    per_class, n_val, n_test, rate
        Handed on to the split.

    Examples
    --------
    >>> Protocol().in_words()
    '20 labels a class, random splits; test nodes in the graph; no validation labels used'
    """

    split: Literal["random", "public", "rate"] = "random"
    setting: Literal["transductive", "features", "unseen"] = "transductive"
    validation: bool = False
    per_class: int = 20
    n_val: int | None = None
    n_test: int | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.setting not in _SETTINGS:
            raise ParameterError(f"setting={self.setting!r}; it is one of {', '.join(map(repr, _SETTINGS))}")

    def draw(self, data: Dataset, seed: int) -> Split:
        """Return the split of a seed."""
        sizes = {"per_class": self.per_class, "n_val": self.n_val, "n_test": self.n_test}
        return data.split(self.split, seed=seed, rate=self.rate, **sizes)  # type: ignore[arg-type]

    def in_words(self) -> str:
        """Return what every table of results must say."""
        drawn = {
            "random": f"{self.per_class} labels a class, random splits",
            "public": "the public split",
            "rate": f"a share {self.rate} of each class labelled, random splits",
        }[self.split]
        looked = "stopping on validation labels" if self.validation else "no validation labels used"
        return f"{drawn}; {_SETTINGS[self.setting]}; {looked}"


@dataclass(frozen=True)
class Run:
    """One fit: its record, and what the record leaves out.

    Attributes
    ----------
    result : Result
    model : GraphClassifier
        Fitted.
    split : Split
    probabilities : array of shape (n_test, n_classes)
        Of the test nodes; columns are ``model.classes_``.
    """

    result: Result
    model: GraphClassifier
    split: Split
    probabilities: npt.NDArray[np.floating[Any]]


def evaluate(
    methods: Iterable[str],
    data: Dataset,
    *,
    protocol: Protocol | None = None,
    seeds: Iterable[int] = range(5),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    jobs: int = 1,
    keep: Callable[[Run], Any] | None = None,
    on_result: Callable[[Result, Any], None] | None = None,
) -> list[Result]:
    """Fit every method once a seed and measure it on that seed's test nodes.

    Parameters
    ----------
    methods : iterable of str
        Short names in ``pl.METHODS``.
    data : Dataset
    protocol : Protocol, optional
        The paper's random splits if not given.
    seeds : iterable of int
        All methods see the same splits.
    parameters : dict of dict, optional
        By method; ``random_state`` is the seed unless it is given here.
    jobs : int
        Processes; with more than one, each works on one thread, and ``keep`` must be a function that can be pickled
        (see :func:`planetoid.evaluation.workers.each`). Figures do not depend on it, seconds may.
    keep : callable, optional
        Called with each :class:`Run` where it was made, to take from the fitted model what is wanted; the model is
        not kept.
    on_result : callable, optional
        Called with each result, in order, and with what ``keep`` returned; for progress and pictures.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(300, 3, 60, seed=0)
    >>> results = evaluate(["feat", "lp"], data, protocol=Protocol(n_val=0, n_test=200), seeds=[0, 1])
    >>> [(result.method, result.seed) for result in results]
    [('feat', 0), ('feat', 1), ('lp', 0), ('lp', 1)]
    """
    protocol = Protocol() if protocol is None else protocol
    methods, seeds, parameters = list(methods), list(seeds), parameters or {}
    for method in methods:  # before any long work
        _check_method(method, data, protocol)
    tasks = [_Task(method, data, protocol, seed, parameters.get(method), keep) for method in methods for seed in seeds]
    results = []
    for result, kept in each(_run_and_keep, tasks, jobs):
        results.append(result)
        if on_result is not None:
            on_result(result, kept)
    return results


class _Task(NamedTuple):
    method: str
    data: Dataset
    protocol: Protocol
    seed: int
    parameters: Mapping[str, Any] | None
    keep: Callable[[Run], Any] | None


def _run_and_keep(task: _Task) -> tuple[Result, Any]:
    run = run_once(task.method, task.data, task.protocol, task.seed, task.parameters)
    return run.result, None if task.keep is None else task.keep(run)


def run_once(
    method: str, data: Dataset, protocol: Protocol, seed: int, parameters: Mapping[str, Any] | None = None
) -> Run:
    """Fit one method on the split of one seed and measure it on the test nodes.

    The labels of test nodes are used here, to measure, and nowhere else.
    """
    _check_method(method, data, protocol)
    model = _make(method, seed, parameters or {})
    split = protocol.draw(data, seed)
    if len(split.test) == 0:
        raise DataError(f"the split of {data.name} has no test node to measure on")
    fit_seconds, warned = _fit(model, data, protocol, split)
    start = time.perf_counter()
    if protocol.setting == "transductive":
        probabilities = model.predict_proba()[split.test]
    else:
        probabilities = model.predict_proba(data.X[split.test])
    predict_seconds = time.perf_counter() - start
    result = Result(
        method=method,
        dataset=data.name,
        protocol=protocol.in_words(),
        seed=seed,
        metrics=_measure(data.y[split.test], probabilities, model.classes_),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        n_train=len(split.train),
        n_val=len(split.val),
        n_test=len(split.test),
        parameters={
            name: _plain(value) for name, value in model.get_params().items() if not isinstance(value, Parameters)
        },
        warnings=warned,
    )
    return Run(result, model, split, probabilities)


def what_it_uses(method: str) -> str:
    """Return what a method learns from.

    >>> what_it_uses("feat"), what_it_uses("lp")
    ('features', 'graph')
    """
    cls = METHODS[method]
    used = [word for word, how in (("features", cls.uses_features), ("graph", cls.uses_graph)) if how != "never"]
    return " + ".join(used)


def _check_method(method: str, data: Dataset, protocol: Protocol) -> None:
    cls = METHODS[method]
    if cls.uses_features == "required" and data.X is None:
        raise DataError(f"{method} learns from features, and {data.name} has none")
    if protocol.setting != "transductive" and not cls.inductive:
        raise ParameterError(
            f"{method} is transductive: it cannot predict from features alone, as setting={protocol.setting!r} asks"
        )


def _make(method: str, seed: int, parameters: Mapping[str, Any]) -> GraphClassifier:
    model = METHODS[method]()
    known = model.get_params(deep=False)
    chosen = {"random_state": seed} if "random_state" in known else {}
    model.set_params(**{**chosen, **parameters})
    return model


def _fit(model: GraphClassifier, data: Dataset, protocol: Protocol, split: Split) -> tuple[float, list[str]]:
    train, val, seen = split.train, split.val, data
    if protocol.setting == "unseen":
        seen = data.without(split.test)
        train, val = seen.rows_from_parent(train), seen.rows_from_parent(val)
    given: dict[str, Any] = {}
    if model.uses_graph != "never":
        given["graph"] = seen.graph
    if protocol.validation and len(val):
        given["validation"] = mask_labels(seen.y, val)
    X = None if model.uses_features == "never" else seen.X
    y = mask_labels(seen.y, train)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(X, y, **given)
        seconds = time.perf_counter() - start
    ours = dict.fromkeys(str(entry.message) for entry in caught if issubclass(entry.category, PlanetoidWarning))
    for entry in caught:  # what is not ours still reaches the user
        if not issubclass(entry.category, PlanetoidWarning):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    return seconds, list(ours)


def _measure(truth: npt.NDArray[Any], probabilities: npt.NDArray[Any], classes: npt.NDArray[Any]) -> dict[str, float]:
    predicted = classes[probabilities.argmax(axis=1)]
    return {
        "accuracy": accuracy(truth, predicted),
        "macro_f1": macro_f1(truth, predicted),
        "calibration_error": expected_calibration_error(truth, probabilities, classes),
    }


def _plain(value: Any) -> Any:
    """Return a parameter as JSON has it, else by its ``repr``."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)
