"""Every error and warning that planetoid raises on purpose.

A message is one sentence or two: what was found, where, and what would be right. Where it was found is kept in
fields, so that whoever shows the error can render it: ``str(error)`` for Python, options instead of parameters on the
command line.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

__all__ = [
    "DataError",
    "DatasetNotFoundError",
    "NotInductiveError",
    "ParameterError",
    "PlanetoidError",
    "PlanetoidWarning",
]


class PlanetoidError(Exception):
    """Base class of all errors of this library.

    Attributes
    ----------
    message : str
        What is wrong, without the location and the hint.
    hint : str or None
        What would be right.
    path : Path or None
        The file.
    line : int or None
        Line in the file, counted from 1; in a Parquet file, the row counted from 0.
    column : str or None
        Name (or number) of the column.
    node : hashable or None
        Id of the node.
    parameter : str or None
        The parameter, nested ones with a dot (``"contexts.q"``).
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        path: str | Path | None = None,
        line: int | None = None,
        column: str | int | None = None,
        node: Hashable | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        self.path = None if path is None else Path(path)
        self.line, self.column, self.node, self.parameter = line, column, node, parameter

    def location(self) -> str:
        """Return file, line, node and column in words, as far as they are known."""
        parts = [] if self.path is None else [str(self.path)]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.node is not None:
            parts.append(f"node {self.node!r}")
        if self.column is not None:
            parts.append(f"column {self.column!r}")
        return ", ".join(parts)

    def __str__(self) -> str:
        where = self.location()
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}; {self.hint}" if self.hint else text


class DataError(PlanetoidError, ValueError):
    """Something is wrong with a file, a graph, features or labels."""


class ParameterError(PlanetoidError, ValueError):
    """A parameter has an invalid value."""


class NotInductiveError(PlanetoidError, TypeError):
    """A transductive method was asked about nodes that it was not fitted on."""


class DatasetNotFoundError(PlanetoidError, FileNotFoundError):
    """The files of a data set are neither on this machine nor available for download."""


class PlanetoidWarning(UserWarning):
    """Something was repaired, dropped or ignored; the message has the count."""
