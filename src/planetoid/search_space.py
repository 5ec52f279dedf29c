"""Where to look for parameters: a search space is declared beside the parameters of a method.

``search_space`` of a class maps the name of a parameter (``"C"``, nested ones as ``"training__steps"``) to one of the
distributions below; ``planetoid tune`` samples from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["Categorical", "Float", "Int", "Plain", "SearchSpace", "Start"]

Plain: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True)
class Float:
    """A number in [low, high], by default on a logarithmic scale."""

    low: float
    high: float
    log: bool = True


@dataclass(frozen=True)
class Int:
    """An integer in [low, high], by default on a logarithmic scale."""

    low: int
    high: int
    log: bool = True


@dataclass(frozen=True)
class Categorical:
    """One of several values."""

    values: tuple[Plain, ...]


SearchSpace: TypeAlias = "Mapping[str, Float | Int | Categorical]"
Start: TypeAlias = "Mapping[str, Plain]"  # parameters that a search tries first, the others at their defaults
