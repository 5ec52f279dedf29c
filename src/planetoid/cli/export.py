"""``planetoid export``: a saved model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planetoid.cli.console import print_json, print_message, status
from planetoid.cli.options import AsJson, Force, Model, Quiet
from planetoid.cli.outputs import check_output_file
from planetoid.errors import ParameterError
from planetoid.registry import METHODS

__all__ = ["export"]


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option("--onnx", help="The .onnx file.", show_default=False, metavar="FILE")],
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Take rows as column numbers and values of nonzero features, for wide features."),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a model that labels new rows as an ONNX file, for runtimes without Python.

    The file holds the scaling of features, the network and the calibration;
    names of classes and features are in its metadata.

    For example:
      [bold]planetoid export model/ --onnx model.onnx[/bold]
      [bold]planetoid export model/ --onnx model.onnx --tokens[/bold]
    """
    from planetoid.persistence import SavedModel

    check_output_file(onnx, force=force, option="--onnx")
    saved = SavedModel(model)
    if not saved.method.inductive:
        others = ", ".join(name for name in METHODS if METHODS.info(name).inductive)
        raise ParameterError(f"{model} is a {saved.method.name} model, which does not label new rows; {others} do")
    from planetoid.export import to_onnx

    with status(f"writing {onnx}", quiet=quiet):
        to_onnx(saved.load(), onnx, tokens=tokens)
    size, takes = onnx.stat().st_size, "tokens" if tokens else "dense"
    if as_json:
        print_json({"model": str(model), "method": saved.method.name, "out": str(onnx), "input": takes, "bytes": size})
    print_message(
        f"{saved.method.name} for {'tokens' if tokens else 'dense rows'} in {onnx} ({size:,} bytes)", quiet=quiet
    )
