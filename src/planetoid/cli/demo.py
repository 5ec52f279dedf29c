"""``planetoid demo``: the methods side by side on the bundled Cora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import print_json, print_message, print_table
from planetoid.cli.options import AsJson, Processes, Quiet
from planetoid.cli.outputs import make_output_folder
from planetoid.registry import METHODS
from planetoid.utils.atomic import atomic_write
from planetoid.utils.text import pluralize
from planetoid.utils.threads import available_cores

if TYPE_CHECKING:
    from rich.table import Table

    from planetoid.cli.demo_picture import FlatMap
    from planetoid.data.dataset import Dataset
    from planetoid.evaluation import Protocol, Result, Run

__all__ = ["demo"]

SHOWN = ("feat", "lp", "graphemb", "ssgc", "planetoid-g", "planetoid-t", "planetoid-i", "gcn", "planetoid")
MAPPED = ("graphemb", "planetoid")  # methods whose embeddings are drawn


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure and the results.", metavar="FOLDER")] = Path("demo"),
    seeds: Annotated[int, typer.Option(min=1, help="Number of random splits per method.")] = 5,
    as_json: AsJson = False,
    jobs: Processes = 0,
    quiet: Quiet = False,
) -> None:
    """Compare methods on the bundled Cora: no download, less than a minute.

    Each method is trained on 20 labels per class and tested on 1,000 other papers.
    Writes [bold]demo.png[/bold] and [bold]results.json[/bold] to the folder, and replaces those of an
    earlier demo.

    For example:
      [bold]planetoid demo --seeds 3 --out /tmp/demo[/bold]
    """
    from planetoid import datasets
    from planetoid.cli.demo_picture import draw
    from planetoid.evaluation import Protocol

    folder = make_output_folder(out)
    data = datasets.load("cora-bundled")
    protocol = Protocol()
    print_message(introduction(data), quiet=quiet)
    maps: dict[str, FlatMap] = {}
    results = compare(data, protocol, range(seeds), jobs or min(4, available_cores()), maps, quiet=quiet)
    record = as_record(results, data, protocol)
    picture = folder / "demo.png"
    with atomic_write(picture) as temporary:
        draw(temporary, data, results, maps)
    with atomic_write(folder / "results.json") as temporary:
        temporary.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if as_json:
        print_json({**record, "picture": str(picture)})
    else:
        print_table(as_table(results))
        print(remarks(results, protocol))  # noqa: T201
    print_message(f"Figure: {picture}\nResults: {folder / 'results.json'}", quiet=quiet)


def introduction(data: Dataset) -> str:
    """Return a line about the data."""
    return (
        f"Cora: {data.n_nodes:,} papers, {data.graph.n_edges:,} citations, {data.n_features:,} words. "
        f"To which of {data.n_classes} fields does a paper belong?"
    )


def compare(
    data: Dataset, protocol: Protocol, seeds: range, jobs: int, maps: dict[str, FlatMap], *, quiet: bool
) -> list[Result]:
    """Run every method on every split; put maps of the embeddings of the first split into ``maps``."""
    from planetoid.evaluation import evaluate
    from planetoid.utils.progress import progress

    def collect(result: Result, kept: FlatMap | None) -> None:
        advance(1, f"{METHODS.class_name(result.method)}, split {result.seed}")
        if kept is not None:
            maps[result.method] = kept

    with progress("", len(SHOWN) * len(seeds), verbose=not quiet) as advance:
        return evaluate(SHOWN, data, protocol=protocol, seeds=seeds, jobs=jobs, keep=flat_embedding, on_result=collect)


def flat_embedding(run: Run) -> FlatMap | None:
    """Return a map of the training and test nodes of the first split."""
    if run.result.method not in MAPPED or run.result.seed != 0:
        return None
    from typing import cast

    import numpy as np

    from planetoid.cli.demo_picture import FlatMap
    from planetoid.estimator.embedding import EmbeddingMixin
    from planetoid.utils.tsne import tsne_map

    rows = np.concatenate([run.split.train, run.split.test])
    return FlatMap(rows, tsne_map(cast("EmbeddingMixin", run.model).embedding_[rows], metric="cosine"))


def as_record(results: list[Result], data: Dataset, protocol: Protocol) -> dict[str, Any]:
    """Return all results as plain data."""
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
    """Return one row per method, the most accurate in bold."""
    from rich import box
    from rich.table import Table

    from planetoid.evaluation import summarize, what_it_uses

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("method", "short name", "learns from"):
        table.add_column(name, no_wrap=True)
    for name in ("accuracy %", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = summarize(results)
    best = max(row.metrics["accuracy"].mean for row in rows)
    for row in rows:
        accuracy = row.metrics["accuracy"]
        table.add_row(
            METHODS.class_name(row.method),
            row.method,
            what_it_uses(row.method),
            accuracy.percent(),
            f"{row.fit_seconds:.2f}",
            style="bold" if accuracy.mean == best else None,
        )
    return table


def remarks(results: list[Result], protocol: Protocol) -> str:
    """Return how the figures were measured, and an example of the warnings."""
    first, n_splits = results[0], len({result.seed for result in results})
    lines = [
        f"Accuracy on {first.n_test:,} test papers, mean ± standard deviation of {pluralize(n_splits, 'split')}; "
        "seconds: median time per fit.",
        f"Protocol: {protocol.in_words()}.",
    ]
    warned = {result.method: result.warnings[0] for result in results if result.warnings}
    if warned:
        lines.append(f"Warnings of {', '.join(warned)} are in the results, for example: {next(iter(warned.values()))}.")
    return "\n".join(lines)
