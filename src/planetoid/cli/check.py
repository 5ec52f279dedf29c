"""``planetoid check``: what is in the data, what is wrong with it, which methods suit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from planetoid.cli.console import print_json, print_lines, status
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings, render
from planetoid.cli.options import AsJson, NewNodes, Quiet, takes_data
from planetoid.errors import DataError
from planetoid.labels import minus_one_hint
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    import numpy.typing as npt

    from planetoid.data.dataset import Dataset

__all__ = ["check"]

Correct: TypeAlias = "Mapping[str, npt.NDArray[np.bool_]]"  # by view: which left-out labels were predicted

NOT_USABLE = 2
SHOWN_COLUMNS = 5  # that are treated alike


@takes_data(validation=True)
def check(options: DataOptions, new_nodes: NewNodes = False, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show what is in the data, what is wrong with it, and which methods suit it.

    Nothing is written. The exit code is 0 if the data can be used, else 2.

    For example:
      [bold]planetoid check --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid check --edges follows.csv --nodes people.csv --label-column role[/bold]
      [bold]planetoid check --edges e.tsv --no-header edges --labels l.csv --json[/bold]
    """
    options.require(labels=False)
    report = examine(options, new_nodes=new_nodes, quiet=quiet)
    if as_json:
        print_json(report)
    else:
        print_lines(_as_text(report))
    if not report["usable"]:
        raise typer.Exit(NOT_USABLE)


def examine(options: DataOptions, *, new_nodes: bool = False, quiet: bool = False) -> dict[str, Any]:
    """Return everything that ``planetoid check`` shows, as plain data."""
    with collect_warnings(quiet=True) as warned:
        try:
            data = options.read(labels=False, quiet=quiet)
        except DataError as error:
            # It need not be the only one; what is wrong between two files shows up in none of them alone.
            found = options.errors(quiet=quiet) or [error]
            errors = list(dict.fromkeys(render(one) for one in found))  # two files may have the same one
            return {"usable": False, "errors": errors, "warnings": warned}
    return {"errors": [], "warnings": warned} | _examine(data, new_nodes, quiet)


def _examine(data: Dataset, new_nodes: bool, quiet: bool) -> dict[str, Any]:
    from planetoid.cli.method_choice import choose_method, suitable_methods
    from planetoid.data.issues import find_issues
    from planetoid.data.summary import count, describe
    from planetoid.models.signal import leave_one_out

    with status("analysing the data", quiet=quiet):
        counts = count(data)
        issues = find_issues(data, counts)
        table = describe(data, counts)
        correct = leave_one_out(data)
        if correct:
            table.append(("signal", _signal(correct)))
            issues += _misleading(correct)
    methods, excluded = suitable_methods(data, new_nodes=new_nodes)
    errors = _errors(data)
    if not methods and not errors:
        errors.append("No method suits the data: every method " + next(iter(excluded.values())) + ".")
    report: dict[str, Any] = {"usable": not errors, "errors": errors, "issues": issues, "counts": counts.as_dict()}
    report["summary"] = [list(row) for row in table]
    if data.preparation is not None:
        names = ("column", "kind", "treatment")
        report["columns"] = [dict(zip(names, row, strict=True)) for row in data.preparation.describe()]
    if not errors:
        method, reason = choose_method(data, new_nodes=new_nodes)
        report |= {"methods": methods, "excluded": excluded, "recommended": {"method": method, "reason": reason}}
    return report


def _signal(correct: Correct) -> str:
    names = {
        "features": "features alone",
        "neighbourhood": "features and graph",
        "graph": "graph alone",
        "hops": "own features beside the neighbours'",
    }
    shares = ", ".join(f"{names[view]} {one.mean():.0%}" for view, one in correct.items())
    n_labels = len(next(iter(correct.values())))
    return f"accuracy of a linear model on left-out labels: {shares} ({pluralize(n_labels, 'label')})"


def _misleading(correct: Correct) -> list[str]:
    """Say so if the labels show that joined nodes differ, that the graph makes predictions worse, or features do."""
    from planetoid.evaluation.comparison import paired_difference, score_labels

    scores = {view: score_labels([np.arange(len(one))], [one]) for view, one in correct.items()}
    if "hops" in correct:
        others = [paired_difference(scores["hops"], scores[view]) for view in correct if view != "hops"]
        if all(other.mean > 0 and other.is_clear for other in others):
            return ["Edges join nodes of different classes in a regular way: most methods fail. Use planetoid."]
    if "neighbourhood" not in correct:
        return []
    both = max(("neighbourhood", "graph"), key=lambda view: float(correct[view].mean()))
    by_graph = paired_difference(scores[both], scores["features"])
    by_features = paired_difference(scores["neighbourhood"], scores["graph"])
    if by_graph.mean < 0 and by_graph.is_clear:
        return ["The graph misleads a linear model: predictions from features alone are better. Use planetoid or feat."]
    if by_features.mean < 0 and by_features.is_clear:
        return ["The features mislead a linear model: predictions from the graph alone are better."]
    return []


def _errors(data: Dataset) -> list[str]:
    """Return what makes it impossible to learn anything."""
    if data.n_classes == 1:
        hint = minus_one_hint(data.classes)
        every = f"At least two classes are required, but every label is {data.class_names[0]!r}"
        return [f"{every}." if hint is None else f"{every}; {hint}."]
    return []


def _columns_as_text(columns: list[dict[str, str]]) -> list[str]:
    """Return what was done with each column; those that were treated alike on one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in columns:
        alike.setdefault((row["kind"], row["treatment"]), []).append(row["column"])
    lines = []
    for (kind, treatment), names in alike.items():
        shown = ", ".join(names[:SHOWN_COLUMNS])
        more = f" and {len(names) - SHOWN_COLUMNS:,} more" if len(names) > SHOWN_COLUMNS else ""
        lines.append(f"  - {shown}{more}: {kind}{', because ' if kind == 'left out' else '; '}{treatment}")
    return ["", "Columns:", *lines] if lines else []


def _as_text(report: dict[str, Any]) -> list[str]:
    from planetoid.cli.method_choice import excluded_lines

    lines = [f"{name:<11} {text}" for name, text in report.get("summary", [])]
    lines += _columns_as_text(report.get("columns", []))
    for title, key in (("Errors", "errors"), ("Warnings", "warnings"), ("Possible issues", "issues")):
        if report.get(key):
            lines += ["", f"{title}:", *(f"  - {sentence}" for sentence in report[key])]
    if not report["usable"]:
        return [*(lines if report.get("summary") else lines[1:]), "", "The data cannot be used as it is."]
    lines += ["", f"Methods: {', '.join(report['methods'])}"]
    lines += [f"  {line}" for line in excluded_lines(report["excluded"])]
    lines.append(f"Recommended: {report['recommended']['method']} ({report['recommended']['reason']})")
    if report["counts"]["labels"] == 0:
        lines.append("No labels were given; every method requires some (--labels).")
    return lines
