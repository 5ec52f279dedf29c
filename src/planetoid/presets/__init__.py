"""Presets: parameters for a data set and a method, chosen once and kept as TOML.

A family is a file here. ``printed`` is the system that the paper prints, in everything that it prints; what it tunes or
leaves open was searched. ``paper`` keeps r1, q, d, N1 and N2 of the paper and searches everything else, the network
included, with N2 counting walks; ``tuned`` keeps nothing. ``kernel`` has manifold regularization in a function space,
and ``two-stage``, ``joint-walks`` and ``joint-labels`` are the forms of the ablation. A preset is named ``family/data
set``; it holds a section for each method. Parameters of parameter objects are nested there (``training.steps = 124``).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, TypedDict

from planetoid.errors import ParameterError
from planetoid.parameters import flatten

if TYPE_CHECKING:
    from planetoid.search_space import Plain

__all__ = ["Preset", "load_preset", "preset_names"]


class _Section(TypedDict, total=False):
    """What a file has for one data set and method."""

    parameters: dict[str, object]
    chosen: dict[str, Plain]
    departs: str


@dataclass(frozen=True)
class Preset:
    """Parameters of one method for one data set.

    Attributes
    ----------
    name : str
        For instance ``"paper/cora"``.
    method : str
        The class, for instance ``"PlanetoidT"``.
    parameters : dict
        All that were chosen, whether or not they are the defaults today, for ``set_params``: nested ones as
        ``"training__steps"``. ``"none"`` in the file is ``None``.
    chosen : dict
        How the parameters were chosen: score, splits, number of trials, seed.
    departs : str
        Every parameter that differs from what the paper prints and from the preset ``printed/*`` of the same data;
        empty for those presets, and for methods about which the paper prints nothing. Generated.
    """

    name: str
    method: str
    parameters: Mapping[str, object]
    chosen: Mapping[str, Plain] = field(default_factory=dict)
    departs: str = ""


def load_preset(name: str, method: str) -> Preset:
    """Return the preset of a class, for instance ``load_preset("paper/cora", "PlanetoidT")``.

    >>> load_preset("paper/cora", "PlanetoidT").parameters["contexts__q"]
    10
    """
    family, _, data = name.partition("/")
    sections = _family(family) if family in _families() else {}
    if data not in sections:
        raise ParameterError(f"there is no preset {name!r}; the presets are {', '.join(preset_names())}")
    methods = sections[data]
    if method not in methods:
        raise ParameterError(f"the preset {name!r} has no section for {method}; it has {', '.join(methods)}")
    section = methods[method]
    return Preset(
        name,
        method,
        {key: None if value == "none" else value for key, value in flatten(section["parameters"]).items()},
        section.get("chosen", {}),
        section.get("departs", ""),
    )


def preset_names(method: str | None = None) -> list[str]:
    """Return the names of all presets, or of those that have a section for a class."""
    return [
        f"{family}/{data}"
        for family in _families()
        for data, methods in _family(family).items()
        if method is None or method in methods
    ]


def _families() -> list[str]:
    folder = resources.files(__name__)
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


@cache
def _family(name: str) -> dict[str, dict[str, _Section]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = (resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    sections: dict[str, dict[str, _Section]] = tomllib.loads(text)
    return sections
