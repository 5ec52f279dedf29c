"""``planetoid predict``: labels and probabilities from a saved model, for any number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from planetoid.cli.console import has_reader, print_json, print_message, status
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.engines import uses_dask
from planetoid.cli.options import (
    AsJson,
    Engine,
    FeaturesFormat,
    Force,
    IdColumn,
    Ids,
    Model,
    NewFeatures,
    NewNodeTable,
    Processes,
    Quiet,
    Scheduler,
)
from planetoid.cli.outputs import check_output_file
from planetoid.errors import ParameterError
from planetoid.utils.text import pluralize
from planetoid.utils.threads import available_cores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from planetoid.cli.label_set_table import LabelSetTable
    from planetoid.cli.new_rows import NewNodes
    from planetoid.cli.prediction_files import PredictionTable, SetsOf
    from planetoid.persistence import SavedModel

__all__ = ["predict"]

BLOCK_ROWS = 2**16
SHOWN_CLASSES = 6


class PredictedBlock(NamedTuple):
    """Ids and class probabilities of some nodes, and scores of their prediction sets, if they have any."""

    ids: pa.Array
    probabilities: npt.NDArray[np.floating[Any]]
    set_scores: npt.NDArray[np.floating[Any]] | None = None


def predict(
    model: Model,
    features: NewFeatures = None,
    nodes: NewNodeTable = None,
    ids: Ids = None,
    out: Annotated[
        Path, typer.Option(help="A .csv, .tsv or .parquet file; - is CSV on stdout.", metavar="FILE")
    ] = Path("-"),
    all_probabilities: Annotated[
        bool, typer.Option("--all-probabilities", help="Add a column with the probability of each class.")
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="Add a column with the classes that contain the true one with this probability, such as 0.9.",
            metavar="SHARE",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of labels per node, if nodes may have several; by default those that are probable enough.",
        ),
    ] = None,
    label_separator: Annotated[str, typer.Option(help="Separator of several labels of a node.", metavar="TEXT")] = ";",
    id_column: IdColumn = None,
    features_format: FeaturesFormat = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    jobs: Processes = 0,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label nodes: the fitted ones, or new ones by their features.

    Writes id, label, probability, runner_up and runner_up_probability, and with
    [bold]--coverage 0.9[/bold] the column set: classes separated by semicolons. A model
    with several labels per node writes id, labels and probabilities instead, the last
    two separated by semicolons. New nodes require an inductive model (planetoid,
    planetoid-i, feat, ...) but no graph; they are read and written in batches, so
    that their number is not limited by memory.
    With [bold]--json[/bold] and a file, stdout has a summary; without a file, it has
    one JSON object per node.

    For example:
      [bold]planetoid predict model/ --out predictions.csv[/bold]
      [bold]planetoid predict model/ --ids ids.txt[/bold]
      [bold]planetoid predict model/ --nodes new_people.csv[/bold]
      [bold]planetoid predict model/ --features new.parquet --out predictions.parquet[/bold]
      [bold]planetoid predict model/ --features 'parts/*.parquet' --engine dask --out predictions/[/bold]
    """
    from planetoid.cli.new_rows import check_exclusive, open_new
    from planetoid.cli.predict_parts import predict_parts
    from planetoid.cli.prediction_files import PredictionTable, check_format, open_sink
    from planetoid.errors import ParameterError
    from planetoid.persistence import SavedModel

    check_exclusive(features, nodes, ids)
    if uses_dask(engine, scheduler):
        if nodes is not None or ids is not None or coverage is not None:
            raise ParameterError("--engine dask takes --features, without --nodes, --ids and --coverage")
        with collect_warnings(quiet=quiet) as warned:
            summary = predict_parts(
                model, features, out, id_column=id_column, format=features_format, all_probabilities=all_probabilities,
                scheduler=scheduler, workers=jobs or min(4, available_cores()), force=force, quiet=quiet,
            )  # fmt: skip
        if as_json:
            print_json({**summary, "warnings": warned})
        parts = pluralize(summary["parts"], "part")
        print_message(f"{pluralize(summary['rows'], 'row')} in {parts} in {out}", quiet=quiet)
        return
    check_format(out)
    to_file = str(out) != "-"
    if to_file:
        check_output_file(out, force=force)
    with collect_warnings(quiet=quiet) as warned:
        with status(f"reading {model}", quiet=quiet):
            saved = SavedModel(model)
            new = open_new(saved, features, nodes, id_column, features_format)
            sets = None if coverage is None else _sets(saved, coverage, fitted=new is None)
            integer_ids = _integer_ids(saved, new, typed=out.suffix.lower() == ".parquet" or (as_json and not to_file))
            if top is not None and not saved.multi_label:
                raise ParameterError("--top is for models with several labels per node")
            table: PredictionTable | LabelSetTable
            if saved.multi_label:
                from planetoid.cli.label_set_table import LabelSetTable

                table = LabelSetTable(
                    saved.classes, saved.threshold, top, label_separator, all_probabilities, integer_ids=integer_ids
                )
            else:
                table = PredictionTable(
                    saved.classes, all_probabilities=all_probabilities, sets=sets, integer_ids=integer_ids
                )
        with open_sink(out, table.schema, as_json=as_json) as sink, status("predicting", quiet=quiet) as update:
            for block in _of_fitted(saved, ids, sets=coverage is not None) if new is None else _of_new(saved, new):
                sink.write(table.rows(*block))
                update(f"predicting: {pluralize(table.n_rows, 'row')}")
                if not to_file and not has_reader():
                    break
    if to_file and as_json:
        counts = {label: count for label, count in table.counts.items() if count}
        print_json(
            {
                "model": str(model),
                "method": saved.method.name,
                "out": str(out),
                "rows": table.n_rows,
                "labels": counts,
                "warnings": warned,
            }
        )
    print_message(_summary(table, out), quiet=quiet or not to_file)


