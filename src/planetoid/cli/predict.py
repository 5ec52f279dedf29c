"""``planetoid predict``: labels and probabilities from a saved model, of any number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import check_output, counted, noted, print_json, tell, working
from planetoid.cli.options import AsJson, Force, Quiet

if TYPE_CHECKING:
    from planetoid.cli.new_rows import NewRows
    from planetoid.cli.prediction_files import PredictionTable
    from planetoid.estimator import GraphClassifier

__all__ = ["predict"]

PIECE_ROWS = 2**16

Model = Annotated[Path, typer.Argument(help="Folder that planetoid fit wrote.", show_default=False, metavar="MODEL")]
NewFeatures = Annotated[
    Path | None,
    typer.Option(
        "--features",
        help="Features of new nodes, in the columns that the model was fitted on, in any order.",
        show_default=False,
        metavar="FILE",
    ),
]
Nodes = Annotated[
    Path | None,
    typer.Option("--nodes", help="Only these fitted nodes: a text file, one id a line.", show_default=False),
]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Column of ids in --features.", show_default=False)]
FeaturesFormat = Annotated[
    str | None,
    typer.Option("--features-format", help="table, tokens, svmlight or npz, where the suffix does not tell."),
]


def predict(
    model: Model,
    features: NewFeatures = None,
    nodes: Nodes = None,
    out: Annotated[Path, typer.Option(help="A .csv, .tsv or .parquet file; - is CSV on stdout.")] = Path("-"),
    all_probabilities: Annotated[
        bool, typer.Option("--all-probabilities", help="Add a column for the probability of each class.")
    ] = False,
    id_column: IdColumn = None,
    features_format: FeaturesFormat = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label nodes: those that were fitted, or new ones by their features.

    Writes id, label, probability, runner_up and runner_up_probability. New
    nodes need an inductive model (planetoid-i, feat, ...) and no graph; they
    are read and written in pieces, whatever their number.
    With [bold]--json[/bold] and a file, stdout has a summary; without a file, it has
    one JSON object a node.

    For instance:
      [bold]planetoid predict model/ --out predictions.csv[/bold]
      [bold]planetoid predict model/ --nodes ids.txt[/bold]
      [bold]planetoid predict model/ --features new.parquet --out predictions.parquet[/bold]
    """
    from planetoid.cli.new_rows import NewRows, refuse_both, short_name
    from planetoid.cli.prediction_files import PredictionTable, check_format, opened
    from planetoid.persistence import load

    refuse_both(features, nodes)
    check_format(out)
    to_file = str(out) != "-"
    if to_file:
        check_output(out, force=force)
    notes: list[str] = []
    with noted(notes, quiet=quiet):
        with working(f"loading {model}", quiet=quiet):
            fitted = load(model)
        new = None if features is None else NewRows(features, fitted, model, id_column, features_format)
        table = PredictionTable(
            fitted.classes_,
            all_probabilities=all_probabilities,
            integer_ids=_integer_ids(fitted, new, typed=out.suffix.lower() == ".parquet" or (as_json and not to_file)),
        )
        with opened(out, table.schema, as_json=as_json) as sink, working("predicting", quiet=quiet) as say:
            for ids, probabilities in _of_new(fitted, new) if new is not None else _of_fitted(fitted, nodes):
                sink.write(table.rows(ids, probabilities))
                say(f"predicting: {counted(table.n_rows, 'row')}")
    if to_file and as_json:
        counts = {label: count for label, count in table.counts.items() if count}
        print_json(
            {
                "model": str(model),
                "method": short_name(fitted),
                "out": str(out),
                "rows": table.n_rows,
                "labels": counts,
                "warnings": notes,
            }
        )
    tell(_summary(table, out), quiet=quiet or not to_file)


def _of_fitted(model: GraphClassifier, nodes: Path | None) -> Iterator[tuple[Any, Any]]:
    import numpy as np
    import pyarrow as pa

    from planetoid.cli.new_rows import listed_nodes

    ids, every = model.node_ids_, model.predict_proba()
    rows = np.arange(len(ids)) if nodes is None else listed_nodes(nodes, ids)
    for first in range(0, len(rows), PIECE_ROWS):
        part = rows[first : first + PIECE_ROWS]
        yield pa.array(ids.at(part)), every[part]


def _of_new(model: GraphClassifier, new: NewRows) -> Iterator[tuple[Any, Any]]:
    for piece in new.pieces():
        yield piece.ids.to_arrow(), model.predict_proba(piece.X)


def _integer_ids(model: GraphClassifier, new: NewRows | None, *, typed: bool) -> bool:
    """Tell whether to write ids as integers, which text does not tell apart."""
    if new is None:
        return model.node_ids_.kind in ("range", "int")
    return typed and new.has_integer_ids()


def _summary(table: PredictionTable, out: Path) -> str:
    most = ", ".join(f"{label} {count:,}" for label, count in table.counts.most_common(6) if count)
    more = ", ..." if len(table.counts) > 6 else ""
    return f"{counted(table.n_rows, 'row')} in {out}: {most}{more}"
