"""``--set key=value``: parameters of a method from the command line.

A key is the name of a parameter, with a dot before that of a parameter object (``training.steps``), and may start with
the short name of a method (``planetoid-t.training.steps``).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from planetoid.errors import ParameterError
from planetoid.parameters import Parameters
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.search_space import Plain

__all__ = ["Settings", "parameter_names", "parse_settings", "settings_by_method"]

SIMILAR, MOST_SIMILAR = 0.7, 3  # closeness from which an unknown key may be a misspelt one, and how many are named

Settings: TypeAlias = "dict[str, Plain]"


def parse_settings(entries: Iterable[str] | None) -> Settings:
    """Read ``key=value``; a value is a number, true, false, none, a quoted string, or else a string as it is.

    >>> parse_settings(["training.steps=500", "row_normalize=none", "training.optimizer=sgd", "network.dropout=0.2"])
    {'training.steps': 500, 'row_normalize': None, 'training.optimizer': 'sgd', 'network.dropout': 0.2}
    """
    settings: Settings = {}
    for entry in entries or ():
        key, equals, text = entry.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ParameterError(f"--set {entry}: must be KEY=VALUE, for instance --set training.steps=500")
        if key in settings:
            raise ParameterError(f"--set {key} is given more than once")
        settings[key] = _value(text.strip())
    return settings


def parameter_names(method: str) -> list[str]:
    """Return the parameters of a method as the keys of ``--set``.

    >>> parameter_names("graphemb")[2:5]
    ['context_learning_rate', 'contexts.d', 'contexts.node2vec_p']
    """
    parameters = METHODS[method]().get_params()
    return sorted(name.replace("__", ".") for name, value in parameters.items() if not isinstance(value, Parameters))


def settings_by_method(methods: Sequence[str], settings: Mapping[str, Plain]) -> dict[str, Settings]:
    """Return the parameters of each method, for ``set_params``.

    ``training.steps`` applies to every method that has it, ``planetoid-t.training.steps`` to that one, where it takes
    precedence. A key that no method has and a value that breaks a constraint raise ``ParameterError``.
    """
    names = {method: parameter_names(method) for method in methods}
    common: dict[str, Settings] = {method: {} for method in methods}
    special: dict[str, Settings] = {method: {} for method in methods}
    for key, value in settings.items():
        owner, _, rest = key.partition(".")
        if owner in METHODS:
            if owner not in methods:
                raise ParameterError(f"--set {key}: {owner!r} is not among the methods, {', '.join(methods)}")
            takers, name, target = [owner], rest, special
        else:
            takers, name, target = list(methods), key, common
        having = [method for method in takers if name in names[method]]
        if not having:
            raise _unknown(key, name, takers, [other for method in takers for other in names[method]])
        for method in having:
            target[method][name.replace(".", "__")] = value
    chosen = {method: {**common[method], **special[method]} for method in methods}
    for method, parameters in chosen.items():
        METHODS[method]().set_params(**parameters)._check_parameters()
    return chosen


def _unknown(key: str, name: str, methods: Sequence[str], known: Sequence[str]) -> ParameterError:
    """Return an error that names similar parameters, or all of them."""
    known = sorted(set(known))
    closeness = {other: _closeness(name, other) for other in known}
    best = max(closeness.values())
    close = [other for other in known if closeness[other] >= (1.0 if best == 1.0 else SIMILAR)]
    similar = sorted(close, key=lambda other: -closeness[other])[:MOST_SIMILAR]
    who = f"{methods[0]} has no" if len(methods) == 1 else f"none of {', '.join(methods)} has a"
    hint = f"valid parameters are {', '.join(known)}"
    if similar:
        *others, other = similar
        hint = f"did you mean {', '.join(others)} or {other}?" if others else f"did you mean {other}?"
    return ParameterError(f"--set {key}: {who} parameter {name!r}", hint=hint, parameter=name)


def _closeness(name: str, other: str) -> float:
    """Return how similar two keys are; 1.0 if the other has the same last part, or is a parameter of that object."""
    if other.startswith(f"{name}."):
        return 1.0
    endings = name.rpartition(".")[2], other.rpartition(".")[2]
    return max(difflib.SequenceMatcher(None, *pair).ratio() for pair in ((name, other), endings))


def _value(text: str) -> Plain:
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float, json.loads):
        try:
            value: Plain = read(text)
        except (ValueError, RecursionError):
            continue
        return value
    return text
