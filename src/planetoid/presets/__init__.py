"""Presets: parameters for a data set and a method, chosen once and kept as TOML.

A family is a file here: ``paper`` keeps the settings that the paper fixes, ``tuned``
departs from them where that helps. A preset has the name ``family/data set``; it
holds a section for each method that it knows.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from planetoid.errors import ParameterError

__all__ = ["Preset", "load_preset", "preset_names"]


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
        All that were chosen, whether or not they are the defaults today; ``"none"`` in the file is ``None``.
    chosen : dict
        How the parameters were chosen: score, splits, number of trials, seed.
    departs : str
        In what a ``tuned`` preset leaves the paper's settings.
    """

    name: str
    method: str
    parameters: Mapping[str, Any]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    departs: str = ""


def load_preset(name: str, method: str) -> Preset:
    """Return the preset of a class, for instance ``load_preset("paper/cora", "PlanetoidT")``.

    >>> load_preset("paper/cora", "PlanetoidT").parameters["q"]
    10
    """
    family, _, data = name.partition("/")
    sections = _family(family) if family in _families() else {}
    if data not in sections:
        raise ParameterError(f"there is no preset {name!r}; there are {', '.join(preset_names())}")
    methods = sections[data]
    if method not in methods:
        raise ParameterError(f"the preset {name!r} has nothing for {method}; it has {', '.join(methods)}")
    section = methods[method]
    parameters = {key: None if value == "none" else value for key, value in section["parameters"].items()}
    return Preset(name, method, parameters, section.get("chosen", {}), section.get("departs", ""))


def preset_names(method: str | None = None) -> list[str]:
    """Return the names of all presets, or of those that have something for a class."""
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
def _family(name: str) -> dict[str, dict[str, Any]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = (resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    sections: dict[str, dict[str, Any]] = tomllib.loads(text)
    return sections
