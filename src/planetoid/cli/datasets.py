"""``planetoid datasets``: which datasets can be loaded by name, and where they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planetoid.cli.console import print_json, print_message, print_table
from planetoid.cli.options import AsJson, Quiet

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.datasets import DatasetInfo

app = typer.Typer(no_args_is_help=True, help="List, describe and download the paper's datasets.")

Name = Annotated[
    str, typer.Argument(help="Name of a dataset; see planetoid datasets list.", show_default=False, metavar="NAME")
]
Root = Annotated[Path | None, typer.Option(help="Folder to search first.", show_default=False, metavar="FOLDER")]


@app.command("list")
def list_datasets(root: Root = None, as_json: AsJson = False) -> None:
    """List all datasets and where their files are."""
    from planetoid import datasets

    entries = [(datasets.info(name), find_folder(datasets.info(name), root)) for name in datasets.names()]
    if as_json:
        print_json([{**asdict(entry), "where": folder} for entry, folder in entries])
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("nodes", "edges", "classes"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for entry, folder in entries:
        counts = (f"{count:,}" for count in (entry.paper_nodes, entry.paper_edges, entry.paper_classes))
        table.add_row(entry.name, *counts, folder or _how_to_get(entry))
    print_table(table)
    print_message("Counts are those of the paper; planetoid datasets info NAME counts the files.")


@app.command("info")
def info(name: Name, root: Root = None, as_json: AsJson = False) -> None:
    """Describe a dataset and, if its files are available, count what is in them."""
    from planetoid import datasets

    entry = datasets.info(name)
    folder = find_folder(entry, root)
    data = None
    if folder is not None and entry.kind != "diel":  # which takes a minute to read
        data = datasets.load(name, root=root, download=False)
    if as_json:
        print_json({**asdict(entry), "where": folder, "counts": None if data is None else _counts(data)})
        return
    lines = [f"{entry.name}: {entry.description}"] if data is None else [str(data)]
    paper = f"{entry.paper_nodes:,} nodes, {entry.paper_edges:,} edges, {entry.paper_classes:,} classes"
    lines.append(f"  {'paper':<10} {paper}")
    if data is None:
        lines.append(f"  {'origin':<10} {entry.origin}")
    lines.append(f"  {'where':<10} {folder or _how_to_get(entry)}")
    print("\n".join(lines))  # noqa: T201


@app.command("get")
def get(name: Name, root: Root = None, quiet: Quiet = False) -> None:
    """Download a dataset if necessary, verify its files, and print their folder.

    For example:
      [bold]planetoid datasets get pubmed[/bold]
    """
    from planetoid import datasets

    entry = datasets.info(name)
    data = datasets.load(name, root=root)
    print_message(str(data), quiet=quiet)
    print(find_folder(entry, root))  # noqa: T201


def find_folder(entry: DatasetInfo, root: Path | None) -> str | None:
    """Return the folder that has a dataset's files, or ``None``; no file is read."""
    from planetoid.datasets.authors import file_names
    from planetoid.datasets.diel import diel_files
    from planetoid.datasets.files import candidate_folders

    if entry.kind == "bundled":
        return "bundled with the package"
    wanted, subfolder = file_names(entry.stem, "ind"), "planetoid"
    if entry.kind == "diel":
        wanted, subfolder = diel_files(run=0), "diel"
    for folder in candidate_folders(root, subfolder):
        if all((folder / name).is_file() for name in wanted):
            return str(folder)
    return None


def _how_to_get(entry: DatasetInfo) -> str:
    if entry.kind == "diel":
        return "not found; has to be downloaded by hand"
    return f"not found; planetoid datasets get {entry.name}"


def _counts(data: Dataset) -> dict[str, int]:
    return {
        "nodes": data.n_nodes,
        "edges": data.graph.n_edges,
        "features": data.n_features,
        "classes": data.n_classes,
        "labels": len(data.labelled),
    }
