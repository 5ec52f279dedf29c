"""``predict`` and ``write_predictions``: labels of any number of rows, on the Dask cluster that the rows are on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planetoid.distributed.labelling import Labeller
from planetoid.distributed.manifest import Manifest
from planetoid.utils.atomic import atomic_write

if TYPE_CHECKING:
    import pandas as pd
    from dask.dataframe import DataFrame

__all__ = ["predict", "write_predictions"]


def predict(
    model: str | Path, frame: DataFrame, *, id_column: str | None = None, all_probabilities: bool = False
) -> DataFrame:
    """Return the labels of the rows of a Dask data frame, as a Dask data frame with the same partitions and index.

    Parameters
    ----------
    model : path
        Folder of a saved inductive model, which all workers see.
    frame : dask DataFrame
        The columns that the model was fitted on, in any order; others are ignored.
    id_column : str, optional
        Column that is copied to the result.
    all_probabilities : bool
        Add a column ``probability_CLASS`` for each class.
    """
    labeller = Labeller(model, id_column=id_column, all_probabilities=all_probabilities)
    labelled: DataFrame = frame.map_partitions(labeller, meta=labeller(frame._meta))
    return labelled


def write_predictions(
    model: str | Path,
    frame: DataFrame,
    out: str | Path,
    *,
    id_column: str | None = None,
    all_probabilities: bool = False,
    overwrite: bool = False,
) -> Manifest:
    """Write the labels of the rows of a Dask data frame to a folder, one Parquet file per partition.

    Each file is written whole or not at all, by the worker that has computed it, and then listed in ``manifest.json``;
    the same call goes on where an interrupted one has ended. Needs a ``distributed.Client``, and a folder that all
    workers see.

    Parameters
    ----------
    model, frame, id_column, all_probabilities
        As in :func:`predict`.
    out : path
        A new folder, or that of the same prediction.
    overwrite : bool
        Replace the predictions of another model or of other rows.

    Returns
    -------
    Manifest
        With the number of rows, and the checksum of each file.
    """
    from distributed import as_completed, default_client

    labelled = predict(model, frame, id_column=id_column, all_probabilities=all_probabilities)
    folder = Path(out).resolve()
    names = [f"part-{number:05d}.parquet" for number in range(frame.npartitions)]
    labeller = Labeller(model, id_column=id_column, all_probabilities=all_probabilities)
    description = {**labeller.description(), "rows": str(frame._name)}
    manifest = Manifest(folder, description, names, overwrite=overwrite)
    missing = set(manifest.missing())
    partitions = zip(names, labelled.to_delayed(), strict=True)
    client = default_client()
    tasks = {name: _write_later(part, str(folder / name)) for name, part in partitions if name in missing}
    futures = client.compute(list(tasks.values()))
    written = {future.key: name for future, name in zip(futures, tasks, strict=True)}
    completed = as_completed(futures)
    del futures  # a file that is written is not computed again if its worker dies later
    try:
        for future in completed:
            manifest.add(written[future.key], future.result())
            future.release()
    finally:
        client.cancel(list(completed.futures))
    return manifest


def _write_later(part: object, path: str) -> object:
    from dask.delayed import delayed

    return delayed(write_part, pure=False)(part, path)


def write_part(rows: pd.DataFrame, path: str) -> int:
    """Write one partition atomically; return the number of its rows."""
    with atomic_write(Path(path)) as temporary:
        rows.to_parquet(temporary, index=rows.index.name is not None)
    return len(rows)
