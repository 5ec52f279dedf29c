"""``planetoid check``: what is in the data, what is wrong with it, which methods fit it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from planetoid.cli.console import in_options, noted, print_json, print_lines, why_not, working
from planetoid.cli.options import AsJson, NewNodes, Quiet, takes_data
from planetoid.cli.sources import Sources
from planetoid.errors import DataError, PlanetoidError

if TYPE_CHECKING:
    from planetoid.cli.inputs import Data

__all__ = ["check"]

NOT_USABLE = 2


@takes_data(validation=True)
def check(sources: Sources, new_nodes: NewNodes = False, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Tell what is in the data, what is wrong with it, and which methods fit it.

    Nothing is written. The exit code is 0 if the data can be used, else 2.

    For instance:
      [bold]planetoid check --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid check --edges e.tsv --no-header edges --labels l.csv --json[/bold]
    """
    sources.require(labels=False)
    report = examine(sources, new_nodes=new_nodes, quiet=quiet)
    if as_json:
        print_json(report)
    else:
        print_lines(_as_text(report))
    if not report["usable"]:
        raise typer.Exit(NOT_USABLE)


def examine(sources: Sources, *, new_nodes: bool = False, quiet: bool = False) -> dict[str, Any]:
    """Return everything that ``planetoid check`` tells, as plain data."""
    from planetoid.cli.inputs import read_data

    notes: list[str] = []
    with noted(notes, quiet=True):
        try:
            data = read_data(sources, quiet=quiet)
        except DataError as error:
            return {"usable": False, "errors": _all_errors(sources, str(error), quiet), "warnings": notes}
    return {"errors": [], "warnings": notes} | _examine(data, new_nodes, quiet)


def _examine(data: Data, new_nodes: bool, quiet: bool) -> dict[str, Any]:
    from planetoid.cli.choosing import Situation, choose, fitting
    from planetoid.cli.facts import counts, doubts, facts

    with working("looking at the data", quiet=quiet):
        found = counts(data)
        sentences = doubts(data, found)
        table = facts(data, found)
    situation = Situation.of(data, new_nodes=new_nodes)
    errors = _faults(data, found)
    methods, reasons = fitting(situation)
    if not methods and not errors:
        errors.append("No method fits: " + next(iter(reasons.values())) + ".")
    report: dict[str, Any] = {"usable": not errors, "errors": errors, "doubts": sentences, "counts": found}
    report["facts"] = [list(row) for row in table]
    if not errors:
        method, why = choose(situation)
        report |= {"methods": methods, "do_not_fit": reasons, "recommended": {"method": method, "why": why}}
    return report


def _faults(data: Data, found: dict[str, Any]) -> list[str]:
    """Return what makes it impossible to learn anything."""
    if data.labels is None:
        return []
    if len(found["classes"]) == 1:
        return [f"Every label is {next(iter(found['classes']))!r}: there have to be two classes at least."]
    return []


def _all_errors(sources: Sources, first: str, quiet: bool) -> list[str]:
    """Look at each other file alone, since the one that was wrong need not be the only one."""
    errors = [in_options(first)]
    for role, path in sources.files():
        if str(path) in first:
            continue
        try:
            with working(f"reading {path}", quiet=quiet):
                _read_alone(sources, role, path)
        except PlanetoidError as error:
            errors.append(in_options(str(error)))
    return list(dict.fromkeys(errors))


def _read_alone(sources: Sources, role: str, path: Path) -> None:
    """Read a file as if there were no other."""
    from planetoid.cli.inputs import read_features
    from planetoid.io import read_labels
    from planetoid.io.edges import read_edges

    if role == "features":
        read_features(sources, quiet=True)
    elif role == "edges":
        read_edges(
            path,
            source=sources.source_column,
            target=sources.target_column,
            weight=sources.weight_column,
            header=sources.has_header(role),
        )
    else:
        read_labels(
            path,
            id_column=sources.id_column_of(role),
            label_column=sources.label_column,
            header=sources.has_header(role),
        )


def _as_text(report: dict[str, Any]) -> list[str]:
    lines = [f"{name:<11} {text}" for name, text in report.get("facts", [])]
    for title, key in (("Errors", "errors"), ("Warnings", "warnings"), ("Worth knowing", "doubts")):
        if report.get(key):
            lines += ["", f"{title}:", *(f"  - {sentence}" for sentence in report[key])]
    if not report["usable"]:
        return [*lines, "", "The data cannot be used as it is."]
    if "methods" in report:
        lines += ["", f"Methods that fit: {', '.join(report['methods'])}"]
        lines += [f"  {line}" for line in why_not(report["do_not_fit"])]
        lines.append(f"Recommended: {report['recommended']['method']}, because {report['recommended']['why']}.")
    if not any(name == "labels" for name, _ in report["facts"]):
        lines.append("No labels were given, and every method needs some: --labels.")
    return lines
