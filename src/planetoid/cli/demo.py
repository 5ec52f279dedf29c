"""``planetoid demo``: the methods side by side on the Cora that comes with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import counted, output_folder, print_json, print_table, tell
from planetoid.registry import METHODS
from planetoid.utils.atomic import atomic_write
from planetoid.utils.threads import available_cores

if TYPE_CHECKING:
    from rich.table import Table

    from planetoid.datasets import Dataset
    from planetoid.evaluation import Protocol, Result, Run

__all__ = ["demo"]

SHOWN = ("feat", "lp", "lgc", "mad", "graphemb", "planetoid-i", "planetoid-g", "planetoid-t")
MAPPED = ("graphemb", "planetoid-t")  # whose embeddings are drawn


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the results.")] = Path("demo"),
    seeds: Annotated[int, typer.Option(min=1, help="Random splits to run each method on.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="JSON to stdout instead of the table.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: one a core, but not more than four.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages and no progress bar.")] = False,
) -> None:
    """Compare methods on the bundled Cora: no download, under a minute.

    Each learns from 20 labels a class and is measured on 1,000 other papers.
    Writes [bold]demo.png[/bold] and [bold]results.json[/bold] into the folder, over those of an earlier demo.

    Example: [bold]planetoid demo --seeds 3 --out /tmp/demo[/bold]
    """
    from planetoid import datasets
    from planetoid.cli.demo_picture import draw
    from planetoid.evaluation import Protocol

    folder = output_folder(out)
    data = datasets.load("cora-bundled")
    protocol = Protocol()
    tell(introduction(data), quiet=quiet)
    maps: dict[str, Any] = {}
    results = compare(data, protocol, range(seeds), jobs or min(4, available_cores()), maps, quiet=quiet)
    record = as_record(results, data, protocol)
    picture = folder / "demo.png"
    with atomic_write(picture) as path:
        draw(path, data, results, maps)
    with atomic_write(folder / "results.json") as path:
        path.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if as_json:
        print_json({**record, "picture": str(picture)})
    else:
        print_table(as_table(results))
        print(notes(results, protocol))  # noqa: T201
    tell(f"Picture: {picture}\nResults: {folder / 'results.json'}", quiet=quiet)


def introduction(data: Dataset) -> str:
    """Say in two lines what is about to happen."""
    return (
        f"Cora: {data.n_nodes:,} papers, {data.graph.n_edges:,} citations, {data.n_features:,} words. "
        f"Which of {data.n_classes} fields is a paper from?"
    )


def compare(
    data: Dataset, protocol: Protocol, seeds: range, jobs: int, maps: dict[str, Any], *, quiet: bool
) -> list[Result]:
    """Run every method over the seeds under a progress bar; put maps of the first seed's embeddings into ``maps``."""
    from planetoid.evaluation import evaluate
    from planetoid.utils.progress import progress

    def note(result: Result, kept: Any) -> None:
        advance(1, f"{METHODS[result.method].__name__}, split {result.seed}")
        if kept is not None:
            maps[result.method] = kept

    with progress("", len(SHOWN) * len(seeds), verbose=not quiet) as advance:
        return evaluate(SHOWN, data, protocol=protocol, seeds=seeds, jobs=jobs, keep=flat_embedding, on_result=note)


def flat_embedding(run: Run) -> Any:
    """Return rows and their places on a map, of the labelled and the test nodes of the first split."""
    if run.result.method not in MAPPED or run.result.seed != 0:
        return None
    import numpy as np

    from planetoid.utils.tsne import tsne_map

    rows = np.concatenate([run.split.train, run.split.test])
    return rows, tsne_map(run.model.embedding_[rows], metric="cosine")


def as_record(results: list[Result], data: Dataset, protocol: Protocol) -> dict[str, Any]:
    """Return everything that came out, as plain data."""
    from planetoid.evaluation import summarize
    from planetoid.utils.versions import package_versions

    return {
        "dataset": data.name,
        "protocol": protocol.in_words(),
        "versions": package_versions(),
        "summary": [row.as_dict() for row in summarize(results)],
        "results": [result.as_dict() for result in results],
    }


def as_table(results: list[Result]) -> Table:
    """Return one row a method, as they were run."""
    from rich import box
    from rich.table import Table

    from planetoid.evaluation import summarize, what_it_uses

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("method", no_wrap=True)
    table.add_column("short name", no_wrap=True)
    table.add_column("learns from", no_wrap=True)
    table.add_column("accuracy %", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    rows = summarize(results)
    best = max(row.metrics["accuracy"].mean for row in rows)
    for row in rows:
        accuracy = row.metrics["accuracy"]
        table.add_row(
            METHODS[row.method].__name__,
            row.method,
            what_it_uses(row.method),
            accuracy.percent(),
            f"{row.fit_seconds:.2f}",
            style="bold" if accuracy.mean == best else None,
        )
    return table


def notes(results: list[Result], protocol: Protocol) -> str:
    """Say how the figures were made, and what the methods warned of."""
    first, n_splits = results[0], len({result.seed for result in results})
    lines = [
        f"Accuracy on {first.n_test:,} test papers, mean ± standard deviation of {counted(n_splits, 'split')}; "
        "seconds: median time of a fit.",
        f"Protocol: {protocol.in_words()}.",
    ]
    warned = {result.method: result.warnings[0] for result in results if result.warnings}
    if warned:
        lines.append(
            f"Warnings of {', '.join(warned)} are in the results; for instance: {next(iter(warned.values()))}."
        )
    return "\n".join(lines)
