"""The data of a recorded fit, read again: for what a report shows beyond the model."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from planetoid.cli.data_options import DataOptions
from planetoid.cli.options import data_options
from planetoid.errors import DataError

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.ids import NodeIds
    from planetoid.persistence import FitRecord

__all__ = ["RecordedFit", "check_still_there", "read_again", "read_shown", "recorded_fit"]


class RecordedFit(NamedTuple):
    """Options of the command that fitted a model."""

    options: DataOptions
    hold_out: float | None
    seed: int


def recorded_fit(record: FitRecord | None, model: Path) -> RecordedFit:
    """Return the options of the recorded command."""
    from planetoid.cli.main import app

    arguments = [] if record is None else shlex.split(record.command)
    if "fit" not in arguments:
        raise DataError("the model has no record of a command that fitted it", path=model)
    command: Any = typer.main.get_command(app)
    given = command.commands["fit"].make_context("fit", arguments[arguments.index("fit") + 1 :]).params
    return RecordedFit(data_options(given), given["hold_out"], given["seed"])


def read_again(record: FitRecord | None, model: Path, ids: NodeIds, *, quiet: bool) -> Dataset:
    """Return the data that a model was fitted on; its files must be what they were."""
    fit = recorded_fit(record, model)
    assert record is not None
    for path in fit.options.paths().values():
        check_still_there(path)
    data = fit.options.read(quiet=quiet)
    before = {entry["role"]: entry["sha256"] for entry in record.inputs}
    for source in data.sources:
        if source.path is not None and before.get(source.role) != source.sha256:
            raise DataError("the file has changed since the model was fitted", path=source.path, hint="fit again")
    data = data if fit.hold_out is None else data.hold_out(fit.hold_out, fit.seed)
    if data.ids != ids:
        raise DataError("the data have other nodes than the model", path=model, hint="fit again")
    return data


def read_shown(
    path: Path, columns: list[str], ids: NodeIds, options: DataOptions | None = None
) -> dict[str, list[object]]:
    """Return columns of a node table in the order of the model, by name; nodes without a row get ``None``."""
    from planetoid.data.node_table import raw_columns
    from planetoid.io.column_roles import column_number, find_id_column
    from planetoid.io.formats import open_table
    from planetoid.io.matching import handle_unknown, rows_of
    from planetoid.io.table import TableOptions

    options = DataOptions() if options is None else options
    table = open_table(path, TableOptions(header=True, decimal=options.decimal, query=options.queries().get("nodes")))
    node = find_id_column(table, options.id_column)
    numbers = [column_number(table.names, name, "show", table.path) for name in columns]
    found = raw_columns(table, list(dict.fromkeys([node, *numbers])))
    nodes = found[table.names[node]].combine_chunks()
    rows = rows_of(ids, nodes, table)
    handle_unknown(table.path, rows, nodes, ids, "rows", "ignore")
    shown = {}
    for name in columns:
        values: list[object] = [None] * len(ids)
        for row, cell in zip(rows.tolist(), found[name].to_pylist(), strict=True):
            if row >= 0:
                values[row] = cell
        shown[name] = values
    return shown


def check_still_there(path: Path) -> None:
    """Raise ``DataError`` if a file that a model was fitted on cannot be read again from the current folder."""
    from planetoid.io.locations import is_in_parts

    if str(path) == "-" or not (path.exists() or is_in_parts(path)):
        raise DataError(
            "the file that the model was fitted on is no longer there",
            path=path,
            hint="run the command in the folder where the model was fitted",
        )
