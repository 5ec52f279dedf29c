"""Parameters and their constraints: declared beside the parameter, checked here and nowhere else.

A class lists for each parameter what it may be, in words that the error repeats::

    constraints = {"dimension": Integer(1), "dropout": Real(0, 1, closed="left"), "width": (Integer(1), None)}

An entry is one constraint or a tuple of alternatives: :class:`Integer`, :class:`Real`, a value
such as ``None`` or ``"auto"``, a type such as ``bool`` or ``str``, a :class:`Parameters` class
(a nested parameter object), or a :class:`Check` for everything else.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from numbers import Real as RealNumber
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

__all__ = [
    "N_JOBS",
    "RANDOM_STATE",
    "ROW_NORMALIZE",
    "VERBOSE",
    "Check",
    "Constraint",
    "Constraints",
    "Integer",
    "Parameters",
    "Real",
    "check_parameters",
    "flatten",
    "set_nested",
]


@dataclasses.dataclass(frozen=True)
class Integer:
    """An integer, ``low`` or more and at most ``high``."""

    low: int | None = None
    high: int | None = None

    def admits(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return (self.low is None or int(value) >= self.low) and (self.high is None or int(value) <= self.high)

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"an integer from {self.low} to {self.high}"
        if self.high is not None:
            return f"an integer <= {self.high}"
        return "an integer" + (f" >= {self.low}" if self.low is not None else "")


@dataclasses.dataclass(frozen=True)
class Real:
    """A finite number in an interval; ``closed`` says which of its ends belong to it."""

    low: float = -math.inf
    high: float = math.inf
    closed: str = "both"  # "both", "left", "right", "neither"

    def admits(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, RealNumber) or not math.isfinite(value):
            return False
        number = float(value)
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return above and below

    def __str__(self) -> str:
        left, right = self.closed in ("both", "left"), self.closed in ("both", "right")
        if math.isinf(self.high):
            return "a number" + (f" {'>=' if left else '>'} {self.low:g}" if math.isfinite(self.low) else "")
        if math.isinf(self.low):
            return f"a number {'<=' if right else '<'} {self.high:g}"
        return f"a number in {'[' if left else '('}{self.low:g}, {self.high:g}{']' if right else ')'}"


@dataclasses.dataclass(frozen=True)
class Check:
    """Whatever a function admits; ``words`` say what that is."""

    words: str
    function: Callable[[object], bool]

    def admits(self, value: object) -> bool:
        return self.function(value)

    def __str__(self) -> str:
        return self.words


LONGEST_VALUE = 200  # characters of a value in a message

Constraint: TypeAlias = "Integer | Real | Check | type | str | int | bool | None"
Constraints: TypeAlias = "Mapping[str, Constraint | tuple[Constraint, ...]]"

# Parameters that mean the same in every class.
ROW_NORMALIZE = ("l1", "l2", None)
RANDOM_STATE = (Integer(0), None)
N_JOBS = (Check("an integer other than 0", lambda value: Integer().admits(value) and value != 0), None)
VERBOSE = (bool, Integer(0))


class Parameters:
    """Base of parameter objects: frozen dataclasses that behave like scikit-learn's nested parameters.

    Being immutable, an object can be the default of several models; ``set_params(contexts__q=5)`` of a model puts a
    changed copy in its place.
    """

    constraints: ClassVar[Constraints] = {}

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Return the names of all parameters."""
        return list(inspect.signature(cls).parameters)

    def replace(self, **changes: object) -> Self:
        """Return a copy with some parameters changed."""
        known = self.parameter_names()
        for name in changes:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; valid parameters are {', '.join(known)}",
                    parameter=name,
                )
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def check(self, owner: str, prefix: str = "") -> None:
        """Raise ``ParameterError`` for the first parameter that breaks its constraint."""
        check_parameters(owner, self.get_params(), self.constraints, prefix)


