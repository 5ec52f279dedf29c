"""``planetoid fit``: from files to a saved model."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import print_json, print_lines, print_message
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import ARGUMENTS, collect_warnings
from planetoid.cli.method_choice import Choice, choose_method, parse_methods
from planetoid.cli.options import AsJson, Force, NewNodes, Quiet, Seed, Settings, takes_data
from planetoid.cli.outputs import check_writable
from planetoid.cli.several import add_checkpoint, check_processes, start_processes, together
from planetoid.distributed.environment import is_one_of_several, rank
from planetoid.errors import ParameterError
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["fit"]


@takes_data(validation=True)
def fit(
    options: DataOptions,
    method: Annotated[
        str, typer.Option(help="Short name of a method; auto: a method that suits the data.", metavar="NAME")
    ] = "auto",
    new_nodes: NewNodes = False,
    preset: Annotated[
        str | None,
        typer.Option(help="Named set of parameters, for example tuned/cora.", show_default=False, metavar="NAME"),
    ] = None,
    settings: Settings = None,
    hold_out: Annotated[
        float | None,
        typer.Option(
            help="Share of the labels per class to hold out for early stopping, instead of --validation.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of threads, for methods that use several.")] = 1,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of processes that fit one model together; without it, one process.", show_default=False
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Folder for checkpoints; the same command resumes from the last one.",
            show_default=False,
            metavar="FOLDER",
        ),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(min=0, help="Seconds between two checkpoints.")] = 30.0,
    out: Annotated[Path, typer.Option(help="Folder for the model.", metavar="FOLDER")] = Path("model"),
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a model to a graph, features and a few labels, and save it.

    The folder holds the model (JSON and safetensors, no code), a record of
    data, command and versions for [bold]planetoid report[/bold], and a model card
    (card.md). It is written atomically.

    For example:
      [bold]planetoid fit --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid fit --edges follows.csv --nodes people.csv --label-column role[/bold]
      [bold]planetoid fit --edges e.csv --labels l.csv --method lp --out lp/[/bold]
      [bold]planetoid fit --edges e.csv --features words.txt --labels l.csv --new-nodes[/bold]
      [bold]planetoid fit --edges e.csv --labels l.csv --set training.steps=500 --hold-out 0.2[/bold]
      [bold]planetoid fit --edges e.csv --labels l.csv --method graphemb --processes 4 --checkpoint run1[/bold]
    """
    from planetoid.cli.settings import parse_settings
    from planetoid.persistence import FitRecord, write_record
    from planetoid.persistence.card import own_notes, write_card

    options.require(labels=True)
    parameters = parse_settings(settings)
    if method != "auto":
        method = _checked_method(method, new_nodes, parameters)
    if hold_out is not None and not 0 < hold_out < 1:
        raise ParameterError(f"--hold-out must be a number in (0, 1), got {hold_out:g}")
    if hold_out is not None and options.validation is not None:
        raise ParameterError("--hold-out and --validation are mutually exclusive")
    if processes is not None or is_one_of_several():
        check_processes(method, options)
    _check_target(out, force)
    if processes is not None and processes > 1 and not is_one_of_several():
        options.check_present()
        start_processes(processes)
        return
    is_first = rank() == 0
    quiet = quiet or not is_first
    with collect_warnings(quiet=quiet) as warned:
        data = options.read(quiet=quiet)
        if hold_out is not None:
            data = data.hold_out(hold_out, seed)
        choice = choose_method(data, new_nodes=new_nodes) if method == "auto" else _checked_choice(method, data)
        print_message(_announcement(choice), quiet=quiet)
        model = make_model(choice.method, preset, parameters, seed=seed, jobs=jobs, verbose=not quiet)
        if checkpoint is not None:
            add_checkpoint(model, choice.method, checkpoint, checkpoint_every)
        start = time.perf_counter()
        with together(processes):
            model.fit(data)
        seconds = time.perf_counter() - start
    if not is_first:
        return
    command = shlex.join(["planetoid", *ARGUMENTS.get()])
    record = FitRecord.of(data, command=command, notes=warned, seconds=seconds)
    notes = own_notes(out)  # before the folder is replaced

    def extra_files(folder: Path) -> None:
        write_record(folder, record)
        write_card(folder, model, record, notes)

    model.save(out, overwrite=force, extra_files=extra_files)
    result = _result(choice, model, data, warned, seconds, out)
    if as_json:
        print_json(result)
    else:
        print_lines(_as_text(result))
    print_message(f"To label all nodes: planetoid predict {shlex.quote(str(out))} --out predictions.csv", quiet=quiet)


