"""``planetoid fit``: from files to a saved model."""

from __future__ import annotations

import datetime
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import check_place, counted, noted, print_json, print_lines, tell
from planetoid.cli.options import AsJson, Force, NewNodes, Quiet, Seed, Settings, takes_data
from planetoid.cli.sources import Sources
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.cli.inputs import Data
    from planetoid.estimator import GraphClassifier
    from planetoid.record import FitRecord

__all__ = ["fit"]


@takes_data(validation=True)
def fit(
    ctx: typer.Context,
    sources: Sources,
    method: Annotated[
        str, typer.Option(help="Short name of a method; auto: by what there is to learn from.", metavar="NAME")
    ] = "auto",
    new_nodes: NewNodes = False,
    preset: Annotated[
        str | None, typer.Option(help="Parameters by name, for instance tuned/cora.", show_default=False)
    ] = None,
    settings: Settings = None,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of the labels of each class to stop by, instead of --validation.", show_default=False),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Threads, where a method can use them.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = Path("model"),
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Learn from a graph, features and a few labels, and save the model.

    The folder holds the model (JSON and safetensors, never any code) and a
    record of data, command and versions for [bold]planetoid report[/bold]. It appears
    as a whole or not at all.

    For instance:
      [bold]planetoid fit --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid fit --edges e.csv --labels l.csv --method lp --out lp/[/bold]
      [bold]planetoid fit --edges e.csv --features words.txt --labels l.csv --new-nodes[/bold]
      [bold]planetoid fit --edges e.csv --labels l.csv --set training.steps=500 --hold-out 0.2[/bold]
    """
    from planetoid.cli.inputs import read_data
    from planetoid.cli.settings import parse_settings

    sources.require(labels=True)
    given = parse_settings(settings)
    if method != "auto":
        method = _checked_method(method, new_nodes, given)
    if hold_out is not None and sources.validation is not None:
        raise ParameterError("--hold-out and --validation are two ways to the same thing; give one")
    _check_target(out, force)
    notes: list[str] = []
    with noted(notes, quiet=quiet):
        data = read_data(sources, quiet=quiet)
        method, why = _choose(method, data, new_nodes)
        tell(f"{method}: {why}" if why else f"fitting {method}", quiet=quiet)
        labels, validation = divide(data, hold_out, seed)
        model = make(method, preset, given, seed=seed, jobs=jobs, verbose=not quiet)
        start = time.perf_counter()
        model.fit(None if model.uses_features == "never" else data.X, labels, graph=data.graph, validation=validation)
        seconds = time.perf_counter() - start
    if model.uses_features != "never" and data.features is not None and data.features.names is not None:
        model.feature_names_in_ = data.features.names
    command = shlex.join(["planetoid", *ctx.meta.get("planetoid.arguments", [])])
    record = describe(model, data, labels, validation, command=command, notes=notes, seconds=seconds)
    save(model, record, out, force)
    result = _result(method, why, model, data, record, out)
    if as_json:
        print_json(result)
    else:
        print_lines(_as_text(result))
    tell(f"Labels of all nodes: planetoid predict {shlex.quote(str(out))} --out predictions.csv", quiet=quiet)


def divide(data: Data, hold_out: float | None, seed: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return the labels to learn from and those to stop by; at least one of each class is learned from."""
    from planetoid.datasets import rate_split
    from planetoid.labels import mask_labels

    assert data.labels is not None
    if hold_out is None:
        return data.labels, data.validation
    if not 0 < hold_out < 1:
        raise ParameterError(f"--hold-out {hold_out}: it is a share of the labels, above 0 and below 1")
    split = rate_split(data.labels, 1 - hold_out, seed=seed)
    if len(split.test) == 0:
        raise DataError(f"--hold-out {hold_out} leaves nothing to hold out: every class has one label")
    return mask_labels(data.labels, split.train), mask_labels(data.labels, split.test)


def make(
    method: str, preset: str | None, given: dict[str, Any], *, seed: int, jobs: int, verbose: bool
) -> GraphClassifier:
    """Return a new model: what was set goes before the preset, and that before the defaults."""
    from planetoid.cli.settings import settings_by_method
    from planetoid.registry import METHODS

    chosen = settings_by_method([method], given)[method]
    usual = {"random_state": seed, "n_jobs": jobs, "verbose": int(verbose)}
    cls = METHODS[method]
    known = cls().get_params(deep=False)
    chosen = {name: value for name, value in usual.items() if name in known} | chosen
    return cls().set_params(**chosen) if preset is None else cls.from_preset(preset, **chosen)


def describe(
    model: GraphClassifier,
    data: Data,
    labels: npt.NDArray[Any],
    validation: npt.NDArray[Any] | None,
    *,
    command: str,
    notes: list[str],
    seconds: float,
) -> FitRecord:
    """Return the record of a fit."""
    from planetoid.cli.facts import facts
    from planetoid.evaluation import versions
    from planetoid.record import FitRecord

    has_edges = data.graph.n_edges > 0
    return FitRecord(
        y=_codes(labels, model.classes_),
        validation=None if validation is None else _codes(validation, model.classes_),
        indptr=data.graph.indptr if has_edges else None,
        indices=data.graph.indices if has_edges else None,
        command=command,
        created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        versions=versions(),
        inputs=data.sources.hashed(),
        facts=facts(data),
        notes=notes,
        seconds=seconds,
    )


def save(model: GraphClassifier, record: FitRecord, out: Path, force: bool) -> None:
    """Write model and record into one folder, which appears as a whole."""
    from planetoid.record import write_record

    model.save(out, overwrite=force, beside=lambda folder: write_record(folder, record))


def _checked_method(name: str, new_nodes: bool, given: dict[str, Any]) -> str:
    """Check a method and its settings before any file is read."""
    from planetoid.cli.choosing import check_names
    from planetoid.cli.settings import settings_by_method
    from planetoid.registry import METHODS

    method, *others = check_names(name)
    if others:
        raise ParameterError(f"--method {name}: fit takes one method; planetoid compare takes several")
    settings_by_method([method], given)
    if new_nodes and not METHODS[method].inductive:
        inductive = ", ".join(short for short, cls in METHODS.items() if cls.inductive)
        raise ParameterError(
            f"{method} labels only nodes that were in the graph; for --new-nodes there are {inductive}"
        )
    return method


def _check_target(out: Path, force: bool) -> None:
    """Say before the work that the model cannot be written."""
    from planetoid.io.model_files import refuse_existing

    check_place(out)
    refuse_existing(out, force)


def _choose(method: str, data: Data, new_nodes: bool) -> tuple[str, str]:
    from planetoid.cli.choosing import Situation, choose
    from planetoid.registry import METHODS

    if method == "auto":
        return choose(Situation.of(data, new_nodes=new_nodes))
    cls = METHODS[method]
    if cls.uses_features == "required" and data.X is None:
        raise ParameterError(f"{method} learns from features: give --features")
    if cls.uses_graph == "required" and data.sources.edges is None:
        raise ParameterError(f"{method} learns from a graph: give --edges")
    unused = [("--features", cls.uses_features, data.sources.features), ("--edges", cls.uses_graph, data.sources.edges)]
    left = [option for option, how, path in unused if how == "never" and path is not None]
    return method, f"does without {left[0]}, which is not used" if left else ""


def _codes(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    import numpy as np

    place = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([-1 if label is None else place[label] for label in labels], dtype=np.int32)


def _result(method: str, why: str, model: GraphClassifier, data: Data, record: FitRecord, out: Path) -> dict[str, Any]:
    from planetoid.models.base import PlanetoidBase

    result: dict[str, Any] = {
        "model": str(out),
        "method": method,
        "why": why,
        "inductive": model.inductive,
        "nodes": data.graph.n_nodes,
        "edges": data.graph.n_edges,
        "features": 0 if data.X is None else int(data.X.shape[1]),
        "classes": [str(label) for label in model.classes_.tolist()],
        "labels": int((record.y >= 0).sum()),
        "seconds": record.seconds,
        "warnings": record.notes,
    }
    if record.validation is not None:
        known = record.validation >= 0
        right = model.label_distributions_[known].argmax(axis=1) == record.validation[known]
        result |= {
            "validation": int(known.sum()),
            "validation_accuracy": float(right.mean()),
            "stopped_by_validation": isinstance(model, PlanetoidBase),
        }
    return result


def _as_text(result: dict[str, Any]) -> list[str]:
    lines = [
        f"{result['method']} learned {len(result['classes'])} classes from {counted(result['labels'], 'label')} among "
        f"{counted(result['nodes'], 'node')} in {result['seconds']:.1f} s",
    ]
    if "validation" in result:
        how = "which it was stopped by" if result["stopped_by_validation"] else "which it has not seen"
        accuracy, count = result["validation_accuracy"], result["validation"]
        lines.append(f"accuracy on {counted(count, 'validation label')}, {how}: {accuracy:.1%}")
    return [*lines, f"model: {result['model']}"]
