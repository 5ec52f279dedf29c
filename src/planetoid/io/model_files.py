"""A saved model: a folder with ``model.json`` and ``tensors.safetensors``, and never any code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, Fix
from planetoid.ids import NodeIds
from planetoid.io.tensor_files import TensorFile, write_tensors
from planetoid.utils.atomic import atomic_folder, recover_folder, resolved
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.sealed import seal, unseal
from planetoid.utils.temporary import is_temporary
from planetoid.utils.versions import package_versions

__all__ = [
    "FORMAT_VERSION",
    "RECORD_NAMES",
    "Document",
    "Plain",
    "Tensors",
    "as_plain",
    "check_target",
    "open_tensors",
    "read_consistently",
    "read_document",
    "read_ids",
    "write_model",
]

FORMAT = "planetoid model"
FORMAT_VERSION = 2

TENSORS_NAME, DOCUMENT_NAME = "tensors.safetensors", "model.json"
RECORD_NAMES = ("record.json", "record.safetensors")  # files beside the model, see planetoid.persistence
ATTEMPTS = 100  # at reading a model that other processes replace meanwhile

Tensors: TypeAlias = dict[str, npt.NDArray[Any]]
Document: TypeAlias = dict[str, Any]
Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
Answer = TypeVar("Answer")


def as_plain(value: object) -> Plain:
    """Return a value in the types of JSON, or raise ``TypeError``.

    >>> as_plain({"C": np.float64(0.5), "where": Path("a") / "b"})
    {'C': 0.5, 'where': 'a/b'}
    """
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[return-value]
    if isinstance(value, np.generic):
        return as_plain(value.item())
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [as_plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: as_plain(one) for key, one in value.items()}
    raise TypeError(f"{value!r} cannot be written as JSON")


def write_model(
    path: str | Path,
    document: Document,
    tensors: Tensors,
    ids: NodeIds,
    overwrite: bool = False,
    extra_files: Callable[[Path], None] | None = None,
) -> None:
    """Write a model to a temporary folder and rename it to ``path``; an existing model needs ``overwrite``.

    ``extra_files`` is called with the folder before it is renamed, to write further files into it. ``model.json`` has
    the checksums of all other files and its own.
    """
    target = Path(path)
    check_target(target, overwrite)
    tensors = {**tensors, **_id_tensors(ids)}
    try:
        with atomic_folder(target) as temporary:
            write_tensors(temporary / TENSORS_NAME, tensors)
            if extra_files is not None:
                _write_extra_files(extra_files, temporary, target)
            header = {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "versions": package_versions(),
                "node_ids": {"kind": ids.kind, "count": len(ids)},
                "files": {file.name: sha256_of_file(file) for file in sorted(temporary.iterdir())},
            }
            (temporary / DOCUMENT_NAME).write_bytes(seal(header | document, indent=1))
            check_target(target, overwrite)  # again: another process may have written there meanwhile
    except OSError as error:
        raise DataError(f"cannot write the model: {error.strerror or error}", path=target) from None


def _write_extra_files(write: Callable[[Path], None], temporary: Path, target: Path) -> None:
    """Call a function with the temporary folder; its errors are about the folder that the user knows."""
    try:
        write(temporary)
    except DataError as error:
        if error.path is None or temporary not in error.path.parents:
            raise
        raise DataError(error.message, path=target / error.path.relative_to(temporary), hint=error.hint) from None


def read_document(folder: Path) -> Document:
    """Return what ``model.json`` says; a folder that holds no model, or a newer one, is a ``DataError``."""
    file = folder / DOCUMENT_NAME
    try:
        recover_folder(resolved(folder))
        content = file.read_bytes()
    except FileNotFoundError:
        reason = "the folder has no file model.json" if folder.exists() else "the folder does not exist"
        raise DataError(f"there is no model: {reason}", path=folder) from None
    except NotADirectoryError:
        message = "a model is a folder with model.json and tensors.safetensors, this is a file"
        raise DataError(message, path=folder) from None
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror or error}", path=file) from None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the file is damaged: not JSON ({error})", path=file) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError("the file does not describe a planetoid model", path=file)
    _check_version(folder, document)
    try:
        return unseal(content)
    except ValueError as error:
        raise DataError(f"the file is damaged: {error}", path=file) from None


def _check_version(folder: Path, document: Document) -> None:
    version = document.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(f"the file is damaged: format_version is {version!r}", path=folder / DOCUMENT_NAME)
    versions = document.get("versions")
    writer = versions.get("planetoid", "another release") if isinstance(versions, dict) else "another release"
    if version > FORMAT_VERSION:
        raise DataError(
            f"the model has format version {version} (written by planetoid {writer}), but this planetoid reads up to "
            f"{FORMAT_VERSION}",
            path=folder,
            hint="upgrade planetoid to load it",
        )
    if version == 1:
        raise DataError(
            "the model has format version 1, which only development versions wrote", path=folder, hint="fit it again"
        )


def open_tensors(folder: Path, document: Document) -> TensorFile:
    """Open the tensors of a model; their checksum is in its document."""
    files = document.get("files")
    try:
        return TensorFile(folder / TENSORS_NAME, files.get(TENSORS_NAME) if isinstance(files, dict) else None)
    except DataError as error:
        if error.path == folder:
            raise DataError(f"the model is damaged: {error.message}", path=folder) from None
        raise


def read_consistently(folder: Path, read: Callable[[], Answer]) -> Answer:
    """Return ``read()``, which reads several files of a model; again if the model was replaced meanwhile."""
    for _ in range(ATTEMPTS):
        before = _stamp(folder)
        try:
            answer = read()
        except DataError:
            if _stamp(folder) == before:
                raise
        else:
            if _stamp(folder) == before:
                return answer
    raise DataError("other processes keep replacing the model", path=folder)


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return what tells a model from the one that replaces it."""
    try:
        found = os.stat(folder / DOCUMENT_NAME)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def read_ids(folder: Path, document: Document, tensors: Tensors) -> NodeIds:
    """Return the node ids, and remove their tensors from ``tensors``."""
    try:
        return _ids_of(document["node_ids"], tensors)
    except Exception as error:  # pyarrow has errors of its own for invalid offsets
        raise DataError(f"the model is damaged: its node ids cannot be read ({error})", path=folder) from None


