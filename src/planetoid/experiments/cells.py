"""``Cell``: one entry of a table, as a number of independent runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from planetoid.datasets import Dataset, load
from planetoid.evaluation import Protocol, Result, run_once
from planetoid.experiments.code_version import code_version
from planetoid.experiments.table4 import LISTS_PREFIX, load_lists, run_on_lists
from planetoid.presets import load_preset, preset_names
from planetoid.registry import METHODS

__all__ = ["Cell", "RowLabels", "RunTask", "preset_parameters", "run_task"]


class RowLabels(NamedTuple):
    """The label columns of a row of a table."""

    method: str
    settings: str
    stopping: str
    test_nodes: str


@dataclass(frozen=True)
class Cell:
    """One method with certain parameters, on one dataset under one protocol.

    Attributes
    ----------
    table : str
        For instance ``"table3"``.
    section : str
        Section of the table, for instance ``"public split"``.
    row : RowLabels
        Method, settings, stopping and test nodes, as shown in the table.
    dataset : str
        A name for :func:`planetoid.datasets.load`, ``"lists:diel"``, or ``"lists:0.1"`` for synthetic coordinate
        lists at that scale.
    method : str
        Short name in ``pl.METHODS``.
    protocol : Protocol
    parameters : dict
    paper : float or None
        The paper's value.
    """

    table: str
    section: str
    row: RowLabels
    dataset: str
    method: str
    protocol: Protocol
    parameters: Mapping[str, object] = field(default_factory=dict)
    paper: float | None = None

    @property
    def on_lists(self) -> bool:
        """Whether the dataset is one of coordinate lists."""
        return self.dataset.startswith(LISTS_PREFIX)

    @property
    def on_synthetic_data(self) -> bool:
        """Whether the paper's value was measured on other data."""
        return self.on_lists and self.dataset != "lists:diel"

    def tasks(self, runs: int, first_seed: int = 0) -> list[RunTask]:
        """Return the runs of the cell; a single one where neither split nor method is random.

        Probabilities are not calibrated: the paper's are not, and it does not change the most likely class.
        """
        random_split = self.protocol.split != "public" or self.on_lists
        random_method = "random_state" in METHODS[self.method]._get_param_names()
        seeds = range(first_seed, first_seed + runs) if random_split or random_method else (0,)
        parameters = {"calibrate": False, **self.parameters}
        return [RunTask(self.dataset, self.method, self.protocol, dict(parameters), seed) for seed in seeds]


@dataclass(frozen=True)
class RunTask:
    """One run: everything that its result depends on."""

    dataset: str
    method: str
    protocol: Protocol
    parameters: dict[str, object]
    seed: int

    @property
    def key(self) -> str:
        """An identifier of the result that is the same in every process; it changes with the code that is run."""
        model = METHODS[self.method]().set_params(**self.parameters)
        parameters = model.get_params(deep=False)  # defaults included: another default is another run
        code = code_version(self.method, *([run_on_lists.__module__] if self.dataset.startswith(LISTS_PREFIX) else []))
        described = [self.dataset, self.method, vars(self.protocol), parameters, self.seed, code]
        return hashlib.sha256(json.dumps(described, sort_keys=True, default=repr).encode()).hexdigest()[:20]


def run_task(task: RunTask) -> Result:
    """Execute one run in this process."""
    if task.dataset.startswith(LISTS_PREFIX):
        return run_on_lists(load_lists(task.dataset, task.seed), task.method, task.seed, task.parameters)
    return run_once(task.method, _load(task.dataset), task.protocol, task.seed, task.parameters).result


@lru_cache(maxsize=2)
def _load(name: str) -> Dataset:
    return load(name)


def preset_parameters(family: str, dataset: str, method: str) -> dict[str, object] | None:
    """Return the parameters of a preset, ``None`` if the family has none for the method."""
    name, cls = f"{family}/{dataset}", METHODS[method].__name__
    return dict(load_preset(name, cls).parameters) if name in preset_names(cls) else None
