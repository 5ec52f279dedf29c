"""``planetoid datasets``: what can be loaded by name, and where it is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import print_json, print_table, tell

if TYPE_CHECKING:
    from planetoid.datasets import DatasetInfo

app = typer.Typer(no_args_is_help=True, help="The paper's data sets: what they are, where they are, getting them.")

Name = Annotated[str, typer.Argument(help="A name that `planetoid datasets list` shows.", show_default=False)]
Root = Annotated[Path | None, typer.Option(help="A folder to look in first.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]


@app.command("list")
def list_datasets(root: Root = None, as_json: AsJson = False) -> None:
    """Show every data set and whether its files are on this machine."""
    from planetoid import datasets

    entries = [(datasets.info(name), whereabouts(datasets.info(name), root)) for name in datasets.names()]
    if as_json:
        print_json([{**asdict(entry), "where": where} for entry, where in entries])
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("nodes", "edges", "classes"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for entry, where in entries:
        counts = (f"{count:,}" for count in (entry.paper_nodes, entry.paper_edges, entry.paper_classes))
        table.add_row(entry.name, *counts, where or _how_to_get(entry))
    print_table(table)
    tell("Counts are the paper's; `planetoid datasets info NAME` counts for itself.")


@app.command("info")
def info(name: Name, root: Root = None, as_json: AsJson = False) -> None:
    """Show what a data set is and, if it is on this machine, count what is in it."""
    from planetoid import datasets

    entry = datasets.info(name)
    where = whereabouts(entry, root)
    counted = None
    if where is not None and entry.kind != "diel":  # which takes a minute to read
        counted = datasets.load(name, root=root, download=False)
    if as_json:
        counts = None if counted is None else _counts(counted)
        print_json({**asdict(entry), "where": where, "counted": counts})
        return
    lines = [f"{entry.name}: {entry.description}"] if counted is None else [str(counted)]
    paper = f"{entry.paper_nodes:,} nodes, {entry.paper_edges:,} edges, {entry.paper_classes:,} classes"
    lines.append(f"  {'paper':<9} {paper}")
    if counted is None:
        lines.append(f"  {'origin':<9} {entry.origin}")
    lines.append(f"  {'where':<9} {where or _how_to_get(entry)}")
    print("\n".join(lines))  # noqa: T201


@app.command("get")
def get(name: Name, root: Root = None, quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False) -> None:
    """Download a data set unless it is here, check its files, and say where it is.

    Example: [bold]planetoid datasets get pubmed[/bold]
    """
    from planetoid import datasets

    entry = datasets.info(name)
    data = datasets.load(name, root=root)
    tell(str(data), quiet=quiet)
    print(whereabouts(entry, root))  # noqa: T201


def whereabouts(entry: DatasetInfo, root: Path | None) -> str | None:
    """Return the folder that has a data set's files, or ``None``; nothing is read."""
    from planetoid.datasets.authors import file_names
    from planetoid.datasets.diel import diel_files
    from planetoid.datasets.files import candidate_folders

    if entry.kind == "bundled":
        return "in the package"
    wanted, subfolder = file_names(entry.stem, "ind"), "planetoid"
    if entry.kind == "diel":
        wanted, subfolder = diel_files(run=0), "diel"
    for folder in candidate_folders(root, subfolder):
        if all((folder / name).is_file() for name in wanted):
            return str(folder)
    return None


def _how_to_get(entry: DatasetInfo) -> str:
    if entry.kind == "diel":
        return "not here; its files are to be put in place by hand"
    return f"not here; planetoid datasets get {entry.name}"


def _counts(data: Any) -> dict[str, int]:
    return {
        "nodes": data.n_nodes,
        "edges": data.graph.n_edges,
        "features": data.n_features,
        "classes": data.n_classes,
        "labels": int((data.y >= 0).sum()),
    }
