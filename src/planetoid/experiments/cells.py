"""``Cell``: one figure of a table, as a number of runs that can be made in any order and at any time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from planetoid.datasets import Dataset, load
from planetoid.evaluation import Protocol, Result, run_once
from planetoid.experiments.lists import lists_of, run_on_lists
from planetoid.presets import load_preset, preset_names
from planetoid.registry import METHODS

__all__ = ["Cell", "RunTask", "preset_parameters", "run_task"]


@dataclass(frozen=True)
class Cell:
    """One method, with certain settings, on one data set under one protocol.

    Attributes
    ----------
    table : str
        For instance ``"table3"``.
    section : str
        Part of the table, for instance ``"public split"``.
    row : tuple of str
        Method, settings, what stops the training, what is seen of test nodes.
    dataset : str
        A name for :func:`planetoid.datasets.load`, or ``"lists:0.1"`` for made coordinate lists of that scale.
    method : str
    protocol : Protocol
    parameters : dict
    paper : float or None
        What the paper has in this place.
    """

    table: str
    section: str
    row: tuple[str, str, str, str]
    dataset: str
    method: str
    protocol: Protocol
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: float | None = None

    @property
    def on_made_data(self) -> bool:
        """Whether the paper's figure was taken on other data."""
        return self.dataset.startswith("lists:") and self.dataset != "lists:diel"

    def tasks(self, runs: int) -> list[RunTask]:
        """Return the runs of the cell; one is enough where nothing in it is random."""
        drawn = self.protocol.split != "public" or self.dataset.startswith("lists:")
        some = runs if drawn or "random_state" in METHODS[self.method]._get_param_names() else 1
        return [RunTask(self.dataset, self.method, self.protocol, dict(self.parameters), seed) for seed in range(some)]


@dataclass(frozen=True)
class RunTask:
    """One run, and all that its outcome depends on."""

    dataset: str
    method: str
    protocol: Protocol
    parameters: dict[str, Any]
    seed: int

    @property
    def key(self) -> str:
        """A name for the outcome that is the same in every process."""
        given = {**METHODS[self.method]().get_params(deep=False), **self.parameters}  # another default, another run
        told = [self.dataset, self.method, vars(self.protocol), given, self.seed]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=repr).encode()).hexdigest()[:20]


def run_task(task: RunTask) -> Result:
    """Make one run, here and now."""
    if task.dataset.startswith("lists:"):
        return run_on_lists(lists_of(task.dataset, task.seed), task.method, task.seed, task.parameters)
    return run_once(task.method, _loaded(task.dataset), task.protocol, task.seed, task.parameters).result


@lru_cache(maxsize=2)
def _loaded(name: str) -> Dataset:
    return load(name)


def preset_parameters(family: str, dataset: str, method: str) -> dict[str, Any] | None:
    """Return the parameters of a preset, ``None`` where the family has nothing for the method."""
    name, cls = f"{family}/{dataset}", METHODS[method].__name__
    return dict(load_preset(name, cls).parameters) if name in preset_names(cls) else None
