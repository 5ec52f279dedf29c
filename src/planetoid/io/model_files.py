"""A model on disk: a folder with ``model.json`` and ``tensors.safetensors``, and never any code."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.ids import NodeIds

__all__ = ["FORMAT_VERSION", "Tensors", "as_plain", "read_model", "refuse_existing", "write_model"]

FORMAT = "planetoid model"
FORMAT_VERSION = 1
LIBRARIES = ("planetoid", "numpy", "scipy", "scikit-learn", "torch", "safetensors")

Tensors = dict[str, npt.NDArray[Any]]


def as_plain(value: Any) -> Any:
    """Return a value as JSON knows it, or raise ``TypeError``.

    >>> as_plain({"C": np.float64(0.5), "where": Path("a") / "b"})
    {'C': 0.5, 'where': 'a/b'}
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic):
        return as_plain(value.item())
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [as_plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: as_plain(one) for key, one in value.items()}
    raise TypeError(f"{value!r} is no plain data")


def write_model(
    path: str | Path,
    document: dict[str, Any],
    tensors: Tensors,
    ids: NodeIds,
    overwrite: bool = False,
    beside: Callable[[Path], None] | None = None,
) -> None:
    """Write a model to the side and rename it to ``path``; another model there stays unless ``overwrite``.

    ``beside`` is called with the folder before it is renamed, to put further files into it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    target = Path(path)
    refuse_existing(target, overwrite)
    tensors = {**{name: np.ascontiguousarray(value) for name, value in tensors.items()}, **_id_tensors(ids)}
    aside = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        save_file(tensors, aside / "tensors.safetensors")
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "versions": _versions(),
            "node_ids": {"kind": ids.kind, "count": len(ids)},
            "tensors_sha256": _sha256(aside / "tensors.safetensors"),
        }
        text = json.dumps(header | document, indent=1, ensure_ascii=False)
        (aside / "model.json").write_text(text + "\n", encoding="utf-8")
        if beside is not None:
            beside(aside)
        for file in aside.iterdir():
            file.chmod(0o644)
            _sync(file)
        aside.chmod(0o755)
        _exchange(aside, target)
    except OSError as error:
        raise DataError(f"cannot write the model to {target}: {error.strerror or error}") from None
    except SafetensorError as error:  # how safetensors tells of a full disk
        raise DataError(f"cannot write the model to {target}: {error}") from None
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)


def read_model(path: str | Path) -> tuple[dict[str, Any], Tensors, NodeIds]:
    """Return what :func:`write_model` was given; a folder that is anything else gets a ``DataError``."""
    folder = Path(path)
    document = _read_document(folder)
    tensors = _read_tensors(folder, document.get("tensors_sha256"))
    try:
        ids = _ids_of(document["node_ids"], tensors)
    except Exception as error:  # pyarrow has errors of its own for offsets that lead nowhere
        raise DataError(f"the model in {folder} is damaged: its node ids cannot be read ({error})") from None
    return document, tensors, ids


def _read_document(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise DataError(f"there is no model in {folder}: the folder does not exist")
    if not folder.is_dir():
        raise DataError(f"{folder} is a file; a model is a folder with model.json and tensors.safetensors")
    file = folder / "model.json"
    if not file.is_file():
        raise DataError(f"there is no model in {folder}: it has no file model.json")
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is damaged: it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"{file} does not describe a planetoid model")
    version = document.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise DataError(f"{file} is damaged: its format_version is {version!r}")
    if version > FORMAT_VERSION:
        versions = document.get("versions")
        writer = versions.get("planetoid", "a newer release") if isinstance(versions, dict) else "a newer release"
        raise DataError(
            f"the model in {folder} has format version {version} (written by planetoid {writer}), but this planetoid "
            f"reads up to {FORMAT_VERSION}: upgrade planetoid to load it"
        )
    return document


def _read_tensors(folder: Path, digest: Any) -> Tensors:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    file = folder / "tensors.safetensors"
    if not file.is_file():
        raise DataError(f"the model in {folder} is damaged: tensors.safetensors is missing")
    try:
        if _sha256(file) != digest:
            raise DataError(f"{file} is damaged: it is not what was saved (its checksum differs)")
        return dict(load_file(file))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{file} is damaged ({error})") from None


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Raise ``DataError`` if what is at ``target`` does not allow a model there."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / "model.json").is_file():
        raise DataError(f"{target} exists and is no model folder, so it is left alone; give another path")
    if not overwrite:
        raise DataError(f"there is a model in {target} already; pass overwrite=True to replace it")


def _exchange(aside: Path, target: Path) -> None:
    """Let a written folder take the place of ``target``; if that fails, what was there comes back."""
    if not target.exists():
        os.rename(aside, target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    os.rename(target, old)
    try:
        os.rename(aside, target)
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
        raise DataError(
            f"node ids such as {ids[0]!r} cannot be saved; a model whose ids are all integers or all strings can"
        )
    import pyarrow as pa

    strings = ids.to_arrow().cast(pa.large_string())
    _, offsets, text = strings.buffers()
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    letters = np.frombuffer(text, np.uint8)[ends[0] : ends[-1]] if text is not None else np.empty(0, np.uint8)
    return {"node_ids.offsets": ends - ends[0], "node_ids.text": letters.copy()}


def _ids_of(about: dict[str, Any], tensors: Tensors) -> NodeIds:
    kind, count = about["kind"], int(about["count"])
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
        raise DataError(f"{len(ids):,} instead of {count:,}")
    return ids


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