def check_target(target: Path, overwrite: bool) -> None:
    """Raise ``DataError`` if a model cannot be written to ``target``, or must not: it holds files of somebody else."""
    try:
        folder = resolved(target)
        recover_folder(folder)
        if folder == Path.cwd() or folder in Path.cwd().parents or os.path.ismount(folder):
            place = "a mount point" if os.path.ismount(folder) else "the current folder or one above it"
            hint = f"name a folder in it, for instance {target / 'model'}"
            raise DataError(f"a model is a folder of its own, and this is {place}", path=target, hint=hint)
        read_consistently(folder, lambda: _check_existing(target, folder, overwrite))
    except OSError as error:
        raise DataError(f"cannot write the model: {error.strerror or error}", path=target) from None


def _check_existing(target: Path, folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        return
    names = set(os.listdir(folder)) if folder.is_dir() else None
    if names is not None and not names:
        return
    if names is None or DOCUMENT_NAME not in names or not _describes_model(folder):
        raise DataError("the path exists and is not a model folder", path=target, hint="choose another path")
    if not overwrite:
        raise DataError("the folder already holds a model", path=target, fix=Fix("overwrite", True, "to replace it"))
    try:
        ours = {DOCUMENT_NAME, *RECORD_NAMES, *read_document(folder)["files"]}
    except DataError as error:
        message = f"the model in the folder cannot be replaced: {error.message}"
        raise DataError(message, path=target, hint="remove the folder, or choose another path") from None
    foreign = sorted(name for name in names - ours if not is_temporary(name))
    if foreign:
        raise DataError(
            f"beside the model there is {foreign[0]!r}, which is not part of it and would be lost",
            path=target,
            hint="move it elsewhere, or choose another path",
        )


def _describes_model(folder: Path) -> bool:
    try:
        document = json.loads((folder / DOCUMENT_NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def _id_tensors(ids: NodeIds) -> Tensors:
    if ids.kind == "range":
        return {}
    if ids.kind == "int":
        return {"node_ids.integers": ids.to_numpy()}
    if ids.kind == "object":
        raise DataError(f"node ids such as {ids[0]!r} cannot be saved", hint="use integers or strings as node ids")
    import pyarrow as pa

    strings = ids.to_arrow().cast(pa.large_string())
    _, offsets, text = strings.buffers()
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    characters = np.frombuffer(text, np.uint8)[ends[0] : ends[-1]] if text is not None else np.empty(0, np.uint8)
    return {"node_ids.offsets": ends - ends[0], "node_ids.text": characters.copy()}


def _ids_of(entry: Document, tensors: Tensors) -> NodeIds:
    kind, count = entry["kind"], int(entry["count"])
    if kind == "range":
        return NodeIds(count)
    if kind == "int":
        ids = NodeIds(tensors.pop("node_ids.integers"))
    elif kind == "str":
        import pyarrow as pa

        offsets, text = (np.ascontiguousarray(tensors.pop(f"node_ids.{name}")) for name in ("offsets", "text"))
        strings = pa.LargeStringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))
        strings.validate(full=True)
        ids = NodeIds(strings)
    else:
        raise DataError(f"unknown kind {kind!r}")
    if len(ids) != count:
        raise DataError(f"{len(ids):,} ids instead of {count:,}")
    return ids
