"""``--set key=value``: parameters of a method from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from planetoid.errors import ParameterError
from planetoid.registry import METHODS

__all__ = ["parameters_of", "parse_settings", "settings_by_method"]

NOT_PLAIN = ("callbacks", "encoder")  # objects, which a command line cannot give


def parse_settings(given: Iterable[str] | None) -> dict[str, Any]:
    """Read ``key=value``; a value is a number, true, false, none, a quoted string, or else a string as it stands.

    >>> parse_settings(["steps=500", "row_normalize=none", "optimizer=sgd", "dropout=0.2"])
    {'steps': 500, 'row_normalize': None, 'optimizer': 'sgd', 'dropout': 0.2}
    """
    found: dict[str, Any] = {}
    for entry in given or ():
        key, equals, text = entry.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ParameterError(f"--set {entry}: it is KEY=VALUE, for instance --set steps=500")
        if key in found:
            raise ParameterError(f"--set {key} is given twice")
        found[key] = _value(text.strip())
    return found


def parameters_of(method: str) -> dict[str, Any]:
    """Return the parameters of a method that can be set here, and their defaults."""
    defaults: dict[str, Any] = METHODS[method]().get_params(deep=False)
    return {name: value for name, value in defaults.items() if name not in NOT_PLAIN}


def settings_by_method(methods: Sequence[str], settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give each method its settings: ``steps`` goes to all that have it, ``planetoid-t.steps`` to that one.

    A key that no method has, and a value that cannot be right, are refused.
    """
    known = {method: parameters_of(method) for method in methods}
    chosen: dict[str, dict[str, Any]] = {method: {} for method in methods}
    for key, value in settings.items():
        whose, dot, name = key.rpartition(".")
        takers = [method for method in methods if name in known[method] and (not dot or method == whose)]
        if not takers:
            raise ParameterError(_unknown(key, methods, known))
        for method in takers:
            _check_kind(name, value, known[method][name])
            if name not in chosen[method] or dot:
                chosen[method][name] = value
    return chosen


def _value(text: str) -> Any:
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float, json.loads):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _unknown(key: str, methods: Sequence[str], known: dict[str, dict[str, Any]]) -> str:
    whose, dot, name = key.rpartition(".")
    if dot and whose not in methods:
        return f"--set {key}: {whose!r} is none of the methods here, {', '.join(methods)}"
    concerned = [whose] if dot else list(methods)
    names = list(dict.fromkeys(name for method in concerned for name in known[method]))
    who = concerned[0] if len(concerned) == 1 else f"none of {', '.join(concerned)}"
    has = "has no" if len(concerned) == 1 else "has a"
    return f"--set {key}: {who} {has} parameter {name!r}; known are {', '.join(names) or 'none'}"


def _check_kind(name: str, value: Any, default: Any) -> None:
    """Refuse what a method would stumble over: words for numbers, numbers for switches."""
    if isinstance(value, (list, dict)):
        raise ParameterError(f"--set {name}={value}: it is one value, not several")
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ParameterError(f"--set {name}={value}: it is true or false")
    elif isinstance(default, (int, float)) and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise ParameterError(f"--set {name}={value}: it is a number, such as {default}")
