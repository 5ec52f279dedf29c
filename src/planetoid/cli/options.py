"""Options that several commands share, each defined once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from planetoid.cli.data_options import DataOptions

__all__ = [
    "AsJson",
    "Engine",
    "FeaturesFormat",
    "Force",
    "HoldOut",
    "IdColumn",
    "Ids",
    "Journal",
    "Methods",
    "Model",
    "NewFeatures",
    "NewNodeTable",
    "NewNodes",
    "PerClass",
    "Processes",
    "Quiet",
    "Scheduler",
    "Seed",
    "Settings",
    "Splits",
    "TrainShare",
    "UnseenNodes",
    "data_options",
    "takes_data",
]

PANEL = "Data"
FORMATS_HELP = "Format of --features if the suffix does not show it: table, tokens, svmlight, npz, ..."


def _data_option(option: str, text: str, kind: type, metavar: str) -> object:
    help_ = typer.Option(option, help=text, show_default=False, rich_help_panel=PANEL, metavar=metavar)
    return Annotated[kind | None, help_]


# The fields of DataOptions, in the order of the help.
DATA_OPTIONS: dict[str, object] = {
    "edges": _data_option(
        "--edges",
        "Edges: a table with two columns of ids and, optionally, a weight. Tables are CSV, TSV (also compressed), "
        "Parquet, Arrow, JSON lines, a database with --query, a folder or pattern of parts, or - for standard input.",
        Path,
        "FILE",
    ),
    "features": _data_option(
        "--features",
        "Features: a table of numbers with a column of ids, a .txt file of 'id token token:weight ...', or rows "
        "without ids (.npz, .npy, .mat, .svm).",
        Path,
        "FILE",
    ),
    "nodes": _data_option(
        "--nodes",
        "Nodes: a table with a column of ids, columns of any kind as features and perhaps the labels, instead of "
        "--features and --labels. Numbers, categories, dates, text and lists are each converted to features.",
        Path,
        "FILE",
    ),
    "labels": _data_option("--labels", "Known labels: a table of id and label.", Path, "FILE"),
    "validation": _data_option(
        "--validation",
        "Labels for early stopping and calibration, never for fitting: a table of id and label.",
        Path,
        "FILE",
    ),
    "directed": Annotated[bool, typer.Option("--directed", help="Keep the direction of edges.", rich_help_panel=PANEL)],
    "source_column": _data_option(
        "--source-column", "Source column of --edges, by name or by number counted from 0.", str, "COLUMN"
    ),
    "target_column": _data_option("--target-column", "Target column of --edges.", str, "COLUMN"),
    "weight_column": _data_option("--weight-column", "Weight column of --edges.", str, "COLUMN"),
    "id_column": _data_option(
        "--id-column", "Column of node ids, in the tables of nodes, features and labels that have it.", str, "COLUMN"
    ),
    "label_column": _data_option(
        "--label-column", "Column of labels in --nodes or --labels; an empty label is unknown.", str, "COLUMN"
    ),
    "ignore": _data_option(
        "--ignore", "Column of --features or --nodes to leave out; may be repeated.", list[str], "COLUMN"
    ),
    "text_columns": _data_option(
        "--text-columns", "Column of --nodes that is free text; may be repeated.", list[str], "COLUMN"
    ),
    "categorical": _data_option(
        "--categorical", "Column of --nodes whose values are categories; may be repeated.", list[str], "COLUMN"
    ),
    "unlabelled": _data_option(
        "--unlabelled", "Value that stands for an unknown label, such as NA; may be repeated.", list[str], "LABEL"
    ),
    "features_format": _data_option("--features-format", FORMATS_HELP, str, "FORMAT"),
    "header": _data_option(
        "--header",
        "File that has a header: edges, features, nodes, labels or validation; may be repeated. By default headers "
        "are detected.",
        list[str],
        "FILE",
    ),
    "no_header": _data_option(
        "--no-header", "File that has no header: edges, ...; may be repeated.", list[str], "FILE"
    ),
    "decimal": _data_option("--decimal", "Decimal separator of numbers in text; by default detected.", str, "SIGN"),
    "query": _data_option(
        "--query",
        "SQL query for an SQLite or DuckDB file, or the name of a table, for example edges='SELECT a, b FROM follows'; "
        "may be repeated.",
        list[str],
        "FILE=SQL",
    ),
    "multi_label": Annotated[
        bool,
        typer.Option(
            "--multi-label", help="Nodes may have several labels, one per row of --labels.", rich_help_panel=PANEL
        ),
    ],
    "label_separator": _data_option(
        "--label-separator", "Separator of several labels of a node in one cell, such as ';'.", str, "TEXT"
    ),
}
REPEATED = ("ignore", "text_columns", "categorical", "unlabelled", "header", "no_header", "query")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only: no messages, no progress bar.")]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Where to run independent tasks: dask. By default in local processes.", show_default=False, metavar="NAME"
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of the Dask scheduler, such as tcp://10.0.0.1:8786; by default workers are started locally.",
        show_default=False,
        metavar="ADDRESS",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing output.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Processes = Annotated[int, typer.Option(min=0, help="Number of processes; 0: one per core, at most 4.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="Short names of methods, separated by commas; by default all that suit the data.",
        show_default=False,
        metavar="NAMES",
    ),
]
NewNodes = Annotated[
    bool, typer.Option("--new-nodes", help="Only use methods that label nodes which are not in the graph.")
]
UnseenNodes = Annotated[
    bool,
    typer.Option(
        "--new-nodes", help="Remove the test nodes from the graph before fitting, and predict them from their features."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameter of the method, for example training.steps=500; may be repeated.",
        metavar="KEY=VALUE",
    ),
]

# Of commands that measure on repeated splits.
Splits = Annotated[
    int, typer.Option(min=1, help="Number of splits, the same for all methods; with 5, every label is tested once.")
]
TrainShare = Annotated[
    float | None,
    typer.Option(
        help="Share of the labels per class to train on, in random splits instead of folds.",
        show_default=False,
    ),
]
PerClass = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of labels per class to train on, in random splits instead of folds.", show_default=False
    ),
]
HoldOut = Annotated[
    float | None,
    typer.Option(
        help="Share of all labels to hold out for early stopping, in random splits instead of folds.",
        show_default=False,
    ),
]

Journal = Annotated[
    Path | None,
    typer.Option(
        help="File that records every finished run; the same command, or one with more splits, resumes from it.",
        show_default=False,
        metavar="FILE",
    ),
]

# Of commands that read a saved model.
Model = Annotated[Path, typer.Argument(help="Folder of a fitted model.", show_default=False, metavar="MODEL")]
NewFeatures = Annotated[
    Path | None,
    typer.Option(
        "--features",
        help="Features of new nodes: the columns the model was fitted on, in any order.",
        show_default=False,
        metavar="FILE",
    ),
]
NewNodeTable = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        help="New nodes as raw rows of a node table, for a model that was fitted with --nodes.",
        show_default=False,
        metavar="FILE",
    ),
]
Ids = Annotated[
    Path | None,
    typer.Option(
        "--ids", help="Only these fitted nodes: a text file with one id per line.", show_default=False, metavar="FILE"
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id-column", help="Column of ids in --features or --nodes.", show_default=False, metavar="COLUMN"),
]
FeaturesFormat = Annotated[
    str | None, typer.Option("--features-format", help=FORMATS_HELP, show_default=False, metavar="FORMAT")
]


def takes_data(*, validation: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that name files; it gets them as its argument ``options``."""
    names = [field.name for field in fields(DataOptions) if validation or field.name != "validation"]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "options"]

        @functools.wraps(command)
        def with_files(**arguments: object) -> None:
            values = {name: arguments.pop(name) for name in names}
            command(options=data_options(values), **arguments)

        shown = [*(_parameter(name) for name in names), *own]
        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in shown]
        with_files.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]  # typer reads it
        with_files.__annotations__ = {one.name: one.annotation for one in keywords}
        return with_files

    return decorate


def data_options(values: Mapping[str, object]) -> DataOptions:
    """Return the options that name files, out of all that typer has parsed."""
    names = [field.name for field in fields(DataOptions) if field.name in values]
    return DataOptions(**{name: _value(name, values[name]) for name in names})  # type: ignore[arg-type]


def _parameter(name: str) -> inspect.Parameter:
    default = False if name in ("directed", "multi_label") else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=DATA_OPTIONS[name])


def _value(name: str, value: object) -> object:
    """Return an option as ``DataOptions`` takes it: columns may be numbers, what may be repeated is a tuple."""
    if name.endswith("_column") and isinstance(value, str) and value.isdigit():
        return int(value)
    if name in REPEATED:
        return tuple(value) if isinstance(value, (list, tuple)) else ()
    return value
