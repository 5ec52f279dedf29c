"""``FitRecord``: where a fitted model comes from; saved beside the model, shown by the report."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.io.model_files import RECORD_NAMES
from planetoid.io.tensor_files import TensorFile, write_tensors
from planetoid.utils.atomic import atomic_write
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.sealed import seal, unseal
from planetoid.utils.syncing import sync_file
from planetoid.utils.versions import package_versions

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset

__all__ = ["FitRecord", "read_record", "write_record"]

JSON_NAME, ARRAYS_NAME = RECORD_NAMES
FORMAT, FORMAT_VERSION = "planetoid record", 1


@dataclass(frozen=True, eq=False)
class FitRecord:
    """Data, command, time and versions of a fit, and the graph around its nodes.

    Attributes
    ----------
    y : int32 array of shape (n_nodes,)
        The labels that the model was fitted on, as codes of ``model.classes_``; -1 where there was none.
    validation : int32 array of shape (n_nodes,) or None
        Labels for early stopping, in the same form.
    set_indptr, set_indices : int64 and int32 arrays, or None
        All labels of training and validation nodes, if they may have several: a boolean CSR matrix of classes.
    indptr, indices : int64 and int32 arrays, or None
        Neighbours of each node, if there was a graph.
    command : str
        The command line that fitted the model, or ``""``.
    created : str
        Date and time, ISO 8601.
    versions : dict of str to str
    inputs : list of dict
        ``role`` ("edges", "features", "nodes", "labels", "validation"), ``path`` and ``sha256`` of each file.
    facts : list of (str, str)
        A table of what was in the data.
    notes : list of str
        Warnings while reading and fitting.
    seconds : float
        Duration of ``fit``.
    """

    y: npt.NDArray[np.int32]
    validation: npt.NDArray[np.int32] | None = None
    set_indptr: npt.NDArray[np.int64] | None = None
    set_indices: npt.NDArray[np.int32] | None = None
    indptr: npt.NDArray[np.int64] | None = None
    indices: npt.NDArray[np.int32] | None = None
    command: str = ""
    created: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    inputs: list[dict[str, str]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @classmethod
    def of(cls, data: Dataset, *, command: str = "", notes: Sequence[str] = (), seconds: float = 0.0) -> FitRecord:
        """Return the record of a model that was fitted on a dataset just now.

        Examples
        --------
        >>> import planetoid as pl
        >>> data = pl.datasets.make_citation(60, n_classes=3, seed=1)
        >>> record = FitRecord.of(data, seconds=0.1)
        >>> len(record.y), record.facts[0]
        (60, ('nodes', '60, 1 without an edge'))
        """
        from planetoid.data.summary import count, describe

        has_edges = data.graph.n_edges > 0
        return cls(
            y=data.y,
            validation=data.validation,
            set_indptr=None if data.Y is None else data.Y.indptr,
            set_indices=None if data.Y is None else data.Y.indices,
            indptr=data.graph.indptr if has_edges else None,
            indices=data.graph.indices if has_edges else None,
            command=command,
            created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            versions=package_versions(),
            inputs=[
                {"role": file.role, "path": str(file.path), "sha256": file.sha256}
                for file in data.sources
                if file.path is not None
            ],
            facts=describe(data, count(data)),
            notes=list(notes),
            seconds=seconds,
        )

    def neighbours(self, row: int) -> npt.NDArray[np.int32]:
        """Return the rows of a node's neighbours, none if there was no graph."""
        if self.indptr is None or self.indices is None:
            return np.empty(0, dtype=np.int32)
        return self.indices[self.indptr[row] : self.indptr[row + 1]]


_ARRAYS = {
    "y": np.int32, "validation": np.int32, "set_indptr": np.int64, "set_indices": np.int32,
    "indptr": np.int64, "indices": np.int32,
}  # fmt: skip


def write_record(folder: str | Path, record: FitRecord) -> None:
    """Write a record into a model's folder, beside ``model.json``; ``record.json`` has the checksums of both files."""
    arrays = {
        name: np.ascontiguousarray(getattr(record, name), dtype=kind)
        for name, kind in _ARRAYS.items()
        if getattr(record, name) is not None
    }
    plain = {name: value for name, value in asdict(record).items() if name not in _ARRAYS}
    path = Path(folder) / ARRAYS_NAME
    try:
        write_tensors(path, arrays)
        sync_file(path)
    except OSError as error:
        raise DataError(f"cannot write the file: {error.strerror or error}", path=path) from None
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "arrays_sha256": sha256_of_file(path)}
    with atomic_write(Path(folder) / JSON_NAME) as temporary:
        temporary.write_bytes(seal(header | plain, indent=1))


def read_record(folder: str | Path) -> FitRecord | None:
    """Return the record in a model's folder, ``None`` if there is none."""
    path = Path(folder) / JSON_NAME
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror or error}", path=path) from None
    try:
        plain = unseal(content)
        if (plain.pop("format"), plain.pop("format_version")) != (FORMAT, FORMAT_VERSION):
            raise ValueError("it has another format")
        arrays: dict[str, Any] = TensorFile(Path(folder) / ARRAYS_NAME, plain.pop("arrays_sha256")).read()
        plain["facts"] = [(str(name), str(text)) for name, text in plain["facts"]]
        return FitRecord(**arrays, **plain)
    except DataError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"the record of the fit is damaged ({error})", path=folder) from None
