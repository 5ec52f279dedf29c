"""``planetoid predict --engine dask``: each file of features is labelled by a worker, into a file of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planetoid.cli.console import status
from planetoid.cli.new_rows import NewRows
from planetoid.errors import ParameterError
from planetoid.io.locations import is_in_parts, parts_of
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from planetoid.distributed.manifest import Manifest

__all__ = ["PartTask", "predict_parts"]


@dataclass(frozen=True)
class PartTask:
    """What a worker has to do: plain data, since it is sent to another process."""

    model: str
    sha256: str  # of the model's document, so that a worker does not use another model of the same name
    features: str
    out: str
    id_column: str | None
    format: str | None
    all_probabilities: bool


class Written(NamedTuple):
    """What a worker has done."""

    rows: int
    labels: dict[str, int]


def predict_parts(
    model: Path,
    features: Path | None,
    out: Path,
    *,
    id_column: str | None,
    format: str | None,  # noqa: A002
    all_probabilities: bool,
    scheduler: str | None,
    workers: int,
    force: bool,
    quiet: bool,
) -> dict[str, Any]:
    """Label all parts of ``--features`` on a Dask cluster; return a summary."""
    from planetoid.distributed.dask_tasks import as_finished, connect

    parts = _checked_parts(features, out)
    tasks, manifest = _plan(model, parts, out, id_column, format, all_probabilities, force)
    missing = manifest.missing()
    labels: Counter[str] = Counter()
    with status("predicting", quiet=quiet) as update, connect(scheduler, min(workers, max(1, len(missing)))) as client:
        for number, written in as_finished(client, label_part, [tasks[name] for name in missing]):
            manifest.add(missing[number], written.rows)
            labels.update(written.labels)
            update(f"predicting: {len(manifest.parts):,} of {pluralize(len(parts), 'part')}")
    return {
        "model": str(model),
        "out": str(out),
        "parts": len(parts),
        "written": len(missing),
        "rows": manifest.n_rows,
        "labels": {label: count for label, count in labels.items() if count},
    }


def _checked_parts(features: Path | None, out: Path) -> list[Path]:
    if features is None:
        raise ParameterError("--engine dask labels new nodes in parts; pass them with --features 'parts/*.parquet'")
    if out.suffix or str(out) == "-":
        raise ParameterError(f"--engine dask writes a folder of parts; --out must be a folder, got {out}")
    return parts_of(features) if is_in_parts(features) else [features]


def _plan(
    model: Path,
    parts: list[Path],
    out: Path,
    id_column: str | None,
    format: str | None,  # noqa: A002
    all_probabilities: bool,
    force: bool,
) -> tuple[dict[str, PartTask], Manifest]:
    """Check the first part here, where an error is easy to read, and say which file each worker has to write."""
    from planetoid.distributed.labelling import Labeller
    from planetoid.distributed.manifest import Manifest
    from planetoid.persistence import SavedModel

    NewRows(parts[0], SavedModel(model), id_column, format)
    labeller = Labeller(model, id_column=id_column, all_probabilities=all_probabilities)
    folder = out.resolve()
    tasks = {
        f"{number:05d}-{part.name.split('.')[0]}.parquet": PartTask(
            str(model.resolve()),
            labeller.sha256,
            str(part.resolve()),
            str(folder / f"{number:05d}-{part.name.split('.')[0]}.parquet"),
            id_column,
            format,
            all_probabilities,
        )
        for number, part in enumerate(parts)
    }
    stamps = [[str(part), part.stat().st_size, part.stat().st_mtime_ns] for part in parts]
    description = {**labeller.description(), "rows": stamps}
    return tasks, Manifest(folder, description, list(tasks), overwrite=force)


def label_part(task: PartTask) -> Written:
    """Label one file of features into one file, atomically; runs in a worker."""
    from planetoid.cli.prediction_files import PredictionTable, open_sink
    from planetoid.distributed.labelling import loaded_model
    from planetoid.persistence import SavedModel

    saved = SavedModel(task.model)
    new = NewRows(Path(task.features), saved, task.id_column, task.format)
    table = PredictionTable(
        saved.classes, all_probabilities=task.all_probabilities, integer_ids=new.has_integer_ids()
    )  # fmt: skip
    model = loaded_model(Path(task.model), task.sha256)
    with open_sink(Path(task.out), table.schema, as_json=False) as sink:
        for block in new.blocks():
            sink.write(table.rows(block.ids.to_arrow(), model.predict_proba(block.X)))
    return Written(table.n_rows, dict(table.counts))
