"""Options that several commands share, each written once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from planetoid.cli.sources import Sources

__all__ = ["AsJson", "Force", "Jobs", "Methods", "NewNodes", "Quiet", "Seed", "Settings", "takes_data"]

PANEL = "Data"


def _file(option: str, text: str) -> Any:
    help_ = typer.Option(option, help=text, show_default=False, rich_help_panel=PANEL, metavar="FILE")
    return Annotated[Path | None, help_]


def _column(option: str, text: str) -> Any:
    help_ = typer.Option(option, help=text, show_default=False, rich_help_panel=PANEL, metavar="COLUMN")
    return Annotated[str | None, help_]


def _several(option: str, text: str, metavar: str) -> Any:
    help_ = typer.Option(option, help=text, show_default=False, rich_help_panel=PANEL, metavar=metavar)
    return Annotated[list[str] | None, help_]


# The fields of Sources, in the order of the help.
DATA_OPTIONS: dict[str, Any] = {
    "edges": _file("--edges", "Edges: CSV, TSV (also gzip) or Parquet; two columns of ids and, perhaps, a weight."),
    "features": _file(
        "--features",
        "Features: a CSV or Parquet table with a column of ids, words (.txt: id token token:weight ...), or rows "
        "without ids (.npz, .svm).",
    ),
    "labels": _file("--labels", "Known labels: a table of id and label."),
    "validation": _file("--validation", "Further labels, to stop by and never to learn from: a table of id and label."),
    "directed": Annotated[bool, typer.Option("--directed", help="Keep the direction of edges.", rich_help_panel=PANEL)],
    "source_column": _column("--source-column", "Where an edge starts; by name, or by number from 0."),
    "target_column": _column("--target-column", "Where an edge ends."),
    "weight_column": _column("--weight-column", "Weight of an edge."),
    "id_column": _column("--id-column", "Node ids in the tables of features and labels that have such a column."),
    "label_column": _column("--label-column", "Labels."),
    "ignore": _several("--ignore", "A column of --features to leave out; may be repeated.", "COLUMN"),
    "features_format": Annotated[
        str | None,
        typer.Option(
            "--features-format",
            help="table, tokens, svmlight or npz, where the suffix does not tell.",
            show_default=False,
            rich_help_panel=PANEL,
            metavar="FORMAT",
        ),
    ],
    "header": _several(
        "--header", "edges, features, labels or validation: this file has a header (else the first lines tell).", "FILE"
    ),
    "no_header": _several("--no-header", "This file has none.", "FILE"),
}

AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages and no progress; only errors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything that is drawn: the same seed, the same result.")]
Jobs = Annotated[int, typer.Option(min=0, help="Processes; 0: one a core, but not more than four.")]
Methods = Annotated[
    str | None,
    typer.Option("--method", help="Short names, separated by commas.", show_default=False, metavar="NAMES"),
]
NewNodes = Annotated[
    bool, typer.Option("--new-nodes", help="Labels are wanted for nodes that are not in the graph yet.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A parameter of the method, for instance training.steps=500; may be repeated.",
        metavar="KEY=VALUE",
    ),
]


def takes_data(*, validation: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that name files; it gets them as its argument ``sources``."""
    names = [field.name for field in fields(Sources) if validation or field.name != "validation"]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "sources"]

        @functools.wraps(command)
        def with_files(**given: Any) -> None:
            told = {name: given.pop(name) for name in names}
            command(sources=_sources(told), **given)

        shown = [*(_parameter(name) for name in names), *own]
        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in shown]
        with_files.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # typer reads it
        with_files.__annotations__ = {one.name: one.annotation for one in keywords}
        return with_files

    return decorate


def _parameter(name: str) -> inspect.Parameter:
    default = False if name == "directed" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=DATA_OPTIONS[name])


def _sources(told: dict[str, Any]) -> Sources:
    for name, value in told.items():
        if name.endswith("_column") and value is not None and value.isdigit():
            told[name] = int(value)
        elif name in ("ignore", "header", "no_header"):
            told[name] = tuple(value or ())
    return Sources(**told)
