"""``planetoid fit`` in several processes, started here or by torchrun, and its checkpoints."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import ARGUMENTS
from planetoid.distributed.environment import is_one_of_several
from planetoid.errors import ParameterError
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from planetoid.engine.shards import Exchange
    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["add_checkpoint", "check_processes", "start_processes", "together"]


def check_processes(method: str, options: DataOptions) -> None:
    """Check that several processes can fit a method on these files."""
    if method == "auto" or not METHODS[method].uses_processes:
        able = ", ".join(name for name in METHODS if METHODS[name].uses_processes)
        raise ParameterError(f"several processes can fit {able}, not {method}; choose one of them with --method")
    if Path("-") in (options.edges, options.features, options.nodes, options.labels, options.validation):
        raise ParameterError("several processes cannot all read standard input; pass a file instead of -")


def start_processes(processes: int) -> None:
    """Run the command that is running in so many processes, and exit as they do."""
    from planetoid.distributed.launch import launch

    code = launch([sys.executable, "-m", "planetoid", *ARGUMENTS.get()], processes)
    raise typer.Exit(code)


def together(processes: int | None) -> AbstractContextManager[Exchange | None]:
    """Return the context of a fit: with others, or as one of one, or by the engine of one process."""
    if processes is None and not is_one_of_several():
        return nullcontext()
    from planetoid.distributed.group import join

    return join()


def add_checkpoint(model: GraphClassifier, method: str, folder: Path, every: float) -> None:
    """Let a model keep checkpoints, and resume from one."""
    if "callbacks" not in model.get_params(deep=False):
        able = ", ".join(name for name in METHODS if "callbacks" in METHODS[name]().get_params(deep=False))
        raise ParameterError(f"{method} has no checkpoints; these methods have: {able}")
    from planetoid.training.checkpoint import Checkpoint

    model.set_params(callbacks=[Checkpoint(folder, every)])