def _of_fitted(saved: SavedModel, listed: Path | None, *, sets: bool) -> Iterator[PredictedBlock]:
    """Yield the labels that the model holds, which need neither its class nor torch."""
    import numpy as np

    from planetoid.cli.new_rows import read_node_list
    from planetoid.utils.arrow import numbers_to_arrow

    ids = saved.node_ids
    rows = np.arange(len(ids)) if listed is None else read_node_list(listed, ids)
    scores = saved.set_scores if sets else None
    for first in range(0, len(rows), BLOCK_ROWS):
        some = rows[first : first + BLOCK_ROWS]
        is_text = ids.kind == "str"
        yield PredictedBlock(
            ids.to_arrow().take(numbers_to_arrow(some)) if is_text else numbers_to_arrow(ids.at(some)),
            saved.probabilities[some],
            None if scores is None else scores[some],
        )


def _of_new(saved: SavedModel, new: NewNodes) -> Iterator[PredictedBlock]:
    model = saved.load()
    for table in new.blocks():
        yield PredictedBlock(table.ids.to_arrow(), model.predict_proba(table.X))


def _sets(saved: SavedModel, coverage: float, *, fitted: bool) -> SetsOf:
    """Return what chooses the sets of nodes, by their probabilities and, for some fitted ones, other scores."""
    from functools import partial

    from planetoid.prediction_sets import members

    if not 0 < coverage < 1:
        raise ParameterError(f"--coverage must be a number in (0, 1), got {coverage:g}")
    if saved.multi_label:
        raise ParameterError(
            "--coverage is for models with one label per node; for several, --all-probabilities gives the calibrated "
            "probability of each label, and --top N the N most probable ones"
        )
    levels = saved.node_set_thresholds if fitted else saved.set_thresholds
    return partial(members, levels=levels, alpha=1 - coverage)


def _integer_ids(saved: SavedModel, new: NewNodes | None, *, typed: bool) -> bool:
    """Return whether to write ids as integers; in text there is no difference."""
    if new is None:
        return saved.node_ids.kind in ("range", "int")
    return typed and new.has_integer_ids()


def _summary(table: PredictionTable | LabelSetTable, out: Path) -> str:
    most = ", ".join(f"{label} {count:,}" for label, count in table.counts.most_common(SHOWN_CLASSES) if count)
    more = ", ..." if len(table.counts) > SHOWN_CLASSES else ""
    return f"{pluralize(table.n_rows, 'row')} in {out}: {most}{more}"
