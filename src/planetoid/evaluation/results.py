"""Results of runs as plain data, and their summary over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from planetoid.errors import DataError

__all__ = ["Result", "Spread", "Summary", "summarize"]


@dataclass(frozen=True)
class Result:
    """Metrics, timings and parameters of one fit on one split.

    Attributes
    ----------
    method : str
        Short name in ``pl.METHODS``.
    dataset : str
    protocol : str
        How labels were drawn and what the method could see, as a sentence.
    seed : int
        Seed of the split, where it is random, and the method's ``random_state``.
    metrics : dict of str to float
        For instance ``accuracy``, ``macro_f1``, ``calibration_error``.
    fit_seconds, predict_seconds : float
        Wall-clock time. The first fit in a process includes importing and compiling.
    n_train, n_val, n_test : int
        Sizes of the split.
    parameters : dict
        All parameters of the method, nested ones as ``object__name``; what JSON cannot represent, as its ``repr``.
    warnings : list of str
        Warnings issued during the fit.

    Examples
    --------
    >>> result = Result("lp", "cora", "20 per class", 0, {"accuracy": 0.7}, 0.1, 0.0, 140, 500, 1000)
    >>> Result.from_dict(result.as_dict()) == result
    True
    """

    method: str
    dataset: str
    protocol: str
    seed: int
    metrics: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    n_train: int
    n_val: int
    n_test: int
    parameters: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for ``json.dump``."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Return the result that :meth:`as_dict` was called on."""
        names = {entry.name for entry in fields(cls)}
        wrong = sorted(names.symmetric_difference(data))
        if wrong:
            problem = "has no" if wrong[0] in names else "has an unknown"
            raise DataError(f"the stored result {problem} field {wrong[0]!r}; it was written by another version")
        return cls(**data)


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (``None`` for a single value)."""

    mean: float
    sd: float | None

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return mean and standard deviation of some values.

        >>> Spread.of([1.0, 3.0])
        Spread(mean=2.0, sd=1.4142135623730951)
        """
        array = np.array(list(values), dtype=np.float64)
        return cls(float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else None)

    def percent(self) -> str:
        """Return mean and standard deviation in per cent.

        >>> Spread(0.7123, 0.0149).percent()
        '71.2 ± 1.5'
        """
        return f"{100 * self.mean:.1f}" + ("" if self.sd is None else f" ± {100 * self.sd:.1f}")


@dataclass(frozen=True)
class Summary:
    """The runs of one method on one dataset under one protocol.

    Attributes
    ----------
    method, dataset, protocol : str
    seeds : list of int
    metrics : dict of str to Spread
    fit_seconds : float
        Median, which excludes the imports and compilation of the first run.
    """

    method: str
    dataset: str
    protocol: str
    seeds: list[int]
    metrics: dict[str, Spread]
    fit_seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for ``json.dump``."""
        return asdict(self)


def summarize(results: Iterable[Result]) -> list[Summary]:
    """Group runs by method, dataset and protocol, in order of first occurrence.

    >>> runs = [Result("lp", "cora", "p", s, {"accuracy": a}, 1.0, 0.0, 1, 1, 1) for s, a in enumerate([0.7, 0.8])]
    >>> summarize(runs)[0].metrics["accuracy"].percent()
    '75.0 ± 7.1'
    """
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.method, result.dataset, result.protocol), []).append(result)
    return [
        Summary(
            *key,
            seeds=[run.seed for run in runs],
            metrics={name: Spread.of(run.metrics[name] for run in runs) for name in runs[0].metrics},
            fit_seconds=float(np.median([run.fit_seconds for run in runs])),
        )
        for key, runs in groups.items()
    ]