@runtime_checkable
class Constrained(Protocol):
    """An object with parameters of its own."""

    constraints: ClassVar[Constraints]


def check_parameters(owner: str, values: Mapping[str, object], constraints: Constraints, prefix: str = "") -> None:
    """Raise ``ParameterError`` for the first value that breaks its constraint.

    >>> check_parameters("Feat", {"C": 0.0}, {"C": Real(0, closed="neither")})
    Traceback (most recent call last):
        ...
    planetoid.errors.ParameterError: Feat: C must be a number > 0, got 0.0
    """
    for name, value in values.items():
        if name not in constraints:
            continue
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ParameterError(
                f"{owner}: {prefix}{name} must be less than 2**63, got {_shortened(value)}", parameter=f"{prefix}{name}"
            )
        if isinstance(value, str) and not _is_text(value):
            raise ParameterError(
                f"{owner}: {prefix}{name} is not valid text, got {value!a}", parameter=f"{prefix}{name}"
            )
        allowed = constraints[name]
        alternatives = allowed if isinstance(allowed, tuple) else (allowed,)
        if not any(_admits(constraint, value) for constraint in alternatives):
            raise ParameterError(
                f"{owner}: {prefix}{name} must be {_in_words(alternatives)}, got {_shortened(value)}",
                parameter=f"{prefix}{name}",
            )
        if isinstance(value, Parameters):
            value.check(owner, f"{prefix}{name}.")
        for part in value if isinstance(value, (list, tuple)) else ():  # callbacks, which have parameters of their own
            if isinstance(part, Constrained):
                own = {one: getattr(part, one) for one in part.constraints}
                check_parameters(type(part).__name__, own, part.constraints)


def flatten(parameters: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return nested parameters by their names for ``set_params``.

    >>> flatten({"dimension": 64, "training": {"steps": 124}})
    {'dimension': 64, 'training__steps': 124}
    """
    flat: dict[str, object] = {}
    for name, value in parameters.items():
        flat |= flatten(value, f"{prefix}{name}__") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def set_nested(values: Mapping[str, object], changes: Mapping[str, object], owner: str) -> dict[str, object]:
    """Return ``values`` with ``changes`` made, where ``contexts__q`` changes ``q`` of the object ``contexts``."""
    changed = dict(values)
    nested: dict[str, dict[str, object]] = {}
    for key, value in changes.items():
        name, _, inner = key.partition("__")
        if name not in changed:
            raise ParameterError(
                f"{owner} has no parameter {name!r}; valid parameters are {', '.join(changed)}", parameter=name
            )
        if inner:
            nested.setdefault(name, {})[inner] = value
        else:
            changed[name] = value
    for name, inner_changes in nested.items():
        target = changed[name]
        if not isinstance(target, Parameters):
            raise ParameterError(f"{owner}: {name} has no parameters of its own, it is {target!r}", parameter=name)
        changed[name] = target.replace(**inner_changes)
    return changed


def _admits(constraint: Constraint, value: object) -> bool:
    if isinstance(constraint, (Integer, Real, Check)):
        return constraint.admits(value)
    if isinstance(constraint, type):
        return isinstance(value, constraint)
    return value is constraint or (type(value) is type(constraint) and value == constraint)


def _in_words(alternatives: Iterable[Constraint]) -> str:
    """Join alternatives as in a sentence: ``'l1', 'l2' or None``."""
    words = [_word(constraint) for constraint in alternatives]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _is_text(value: str) -> bool:
    """Return whether a string can be written in UTF-8; half of a surrogate pair cannot."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shortened(value: object) -> str:
    """Return a value for a message, which a long one would fill."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _word(constraint: Constraint) -> str:
    if isinstance(constraint, type):
        name = constraint.__name__
        article = "an" if name[0] in "AEIOU" else "a"
        return {bool: "True or False", str: "a string"}.get(constraint, f"{article} {name} object")
    return str(constraint) if isinstance(constraint, (Integer, Real, Check)) else repr(constraint)
