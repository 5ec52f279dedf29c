"""``planetoid report``: a saved model as one HTML file."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from planetoid.cli.console import print_json, print_message
from planetoid.cli.options import AsJson, Force, Model, Quiet, data_options
from planetoid.cli.outputs import check_output_file
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.evaluation import HeldOut
    from planetoid.graph import Graph
    from planetoid.ids import NodeIds
    from planetoid.persistence import FitRecord, SavedModel
    from planetoid.report import ReportSummary

__all__ = ["report"]


def report(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.", metavar="FILE")] = Path("report.html"),
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Labels to evaluate on: a table of id and label. Nodes used for training are excluded.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    label_separator: Annotated[
        str | None,
        typer.Option(
            help="Separator of several labels of a node in one cell of --truth.", show_default=False, metavar="TEXT"
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Edges that define the neighbours, if the model's folder does not have them.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the node table to show beside node ids, the first as their names; may be repeated.",
            show_default=False,
            metavar="COLUMN",
        ),
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(
            help="Table with the columns of --show; by default the node table that the model was fitted on.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of ids in --nodes.", show_default=False, metavar="COLUMN")
    ] = None,
    cross_validate: Annotated[
        bool,
        typer.Option(
            "--cross-validate",
            help="Without --truth, estimate the accuracy: read the data of the fit again, and fit the model five more "
            "times, each time without a fifth of the labels.",
        ),
    ] = False,
    title: Annotated[str | None, typer.Option(help="Title of the report.", show_default=False, metavar="TEXT")] = None,
    points: Annotated[
        int, typer.Option(min=1, help="Maximum number of nodes on the map; labelled nodes are always included.")
    ] = 100_000,
    reasons: Annotated[
        int,
        typer.Option(
            min=0, help="Maximum number of nodes with reasons for their class; 0: none, which is faster for networks."
        ),
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the map; the same seed gives the same file.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of threads for the map.")] = 1,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a report on a model: one HTML file that needs no network.

    It has a map of the nodes, accuracy and calibration on labels that were not
    used for training, training curves, and a ranking of the nodes to label next.

    For example:
      [bold]planetoid report model/ --out report.html[/bold]
      [bold]planetoid report model/ --truth test.csv --force[/bold]
      [bold]planetoid report model/ --cross-validate --show name --show city[/bold]
    """
    check_output_file(out, force=force)
    started = perf_counter()
    from planetoid.io.model_files import read_consistently
    from planetoid.persistence import SavedModel, read_record
    from planetoid.report import write_report

    saved, record = read_consistently(model, lambda: (SavedModel(model), read_record(model)))
    if record is None:
        print_message(
            f"{model} has no record of the fit, so the report has no training labels, accuracy or command; "
            "`planetoid fit` writes one",
            quiet=quiet,
        )
    summary = write_report(
        out,
        saved,
        record=record,
        truth=None if truth is None else _read_truth(truth, saved, label_separator),
        graph=None if edges is None else _read_graph(edges, saved.node_ids),
        show=_read_shown(show, nodes, id_column, saved.node_ids, record, model),
        held_out=_cross_validate(model, record, saved.node_ids, quiet) if cross_validate and truth is None else None,
        title=title,
        max_points=points,
        max_reasons=reasons,
        seed=seed,
        n_jobs=jobs,
        overwrite=force,
        verbose=int(not quiet),
    )
    seconds = perf_counter() - started
    print_message(_message(summary, seconds), quiet=quiet)
    if as_json:
        print_json(summary.as_dict() | {"seconds": round(seconds, 3)})
    else:
        print(summary.path)  # noqa: T201


def _read_truth(path: Path, saved: SavedModel, label_separator: str | None) -> npt.NDArray[np.object_]:
    from planetoid.io import read_label_sets, read_labels

    ids = saved.node_ids
    if saved.multi_label:
        labels = read_label_sets(path, ids, label_separator=label_separator)
    elif label_separator is not None:
        raise ParameterError("--label-separator is for models with several labels per node")
    else:
        labels = read_labels(path, ids)
    if all(label is None for label in labels):
        raise DataError("no node of the model has a label in this file", path=path)
    return labels


def _read_graph(path: Path, ids: NodeIds) -> Graph:
    """Read edges with ids of the model's type: integers in the file may be strings in the model."""
    from planetoid.graph import Graph

    graph = Graph.from_file(path)
    if ids.kind == "str" and graph.ids.kind in ("int", "range"):
        names = [str(node) for node in graph.node_ids.tolist()]
        return Graph.from_scipy(graph.to_scipy(), nodes=names)
    return graph


def _read_shown(
    columns: list[str] | None,
    nodes: Path | None,
    id_column: str | None,
    ids: NodeIds,
    record: FitRecord | None,
    model: Path,
) -> dict[str, list[object]] | None:
    from planetoid.cli.recorded import check_still_there, read_shown, recorded_fit

    if not columns:
        if nodes is not None:
            raise ParameterError("--nodes requires --show, the columns to show")
        return None
    if nodes is not None:
        return read_shown(nodes, columns, ids, data_options({"id_column": id_column}))
    options = None if record is None or not record.command else recorded_fit(record, model).options
    if options is None or options.nodes is None:
        raise ParameterError("--show requires --nodes FILE, a table with these columns: the model was fitted without")
    check_still_there(options.nodes)
    return read_shown(options.nodes, columns, ids, options)


def _cross_validate(model: Path, record: FitRecord | None, ids: NodeIds, quiet: bool) -> HeldOut:
    from planetoid.cli.recorded import read_again
    from planetoid.evaluation import cross_validate
    from planetoid.persistence import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)  # shown by the fit
        data = read_again(record, model, ids, quiet=quiet)
    if data.multi_label:
        raise ParameterError("--cross-validate is for one label per node; for several, pass --truth")
    return cross_validate(load(model), data, verbose=int(not quiet))


def _message(summary: ReportSummary, seconds: float) -> str:
    sample = "" if summary.n_points == summary.n_nodes else f" ({summary.n_points:,} on the map)"
    accuracy = ""
    if summary.accuracy is not None:
        accuracy = f", accuracy {100 * summary.accuracy:.1f} % on {summary.n_evaluated:,} {summary.evaluated_on}"
    if summary.micro_f1 is not None:
        accuracy = f", micro F1 {100 * summary.micro_f1:.1f} % on {summary.n_evaluated:,} {summary.evaluated_on}"
    nodes = pluralize(summary.n_nodes, "node")
    return f"Report on {nodes}{sample}{accuracy}: {summary.n_bytes / 1e6:.1f} MB in {seconds:.1f} s"
