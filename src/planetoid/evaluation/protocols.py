"""Fit and evaluate methods under a protocol: which labels are drawn, and what a method may see."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset, Features
from planetoid.data.label_sets import LabelSets
from planetoid.data.splits import Split
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator.classifier import GraphClassifier
from planetoid.evaluation.metrics import accuracy, expected_calibration_error, macro_f1, multi_label_f1
from planetoid.evaluation.results import Result
from planetoid.evaluation.workers import each
from planetoid.graph import Graph
from planetoid.labels import mask_labels
from planetoid.multi_label import check_supported, indicator
from planetoid.parameters import Integer, Parameters, Real, check_parameters
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from typing import TypeAlias

    from scipy import sparse

__all__ = ["Protocol", "Run", "evaluate", "make_model", "run_once", "timed_fit", "what_it_uses"]

Kept = TypeVar("Kept")
ParameterValues: TypeAlias = "Mapping[str, object]"

_SETTINGS = {
    "transductive": "test nodes in the graph",
    "features": "test nodes in the graph while fitting, predicted from their features alone",
    "unseen": "test nodes and their edges unseen while fitting, predicted from their features",
}


@dataclass(frozen=True)
class Protocol:
    """How labels are drawn, and what a method may see.

    Parameters
    ----------
    split : {"random", "public", "rate", "folds"}
        See :meth:`planetoid.datasets.Dataset.split`. All but ``"public"`` draw a new split for each seed; the folds of
        ``n_folds`` successive seeds test every label once.
    setting : {"transductive", "features", "unseen"}
        Whether test nodes are in the graph and predicted as such; are in the graph while fitting, but predicted from
        their features alone; or are removed from the graph before fitting. The last two require an inductive method.
    validation : bool
        Whether the method may use the validation labels, for early stopping.
    per_class : int
        Labels per class of a random split.
    n_val, n_test : int, optional
        Number of validation and test nodes.
    rate : float, optional
        Share of each class that is labelled, for ``split="rate"``.
    n_folds : int
        For ``split="folds"``.
    features : bool
        Whether the method may use features; without them it learns from the graph alone.

    Examples
    --------
    >>> Protocol().in_words()
    '20 labels per class, random splits; test nodes in the graph; no validation labels used'
    """

    split: Literal["random", "public", "rate", "folds"] = "random"
    setting: Literal["transductive", "features", "unseen"] = "transductive"
    validation: bool = False
    per_class: int = 20
    n_val: int | None = None
    n_test: int | None = None
    rate: float | None = None
    n_folds: int = 5
    features: bool = True

    def __post_init__(self) -> None:
        check_parameters(
            "Protocol",
            vars(self),
            {
                "split": ("random", "public", "rate", "folds"),
                "setting": tuple(_SETTINGS),
                "validation": bool,
                "per_class": Integer(0),
                "n_val": (Integer(0), None),
                "n_test": (Integer(0), None),
                "rate": (Real(0, 1, closed="neither"), None),
                "n_folds": Integer(2),
                "features": bool,
            },
        )

    def draw(self, data: Dataset, seed: int) -> Split:
        """Return the split for a seed."""
        return data.split(
            self.split,
            seed=seed,
            rate=self.rate,
            per_class=self.per_class,
            n_val=self.n_val,
            n_test=self.n_test,
            n_folds=self.n_folds,
        )

    def in_words(self) -> str:
        """Return the protocol as a sentence, which belongs to every reported figure."""
        split = {
            "random": f"{self.per_class} labels per class, random splits",
            "public": "the public split",
            "rate": f"labelling rate {self.rate}, random splits",
            "folds": f"stratified {self.n_folds}-fold cross-validation",
        }[self.split]
        stopping = "early stopping on validation labels" if self.validation else "no validation labels used"
        words = f"{split}; {_SETTINGS[self.setting]}; {stopping}"
        return words if self.features else f"{words}; no features used"


@dataclass(frozen=True)
class Run:
    """One fit: its result, the fitted model and the predictions for the test nodes.

    Attributes
    ----------
    result : Result
    model : GraphClassifier
        The fitted model.
    split : Split
    probabilities : array of shape (n_test, n_classes)
        Class probabilities of the test nodes; columns are ``model.classes_``.
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
    parameters: Mapping[str, ParameterValues] | None = None,
    jobs: int = 1,
    keep: Callable[[Run], Kept] | None = None,
    on_result: Callable[[Result, Kept | None], None] | None = None,
) -> list[Result]:
    """Fit every method once per seed and evaluate it on the test nodes of that seed's split.

    Parameters
    ----------
    methods : iterable of str
        Short names in ``pl.METHODS``.
    data : Dataset
    protocol : Protocol, optional
        The paper's random splits by default.
    seeds : iterable of int
        All methods see the same splits.
    parameters : dict of dict, optional
        Parameters by method; ``random_state`` is the seed unless given here.
    jobs : int
        Processes, each with one thread. With more than one, ``keep`` must be picklable
        (see :func:`planetoid.evaluation.workers.each`). Metrics do not depend on it, timings may.
    keep : callable, optional
        Called with each :class:`Run` in the process that made it, to extract what is needed from the fitted model,
        which is then discarded.
    on_result : callable, optional
        Called with each result, in order, and the return value of ``keep``; for progress bars and plots.

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
    for method in methods:  # before any fit
        _check_method(method, data, protocol)
    tasks = [
        _Task(method, data, protocol, seed, parameters.get(method, {}), keep) for method in methods for seed in seeds
    ]
    results = []
    for answer in each(_run_task, tasks, jobs):
        results.append(answer.result)
        if on_result is not None:
            on_result(answer.result, answer.kept)
    return results


@dataclass(frozen=True)
class _Task(Generic[Kept]):
    method: str
    data: Dataset
    protocol: Protocol
    seed: int
    parameters: ParameterValues
    keep: Callable[[Run], Kept] | None


@dataclass(frozen=True)
class _Answer(Generic[Kept]):
    result: Result
    kept: Kept | None


def _run_task(task: _Task[Kept]) -> _Answer[Kept]:
    run = run_once(task.method, task.data, task.protocol, task.seed, task.parameters)
    return _Answer(run.result, None if task.keep is None else task.keep(run))


def run_once(
    method: str, data: Dataset, protocol: Protocol, seed: int, parameters: ParameterValues | None = None
) -> Run:
    """Fit one method on the split of one seed and evaluate it on the test nodes.

    Test labels are used for the metrics and nothing else.
    """
    _check_method(method, data, protocol)
    model = make_model(method, seed, parameters or {})
    split = protocol.draw(data, seed)
    if len(split.test) == 0:
        raise DataError(f"the split of {data.name} has no test nodes")
    fit = _fit(model, data, protocol, split)
    start = time.perf_counter()
    if protocol.setting == "transductive":
        probabilities = model.predict_proba()[split.test]
    else:
        assert data.X is not None  # _check_method: the method is inductive, so it requires features
        probabilities = model.predict_proba(data.X[split.test])
    predict_seconds = time.perf_counter() - start
    result = Result(
        method=method,
        dataset=data.name,
        protocol=protocol.in_words(),
        seed=seed,
        metrics=_metrics(data.y[split.test], probabilities, model.classes_)
        if data.Y is None
        else _set_metrics(data.Y[split.test], probabilities, model),
        fit_seconds=fit.seconds,
        predict_seconds=predict_seconds,
        n_train=len(split.train),
        n_val=len(split.val),
        n_test=len(split.test),
        parameters=_plain_parameters(model),
        warnings=fit.warnings,
    )
    return Run(result, model, split, probabilities)


def what_it_uses(method: str) -> str:
    """Return what a method learns from: features, graph or both.

    >>> what_it_uses("feat"), what_it_uses("lp")
    ('features', 'graph')
    """
    cls = METHODS[method]
    used = [name for name, use in (("features", cls.uses_features), ("graph", cls.uses_graph)) if use != "never"]
    return " + ".join(used)


def make_model(method: str, seed: int, parameters: ParameterValues) -> GraphClassifier:
    """Return an unfitted model with the seed as its ``random_state``, where it has one, and the given parameters."""
    model = METHODS[method]()
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    return model.set_params(**parameters)


class TimedFit(NamedTuple):
    """Wall-clock time of a fit and the messages of planetoid's own warnings, without duplicates."""

    seconds: float
    warnings: list[str]


