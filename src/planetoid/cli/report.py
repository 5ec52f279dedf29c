"""``planetoid report``: a saved model as one HTML file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import print_json, print_message
from planetoid.cli.options import AsJson, Force, Model, Quiet
from planetoid.cli.outputs import check_output_file
from planetoid.errors import DataError
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.graph import Graph
    from planetoid.ids import NodeIds

__all__ = ["report"]


def report(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.", metavar="FILE")] = Path("report.html"),
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Labels to test on: a table of id and label. Training nodes are excluded.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Edges, if the model's folder does not hold the graph.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.", show_default=False)] = None,
    points: Annotated[
        int, typer.Option(min=1, help="Largest number of nodes on the map; of more, a sample with all labelled ones.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the map.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of threads for the map.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on a model: one HTML file that needs no network.

    It has a map of the nodes with search, accuracy and calibration on labels
    that the model was not trained on, training curves, and which nodes to
    label next.

    For example:
      [bold]planetoid report model/ --out report.html[/bold]
      [bold]planetoid report model/ --out report.html --truth test.csv --force[/bold]
    """
    check_output_file(out, force=force)
    start = perf_counter()
    from planetoid.persistence import load, read_record
    from planetoid.report import write_report

    fitted, record = load(model), read_record(model)
    if record is None:
        print_message(
            f"{model} has no record of its fit, so the report has no labels, accuracy and command; "
            "planetoid fit writes one",
            quiet=quiet,
        )
    summary = write_report(
        out,
        fitted,
        record=record,
        truth=None if truth is None else _labels(truth, fitted.node_ids_),
        graph=None if edges is None else _graph(edges, fitted.node_ids_),
        title=title,
        max_points=points,
        seed=seed,
        n_jobs=jobs,
        overwrite=force,
        verbose=int(not quiet),
    )
    summary["seconds"] = round(perf_counter() - start, 3)
    print_message(_in_words(summary), quiet=quiet)
    if as_json:
        print_json(summary)
    else:
        print(summary["path"])  # noqa: T201


def _labels(path: Path, ids: NodeIds) -> npt.NDArray[np.object_]:
    from planetoid.io import read_labels

    labels: npt.NDArray[np.object_] = read_labels(path, ids)
    if all(label is None for label in labels):
        raise DataError("no node of the model has a label in the file", path=path)
    return labels


def _graph(path: Path, ids: NodeIds) -> Graph:
    """Read edges with ids of the model's type: integers in the file may be strings in the model."""
    from planetoid.graph import Graph

    graph = Graph.from_file(path)
    if ids.kind == "str" and graph.ids.kind in ("int", "range"):
        names = [str(node) for node in graph.node_ids.tolist()]
        return Graph.from_scipy(graph.to_scipy(), nodes=names)
    return graph


def _in_words(summary: dict[str, Any]) -> str:
    shown = "" if summary["points"] == summary["nodes"] else f" ({summary['points']:,} on the map)"
    tested = ""
    if summary["accuracy"] is not None:
        tested = f", accuracy {100 * summary['accuracy']:.1f} % on {summary['measured_on']:,} {summary['protocol']}"
    size = f"{summary['bytes'] / 1e6:.1f} MB in {summary['seconds']:.1f} s"
    return f"Report on {pluralize(summary['nodes'], 'node')}{shown}{tested}: {size}"