def make_model(
    method: str, preset: str | None, parameters: dict[str, Any], *, seed: int, jobs: int, verbose: bool
) -> GraphClassifier:
    """Return a new model: settings take precedence over the preset, and the preset over the defaults."""
    from planetoid.cli.settings import settings_by_method
    from planetoid.registry import METHODS

    chosen = settings_by_method([method], parameters)[method]
    usual = {"random_state": seed, "n_jobs": jobs, "verbose": int(verbose)}
    cls = METHODS[method]
    known = cls().get_params(deep=False)
    chosen = {name: value for name, value in usual.items() if name in known} | chosen
    return cls().set_params(**chosen) if preset is None else cls.from_preset(preset, **chosen)


def _checked_method(name: str, new_nodes: bool, parameters: dict[str, Any]) -> str:
    """Check a method and its settings before any file is read."""
    from planetoid.cli.settings import settings_by_method
    from planetoid.registry import METHODS

    method, *others = parse_methods(name)
    if others:
        raise ParameterError(f"--method {name}: fit takes one method; planetoid compare takes several")
    settings_by_method([method], parameters)
    if new_nodes and not METHODS.info(method).inductive:
        inductive = ", ".join(short for short in METHODS if METHODS.info(short).inductive)
        raise ParameterError(f"{method} does not label new nodes; with --new-nodes use one of {inductive}")
    return method


def _checked_choice(method: str, data: Dataset) -> Choice:
    """Check that a method that was asked for has what it learns from."""
    from planetoid.multi_label import check_supported
    from planetoid.registry import METHODS

    info = METHODS.info(method)
    if info.features == "required" and data.X is None:
        raise ParameterError(f"{method} requires --features or --nodes")
    if info.graph == "required" and data.source("edges") is None:
        raise ParameterError(f"{method} requires --edges")
    check_supported(data, METHODS.class_name(method), supported=info.multi_label)
    for role, use in (("features", info.features), ("nodes", info.features), ("edges", info.graph)):
        if use == "never" and data.source(role) is not None and (role == "edges" or data.X is not None):
            return Choice(method, f"does not use {'the columns of ' * (role == 'nodes')}--{role}")
    return Choice(method, "")


def _check_target(out: Path, force: bool) -> None:
    """Check before the work that the model can be written."""
    from planetoid.io.model_files import check_target

    check_writable(out)
    check_target(out, force)


def _announcement(choice: Choice) -> str:
    return f"fitting {choice.method}" + (f": {choice.reason}" if choice.reason else "")


def _result(
    choice: Choice, model: GraphClassifier, data: Dataset, warned: list[str], seconds: float, out: Path
) -> dict[str, Any]:
    from planetoid.evaluation.metrics import multi_label_f1

    result: dict[str, Any] = {
        "model": str(out),
        "method": choice.method,
        "reason": choice.reason,
        "inductive": model.inductive,
        "nodes": data.n_nodes,
        "edges": data.graph.n_edges,
        "features": data.n_features,
        "classes": list(data.class_names),
        "labels": len(data.labelled),
        "seconds": seconds,
        "warnings": warned,
    }
    if data.multi_label:
        result["labels_per_node"] = float(data.class_prior.sum())
    if data.Y is not None and data.validation is not None:
        known = data.validation >= 0
        score = multi_label_f1(data.Y[known], model.predict()[known])
        result |= {"validation": int(known.sum()), "validation_micro_f1": score.micro}
        result |= {"validation_macro_f1": score.macro, "early_stopping": _used_validation(model)}
    elif data.validation is not None:
        known = data.validation >= 0
        correct = model.label_distributions_[known].argmax(axis=1) == data.validation[known]
        result |= {
            "validation": int(known.sum()),
            "validation_accuracy": float(correct.mean()),
            "early_stopping": _used_validation(model),
        }
    return result


def _used_validation(model: GraphClassifier) -> bool:
    """Return whether a fit was stopped by its validation labels: then its history has their scores."""
    history: list[object] = getattr(model, "history_", [])
    return any(name.startswith("val_") for record in history if isinstance(record, dict) for name in record)


def _as_text(result: dict[str, Any]) -> list[str]:
    known = pluralize(result["labels"], "labelled node" if "labels_per_node" in result else "label")
    lines = [
        f"{result['method']}: {len(result['classes'])} classes from {known} among "
        f"{pluralize(result['nodes'], 'node')} in {result['seconds']:.1f} s",
    ]
    if "validation" in result:
        used = "used for early stopping" if result["early_stopping"] else "not used in the fit"
        if "validation_micro_f1" in result:
            count = pluralize(result["validation"], "validation node")
            scores = f"{result['validation_micro_f1']:.1%}, macro F1 {result['validation_macro_f1']:.1%}"
            lines.append(f"micro F1 on {count} ({used}): {scores}")
        else:
            count, accuracy = pluralize(result["validation"], "validation label"), result["validation_accuracy"]
            lines.append(f"accuracy on {count} ({used}): {accuracy:.1%}")
    return [*lines, f"model: {result['model']}"]