def timed_fit(
    model: GraphClassifier,
    X: Features | None,
    y: npt.NDArray[np.int32],
    graph: Graph,
    validation: npt.NDArray[np.int32] | None = None,
    label_sets: LabelSets | None = None,
) -> TimedFit:
    """Fit a model on the parts of the data that it uses; warnings of other libraries are issued again.

    ``y`` and ``validation`` are class codes; ``label_sets`` are the labels of these nodes, if they may have several.
    """
    held_out = validation if model.uses_validation else None
    if label_sets is None:
        classes = np.arange(max(y.max(), -1 if validation is None else validation.max()) + 1)
        data = Dataset("fitted", graph, X, y, classes, held_out)
    else:
        data = Dataset("fitted", graph, X, y, label_sets.classes, held_out, Y=label_sets.Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(data)
        seconds = time.perf_counter() - start
    messages = [str(entry.message) for entry in caught if issubclass(entry.category, PlanetoidWarning)]
    for entry in caught:
        if not issubclass(entry.category, PlanetoidWarning):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    return TimedFit(seconds, list(dict.fromkeys(messages)))


def _check_method(method: str, data: Dataset, protocol: Protocol) -> None:
    cls = METHODS[method]
    check_supported(data, cls.__name__, supported=cls.multi_label)
    if cls.uses_features == "required" and data.X is None:
        raise DataError(f"{method} requires features, but {data.name} has none")
    if cls.uses_features == "required" and not protocol.features:
        raise ParameterError(f"{method} requires features, which features=False withholds", parameter="features")
    if protocol.setting == "transductive":
        return
    if not protocol.features:
        raise ParameterError(f"setting={protocol.setting!r} predicts from features", parameter="features")
    if not cls.inductive:
        raise ParameterError(
            f"{method} is transductive and cannot predict from features alone, "
            f"which setting={protocol.setting!r} requires",
            parameter="setting",
        )
    if data.X is None:
        raise DataError(f"setting={protocol.setting!r} predicts from features, but {data.name} has none")


def _fit(model: GraphClassifier, data: Dataset, protocol: Protocol, split: Split) -> TimedFit:
    train, val, seen = split.train, split.val, data
    if protocol.setting == "unseen":
        seen = data.without(split.test)
        train, val = seen.rows_from_parent(train), seen.rows_from_parent(val)
    validation = mask_labels(seen.y, val) if protocol.validation and len(val) else None
    X = seen.X if protocol.features else None
    label_sets = None if seen.Y is None else LabelSets(seen.Y, np.arange(seen.n_classes))
    return timed_fit(model, X, mask_labels(seen.y, train), seen.graph, validation, label_sets)


def _metrics(truth: npt.NDArray[Any], probabilities: npt.NDArray[Any], classes: npt.NDArray[Any]) -> dict[str, float]:
    predicted = classes[probabilities.argmax(axis=1)]
    return {
        "accuracy": accuracy(truth, predicted),
        "macro_f1": macro_f1(truth, predicted),
        "calibration_error": expected_calibration_error(truth, probabilities, classes),
    }


def _set_metrics(truth: sparse.csr_array, probabilities: npt.NDArray[Any], model: GraphClassifier) -> dict[str, float]:
    """Return F1 of the labels that are predicted, and of as many as each node has."""
    predicted = multi_label_f1(truth, indicator(probabilities, model.threshold_))
    known = multi_label_f1(truth, indicator(probabilities, model.threshold_, np.diff(truth.indptr)))
    return {
        "micro_f1": predicted.micro,
        "macro_f1": predicted.macro,
        "micro_f1_number_known": known.micro,
        "macro_f1_number_known": known.macro,
    }


def _plain_parameters(model: GraphClassifier) -> dict[str, object]:
    """Return all parameters as plain data, those of parameter objects as ``object__name``."""
    plain: dict[str, object] = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, Parameters):
            plain |= {f"{name}__{inner}": _plain(one) for inner, one in value.get_params().items()}
        else:
            plain[name] = _plain(value)
    return plain


def _plain(value: object) -> object:
    """Return a value as JSON represents it, or its ``repr``."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)
