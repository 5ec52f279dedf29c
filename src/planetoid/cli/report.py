"""``planetoid report``: a saved model as one HTML file."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import check_output, counted, print_json, tell
from planetoid.cli.options import AsJson, Force, Quiet
from planetoid.errors import DataError

if TYPE_CHECKING:
    from planetoid.graph import Graph
    from planetoid.ids import NodeIds

__all__ = ["report"]


def report(
    model: Annotated[Path, typer.Argument(help="Folder that `planetoid fit` wrote.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Labels to measure on: a table of id and label. Nodes that were learned from are left out.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Edges to find neighbours by, if the model's folder does not have them.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.", show_default=False)] = None,
    points: Annotated[
        int, typer.Option(min=1, help="Nodes on the map; of more, a sample with every labelled one.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the map: the same seed, the same file.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Threads for the map.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on a model: one HTML file to look at, to search in and to pass on.

    It has a map of the nodes, accuracy and calibration where classes are known
    that were not learned from, training curves, and which nodes to label next.
    It needs no network.

    Example: [bold]planetoid report model/ --out report.html[/bold]

    With labels to measure on: [bold]planetoid report model/ --out report.html --truth test.csv --force[/bold]
    """
    check_output(out, force=force)
    began = perf_counter()
    from planetoid.persistence import load
    from planetoid.record import read_record
    from planetoid.report import write_report

    fitted, record = load(model), read_record(model)
    if record is None:
        tell(
            f"{model} has no record of its fit, so the report lacks labels, accuracy and the command; "
            "`planetoid fit` writes one",
            quiet=quiet,
        )
    told = write_report(
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
    told["seconds"] = round(perf_counter() - began, 3)
    tell(_in_words(told), quiet=quiet)
    if as_json:
        print_json(told)
    else:
        print(told["path"])  # noqa: T201


def _labels(path: Path, ids: NodeIds) -> Any:
    from planetoid.io import read_labels

    labels = read_labels(path, ids)
    if all(label is None for label in labels):
        raise DataError(f"{path}: no node of the model has a label there")
    return labels


def _graph(path: Path, ids: NodeIds) -> Graph:
    """Read edges with ids as the model has them: what is written as integers may be text to it."""
    from planetoid.graph import Graph

    graph = Graph.from_file(path)
    if ids.kind == "str" and graph.ids.kind in ("int", "range"):
        names = [str(node) for node in graph.node_ids.tolist()]
        return Graph.from_scipy(graph.to_scipy(), nodes=names)
    return graph


def _in_words(told: dict[str, Any]) -> str:
    shown = "" if told["points"] == told["nodes"] else f" ({told['points']:,} on the map)"
    right = ""
    if told["accuracy"] is not None:
        right = f", accuracy {100 * told['accuracy']:.1f} % on {told['measured_on']:,} {told['protocol']}"
    nodes = counted(told["nodes"], "node")
    return f"Report on {nodes}{shown}{right}: {told['bytes'] / 1e6:.1f} MB in {told['seconds']:.1f} s"
