"""Every error and warning that planetoid raises on purpose.

A diagnostic has one or two plain sentences (``message``, ``hint``), says in fields where the problem is (``path``,
``line``, ``column``, ...), and names in :class:`Fix` objects the parameters that would solve it. Whoever shows it
decides how these are written: ``str(error)`` for Python, :meth:`Diagnostic.render` with another spelling for the
command line, where a parameter is an option::

    >>> error = DataError("the folder holds a model", path="m", fix=Fix("overwrite", True, "to replace it"))
    >>> str(error)
    'm: the folder holds a model; pass overwrite=True to replace it'
    >>> error.render(lambda fix: {"overwrite": "--force"}.get(fix.parameter))
    'm: the folder holds a model; pass --force to replace it'

A warning has the same fields; ``warn(PlanetoidWarning("...", path=path))`` attributes it to the caller's line.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

__all__ = [
    "DataError",
    "DatasetNotFoundError",
    "Diagnostic",
    "Fix",
    "NotInductiveError",
    "ParameterError",
    "PlanetoidError",
    "PlanetoidWarning",
    "collected_warnings",
    "warn",
]

PACKAGE_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Fix:
    """A parameter that would solve a problem.

    Attributes
    ----------
    parameter : str
        Its name in Python.
    value : object
        The value to pass; ``...`` if the reader has to choose one.
    purpose : str
        What it does, in words that fit Python and the command line alike: ``"to replace it"``.

    Examples
    --------
    >>> print(Fix("header", True), Fix("label_column"))
    header=True label_column=...
    """

    parameter: str
    value: object = ...
    purpose: str = ""

    def __str__(self) -> str:
        return f"{self.parameter}={'...' if self.value is ... else repr(self.value)}"


class Diagnostic(Exception):  # noqa: N818 - the base of errors and of warnings
    """What errors and warnings have in common: a message, where the problem is, and how to solve it.

    Attributes
    ----------
    message : str
        What is wrong, without location, hint and fixes.
    hint : str or None
        What would be right, without naming a parameter.
    path : Path or None
        The file.
    line : int or None
        Line of a text file, counted from 1.
    row : int or None
        Row of a Parquet file, a matrix or a table in memory, counted from 0.
    column : str, int or None
        Name of the column, or its number counted from 0 where columns have no names.
    node : hashable or None
        Id of the node.
    edge : pair of hashables or None
        Ids of both ends of an edge.
    parameter : str or None
        The parameter that is wrong, nested ones with a dot (``"contexts.q"``).
    fixes : tuple of Fix
        Parameters that would solve it, any of them.
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        path: str | Path | None = None,
        line: int | None = None,
        row: int | None = None,
        column: str | int | None = None,
        node: Hashable | None = None,
        edge: tuple[Hashable, Hashable] | None = None,
        parameter: str | None = None,
        fix: Fix | Iterable[Fix] = (),
    ) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.path = None if path is None else Path(path)
        self.line, self.row, self.column = line, row, column
        self.node, self.edge, self.parameter = node, edge, parameter
        self.fixes = (fix,) if isinstance(fix, Fix) else tuple(fix)

    def location(self) -> str:
        """Return file, line, node and column in words, as far as they are known."""
        parts = [] if self.path is None else ["standard input" if str(self.path) == "-" else str(self.path)]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.row is not None:
            parts.append(f"row {self.row}")
        if self.edge is not None:
            parts.append(f"edge {self.edge!r}")
        if self.node is not None:
            parts.append(f"node {self.node!r}")
        if self.column is not None:
            parts.append(f"column {self.column!r}{' (counted from 0)' if isinstance(self.column, int) else ''}")
        return ", ".join(parts)

    def render(self, spell: Callable[[Fix], str | None] = str) -> str:
        """Return the whole text: location, message, hint and fixes.

        ``spell`` writes a fix: as a Python argument by default, as an option on the command line. ``None`` leaves out
        a fix that cannot be made there.
        """
        where = self.location()
        sentence = f"{where}: {self.message}" if where else self.message
        spelled = ((spell(fix), fix.purpose) for fix in self.fixes)
        options = [f"{text} {purpose}".strip() for text, purpose in spelled if text is not None]
        advice = [self.hint] if self.hint else []
        advice += [f"pass {' or '.join(options)}"] if options else []
        return "; ".join([sentence, *advice])

    def __str__(self) -> str:
        return self.render()


class PlanetoidError(Diagnostic):
    """Base class of all errors of this library; has the fields of :class:`Diagnostic`."""


class DataError(PlanetoidError, ValueError):
    """Something is wrong with a file, a graph, features or labels."""


class ParameterError(PlanetoidError, ValueError):
    """A parameter has an invalid value."""


class NotInductiveError(PlanetoidError, TypeError):
    """A transductive method cannot predict nodes that it was not fitted on."""


class DatasetNotFoundError(PlanetoidError, FileNotFoundError):
    """The files of a dataset are neither on this machine nor available for download."""


class LostProcessError(PlanetoidError):
    """Another process of a training has ended before its time."""


class PlanetoidWarning(Diagnostic, UserWarning):
    """Something was repaired, dropped or ignored; the message has the count."""


_collected: ContextVar[list[str] | None] = ContextVar("warnings of a fit", default=None)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Yield a list to which the texts of all warnings are added that are issued meanwhile, each once.

    >>> import warnings
    >>> with warnings.catch_warnings(), collected_warnings() as found:
    ...     warnings.simplefilter("ignore")
    ...     warn(PlanetoidWarning("two edges were dropped"))
    >>> found
    ['two edges were dropped']
    """
    found: list[str] = []
    before = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(before)


def warn(warning: PlanetoidWarning) -> None:
    """Issue a warning that points to the line outside of this library from which it was called."""
    found = _collected.get()
    if found is not None and str(warning) not in found:
        found.append(str(warning))
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
        level += 1
    warnings.warn(warning, stacklevel=level)
