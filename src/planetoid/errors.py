"""Every error and warning that planetoid raises on purpose.

A message is one sentence or two: what was found, where, and what would be right.
"""

from __future__ import annotations


class PlanetoidError(Exception):
    """The common root, so that callers can catch everything of ours at once."""


class DataError(PlanetoidError, ValueError):
    """Something is wrong with a file, a graph, features or labels."""


class ParameterError(PlanetoidError, ValueError):
    """A parameter has a value that cannot work."""


class NotInductiveError(PlanetoidError, TypeError):
    """A transductive method was asked about rows that it was not fitted on."""


class DatasetNotFoundError(PlanetoidError, FileNotFoundError):
    """A data set's files are neither on this machine nor to be downloaded."""

    def __str__(self) -> str:  # FileNotFoundError would print an errno tuple
        return str(self.args[0]) if self.args else ""


class PlanetoidWarning(UserWarning):
    """Something was repaired, dropped or ignored; the message has the count."""
