"""``FitRecord``: what a report tells of a fit and the model itself does not hold."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.utils.atomic import atomic_write

__all__ = ["FitRecord", "read_record", "write_record"]

JSON_NAME, ARRAYS_NAME = "record.json", "record.safetensors"


@dataclass(frozen=True, eq=False)
class FitRecord:
    """Where a fitted model comes from: data, command, time, and the graph around its nodes.

    Attributes
    ----------
    y : int32 array of shape (n_nodes,)
        The labels that were learned from, as codes of ``model.classes_``; -1 where there was none.
    validation : int32 array of shape (n_nodes,) or None
        Labels that were held back to stop or to measure, in the same form.
    indptr, indices : int64 and int32 arrays, or None
        Neighbours of each node, where the method was given a graph.
    command : str
        The command line that made the model, or ``""``.
    created : str
        Date and time, ISO 8601.
    versions : dict of str to str
    inputs : list of dict
        ``role`` ("edges", "features", "labels", "validation"), ``path`` and ``sha256`` of each file read.
    facts : list of (str, str)
        What was in the data, to be shown as a table.
    notes : list of str
        What was warned of while reading and fitting.
    seconds : float
        Time that ``fit`` took.
    """

    y: npt.NDArray[np.int32]
    validation: npt.NDArray[np.int32] | None = None
    indptr: npt.NDArray[np.int64] | None = None
    indices: npt.NDArray[np.int32] | None = None
    command: str = ""
    created: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    inputs: list[dict[str, str]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def neighbours(self, row: int) -> npt.NDArray[np.int32]:
        """Return the rows of a node's neighbours, none if no graph was given."""
        if self.indptr is None or self.indices is None:
            return np.empty(0, dtype=np.int32)
        return self.indices[self.indptr[row] : self.indptr[row + 1]]


_ARRAYS = {"y": np.int32, "validation": np.int32, "indptr": np.int64, "indices": np.int32}


def write_record(folder: str | Path, record: FitRecord) -> None:
    """Write a record into a model's folder, beside ``model.json``."""
    from safetensors.numpy import save_file

    arrays = {
        name: np.ascontiguousarray(getattr(record, name), dtype=kind)
        for name, kind in _ARRAYS.items()
        if getattr(record, name) is not None
    }
    plain = {name: value for name, value in asdict(record).items() if name not in _ARRAYS}
    with atomic_write(Path(folder) / ARRAYS_NAME) as aside:
        save_file(arrays, aside)
    with atomic_write(Path(folder) / JSON_NAME) as aside:
        Path(aside).write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_record(folder: str | Path) -> FitRecord | None:
    """Return the record of a model's folder, ``None`` where there is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    told, kept = Path(folder) / JSON_NAME, Path(folder) / ARRAYS_NAME
    if not told.is_file() or not kept.is_file():
        return None
    try:
        plain: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
        plain["facts"] = [(str(name), str(text)) for name, text in plain["facts"]]
        arrays: dict[str, Any] = load_file(kept)
        return FitRecord(**arrays, **plain)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise DataError(f"the record of the fit in {folder} is damaged ({error})") from None
