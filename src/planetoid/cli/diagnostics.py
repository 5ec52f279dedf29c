"""Errors and warnings on the command line: one line each, with options in place of Python's parameters."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from planetoid.cli.console import print_message
from planetoid.data.sources import ROLES
from planetoid.errors import Diagnostic, Fix, ParameterError, PlanetoidWarning

__all__ = ["ARGUMENTS", "collect_warnings", "print_warnings", "render"]

# The arguments of the command that is running.
ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("ARGUMENTS", default=())

# Parameters whose option is not their own name, and the placeholder of a value that the reader has to choose.
OPTIONS = {
    "data": "--edges, --features and --nodes",
    "format": "--features-format",
    "names": "--ignore",
    "overwrite": "--force",
    "share": "--hold-out",
    "source": "--source-column",
    "target": "--target-column",
    "weight": "--weight-column",
}
SAME_NAME = (
    *ROLES,
    *("categorical", "decimal", "features_format", "header", "id_column", "ignore", "label_column", "method"),
    *("preset", "query", "source_column", "target_column", "text_columns", "unlabelled", "weight_column"),
    *("label_separator", "multi_label"),
)
FLAGS = ("data", "multi_label", "overwrite")
PLACEHOLDERS = {"format": "FORMAT"}


def render(diagnostic: Diagnostic) -> str:
    """Return an error or a warning as one line, in terms of the command line.

    >>> from planetoid.errors import DataError
    >>> render(DataError("the folder already holds a model", path="m", fix=Fix("overwrite", True, "to replace it")))
    'm: the folder already holds a model; pass --force to replace it'
    >>> render(ParameterError("PlanetoidT: contexts.q must be an integer >= 1, got 0", parameter="contexts.q"))
    'PlanetoidT: contexts.q must be an integer >= 1, got 0 (--set contexts.q)'
    """
    text = " ".join(diagnostic.render(lambda fix: _spell(fix, diagnostic)).split())
    option = _option(diagnostic)
    return text if option is None or option in text else f"{text} ({option})"


@contextmanager
def collect_warnings(*, quiet: bool) -> Iterator[list[str]]:
    """Yield a list that gets the text of each of planetoid's warnings once; print it too."""
    texts: list[str] = []

    def collect(text: str) -> None:
        if text not in texts:
            texts.append(text)
            print_message(f"warning: {text}", quiet=quiet)

    with _redirected(collect):
        warnings.simplefilter("always", PlanetoidWarning)
        yield texts


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print planetoid's warnings as one line, without the place in the code."""
    with _redirected(lambda text: print_message(f"warning: {text}")):
        yield


def _option(diagnostic: Diagnostic) -> str | None:
    """Return the option that sets the parameter of an error: ``--set`` for those of a method."""
    name = diagnostic.parameter
    if name in OPTIONS:
        return OPTIONS[name]
    if name in SAME_NAME:
        return "--" + name.replace("_", "-")
    return f"--set {name}" if name is not None and isinstance(diagnostic, ParameterError) else None


def _spell(fix: Fix, diagnostic: Diagnostic) -> str | None:
    """Return a fix as an option; ``None`` if the command line has none."""
    name = fix.parameter
    if name == "header":
        return f"--{'header' if fix.value else 'no-header'} {_role(diagnostic.path) or 'FILE'}"
    if name not in OPTIONS and name not in SAME_NAME:
        return None
    option = OPTIONS.get(name, "--" + name.replace("_", "-"))
    if name in FLAGS:
        return option
    if name == "unlabelled" and isinstance(fix.value, list):
        return " ".join(f"{option} {shlex.quote(str(label))}" for label in fix.value)
    if name == "label_separator":
        return f"{option} {shlex.quote(str(fix.value))}"
    if name in ("names", "ignore"):
        return f"{option} {diagnostic.column or 'COLUMN'}"
    return f"{option} {PLACEHOLDERS.get(name, 'COLUMN') if fix.value is ... else fix.value}"


def _role(path: Path | None) -> str | None:
    """Return what a file is for, by the option that names it: ``"edges"`` after ``--edges``."""
    arguments = [part for argument in ARGUMENTS.get() for part in argument.split("=", 1)]
    for option, value in pairwise(arguments):
        if option.removeprefix("--") in ROLES and Path(value) == path:
            return option.removeprefix("--")
    return None


@contextmanager
def _redirected(receive: Callable[[str], None]) -> Iterator[None]:
    """Pass the text of planetoid's warnings to a function; others are shown as usual."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if isinstance(message, PlanetoidWarning):
            receive(render(message))
        else:
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
