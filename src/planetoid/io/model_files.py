"""A saved model: a folder with ``model.json`` and ``tensors.safetensors``, and never any code."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, Fix
from planetoid.ids import NodeIds
from planetoid.utils.atomic import sync_file
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.versions import package_versions

__all__ = [
    "FORMAT_VERSION",
    "Document",
    "Plain",
    "Tensors",
    "as_plain",
    "check_target",
    "read_document",
    "read_ids",
    "read_tensors",
    "write_model",
]

FORMAT = "planetoid model"
FORMAT_VERSION = 1

TENSORS_NAME, DOCUMENT_NAME = "tensors.safetensors", "model.json"

Tensors: TypeAlias = dict[str, npt.NDArray[Any]]
Document: TypeAlias = dict[str, Any]
Plain: TypeAlias = "None | bool | int | float | str | list[Plain] | dict[str, Plain]"


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

    ``extra_files`` is called with the folder before it is renamed, to write further files into it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    target = Path(path)
    check_target(target, overwrite)
    tensors = {**{name: np.ascontiguousarray(value) for name, value in tensors.items()}, **_id_tensors(ids)}
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        save_file(tensors, temporary / TENSORS_NAME)
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "versions": package_versions(),
            "node_ids": {"kind": ids.kind, "count": len(ids)},
            "tensors_sha256": sha256_of_file(temporary / TENSORS_NAME),
        }
        text = json.dumps(header | document, indent=1, ensure_ascii=False)
        (temporary / DOCUMENT_NAME).write_text(text + "\n", encoding="utf-8")
        if extra_files is not None:
            extra_files(temporary)
        for file in temporary.iterdir():
            file.chmod(0o644)
            sync_file(file)
        temporary.chmod(0o755)
        _exchange(temporary, target)
    except OSError as error:
        raise DataError(f"cannot write the model: {error.strerror or error}", path=target) from None
    except SafetensorError as error:  # how safetensors reports a full disk
        raise DataError(f"cannot write the model: {error}", path=target) from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def read_document(folder: Path) -> Document:
    """Return what ``model.json`` says; a folder that holds no model, or a newer one, is a ``DataError``."""
    if not folder.exists():
        raise DataError("there is no model: the folder does not exist", path=folder)
    if not folder.is_dir():
        raise DataError("a model is a folder with model.json and tensors.safetensors, this is a file", path=folder)
    file = folder / DOCUMENT_NAME
    if not file.is_file():
        raise DataError("there is no model: the folder has no file model.json", path=folder)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror or error}", path=file) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"the file is damaged: not JSON ({error})", path=file) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError("the file does not describe a planetoid model", path=file)
    version = document.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(f"the file is damaged: format_version is {version!r}", path=file)
    if version > FORMAT_VERSION:
        versions = document.get("versions")
        writer = versions.get("planetoid", "a newer release") if isinstance(versions, dict) else "a newer release"
        raise DataError(
            f"the model has format version {version} (written by planetoid {writer}), but this planetoid reads up to "
            f"{FORMAT_VERSION}",
            path=folder,
            hint="upgrade planetoid to load it",
        )
    return document


def read_tensors(folder: Path, document: Document, prefix: str = "", *, verify: bool = True) -> Tensors:
    """Return the tensors whose names start with ``prefix``; ``verify`` compares the checksum of the file first."""
    from safetensors import SafetensorError, safe_open

    file = folder / TENSORS_NAME
    if not file.is_file():
        raise DataError("the model is damaged: tensors.safetensors is missing", path=folder)
    try:
        if verify and sha256_of_file(file) != document.get("tensors_sha256"):
            raise DataError("the file is damaged: its checksum differs from the one in model.json", path=file)
        with safe_open(file, framework="numpy") as tensors:
            return {name: tensors.get_tensor(name) for name in tensors.keys() if name.startswith(prefix)}  # noqa: SIM118
    except DataError:
        raise
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise DataError(f"the file is damaged ({error})", path=file) from None


def read_ids(folder: Path, document: Document, tensors: Tensors) -> NodeIds:
    """Return the node ids, and remove their tensors from ``tensors``."""
    try:
        return _ids_of(document["node_ids"], tensors)
    except Exception as error:  # pyarrow has errors of its own for invalid offsets
        raise DataError(f"the model is damaged: its node ids cannot be read ({error})", path=folder) from None


def check_target(target: Path, overwrite: bool) -> None:
    """Raise ``DataError`` if a model cannot be written to ``target``."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / DOCUMENT_NAME).is_file():
        raise DataError("the path exists and is not a model folder", path=target, hint="choose another path")
    if not overwrite:
        raise DataError("the folder already holds a model", path=target, fix=Fix("overwrite", True, "to replace it"))


def _exchange(temporary: Path, target: Path) -> None:
    """Rename a folder to ``target``, which is restored if that fails."""
    if not target.exists():
        os.rename(temporary, target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    os.rename(target, old)
    try:
        os.rename(temporary, target)
    except OSError:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


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
