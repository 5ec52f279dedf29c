"""``planetoid explain``: the reasons for the label of a node and against it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import typer

from planetoid.cli.console import print_json, print_lines, status
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.options import AsJson, Model, Quiet, takes_data
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from planetoid.data.dataset import Dataset
    from planetoid.persistence import SavedModel

__all__ = ["explain"]


@takes_data(validation=False)
def explain(
    model: Model,
    node: Annotated[str, typer.Argument(help="Id of a fitted node.", show_default=False, metavar="NODE")],
    options: DataOptions,
    top: Annotated[
        int, typer.Option(min=1, help="Number of reasons of each kind to list, for the class and against it.")
    ] = 5,
    label: Annotated[
        str | None,
        typer.Option(help="Class to explain; by default the most probable one.", show_default=False, metavar="CLASS"),
    ] = None,
    format_: Annotated[Literal["text", "json"], typer.Option("--format", help="What to print.")] = "text",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Explain the label of a node: labelled nodes, neighbours and features for it and against it.

    The class is compared with the most probable other one; of a model with several
    labels per node, the reasons are for having the label. What a number means
    depends on the method and is printed beside it. Files of the fit are only
    needed if they are larger than 32 MB: they are then not saved with the model.

    For example:
      [bold]planetoid explain model/ paper_17[/bold]
      [bold]planetoid explain model/ paper_17 --label Theory --top 10 --format json[/bold]
      [bold]planetoid explain model/ paper_17 --edges edges.csv --features words.parquet[/bold]
    """
    from planetoid.persistence import SavedModel

    with collect_warnings(quiet=quiet):
        saved = SavedModel(model)
        chosen = _node_of(saved, node)
        _check_class(saved, label)
        data = _read_data(saved, options, quiet=quiet) if options.paths() else None
        with status(f"reading {model}", quiet=quiet):
            found = saved.load().explain(chosen, top=top, label=label, data=data)
    if as_json or format_ == "json":
        print_json(found.to_dict())
    else:
        print_lines(repr(found).splitlines())


def _node_of(saved: SavedModel, text: str) -> Hashable:
    """Return the id that a text means: a string, or an integer if the ids of the model are integers."""
    ids = saved.node_ids
    is_integer = text.removeprefix("-").isdecimal() and ids.kind != "str"
    node: Hashable = int(text) if is_integer else text
    if node not in ids:
        raise DataError(f"the model has no node {text!r}; its ids look like {str(ids[0])!r}", path=saved.path)
    return node


def _check_class(saved: SavedModel, label: str | None) -> None:
    """Reject an unknown class before the model is loaded, which may take seconds."""
    names = [str(name) for name in saved.classes.tolist()]
    if label is not None and label not in names:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise ParameterError(f"--label: there is no class {label!r}; the classes are {shown}")


def _read_data(saved: SavedModel, options: DataOptions, *, quiet: bool) -> Dataset:
    """Read the files of the fit; the labels are those that the model was fitted on, if they are recorded."""
    from scipy import sparse

    from planetoid.persistence import read_record
    from planetoid.utils.sparse_format import check_sparse_format

    record = read_record(saved.path)
    options.require(labels=record is None)
    data = options.read(labels=record is None, quiet=quiet)
    if record is None:
        return data
    if data.ids != saved.node_ids:
        raise DataError(
            f"the files have {data.n_nodes:,} nodes, not the {len(saved.node_ids):,} that the model was fitted on",
            hint="pass the files of the fit",
            path=saved.path,
        )
    Y = None
    if record.set_indptr is not None and record.set_indices is not None:
        ones = np.ones(len(record.set_indices), dtype=bool)
        shape = (data.n_nodes, len(saved.classes))
        Y = sparse.csr_array((ones, record.set_indices, record.set_indptr), shape=shape)
        check_sparse_format(Y)
    return replace(data, y=record.y, Y=Y, validation=None, classes=saved.classes)
