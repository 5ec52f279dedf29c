"""``Checkpoint``: written at intervals, atomically; a killed training resumes from the last one."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from planetoid.errors import DataError
from planetoid.io.tensor_files import TensorFile, are_arrays, write_tensors
from planetoid.parameters import Constraints, Real
from planetoid.training.callbacks import Callback
from planetoid.training.loss import with_prefix, without_prefix
from planetoid.utils.atomic import atomic_write
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.locks import try_lock
from planetoid.utils.sealed import seal, unseal
from planetoid.utils.syncing import make_folder, sync_file, sync_folder
from planetoid.utils.temporary import remove_abandoned

if TYPE_CHECKING:
    from planetoid.training.loss import Tensors
    from planetoid.training.trainer import Trainer

__all__ = ["Checkpoint"]

FORMAT, FORMAT_VERSION = "planetoid checkpoint", 2
DOCUMENT_NAME, LOCK_NAME = "checkpoint.json", "checkpoint.lock"
# The next state is written beside the current one; then the document changes from one to the other in one step.
TENSORS_NAMES = ("checkpoint-a.safetensors", "checkpoint-b.safetensors")
STATE, BEST = "state.", "best."


@dataclass
class Checkpoint(Callback):
    """Keep a checkpoint in a folder; the same ``fit`` resumes from it after an interruption, with the same result.

    A checkpoint belongs to one call: its fingerprint covers the data and every parameter that changes the result. The
    checkpoint of another call is refused, so that nothing is ever continued by mistake, and so is a folder that another
    process is training with. Only files called ``checkpoint*`` are written, and none that was there before.

    Parameters
    ----------
    path : path
        The folder.
    every : float
        Seconds between two writes; 0 writes after every step.

    Examples
    --------
    >>> import planetoid as pl
    >>> pl.Checkpoint("run1", every=60)
    Checkpoint(path='run1', every=60)
    """

    path: str | Path
    every: float = 30.0
    _written: float = field(default=0.0, init=False, repr=False, compare=False)  # when, in seconds
    _fingerprint: str = field(default="", init=False, repr=False, compare=False)
    _current: str | None = field(default=None, init=False, repr=False, compare=False)  # file of the last state
    _lock: int | None = field(default=None, init=False, repr=False, compare=False)

    constraints: ClassVar[Constraints] = {"path": (str, Path), "every": Real(0)}

    def on_train_begin(self, trainer: Trainer) -> None:
        self._written, self._fingerprint, self._current = time.monotonic(), trainer.fingerprint(), None
        folder = Path(self.path)
        try:
            make_folder(folder)
            self._lock = _locked(folder / LOCK_NAME)
        except OSError as error:
            raise _not_written(self.path, error) from None
        try:
            for name in (DOCUMENT_NAME, *TENSORS_NAMES):
                remove_abandoned(folder / name)
            document = self._read_document(folder)
            if document is None:
                self._check_names(folder)
            if document is None or document["training"] is None:
                self._write_document(folder, {}, None)  # from now on, the names of our files are ours
            else:
                self._resume(trainer, folder, document)
        except BaseException:
            self._unlock()
            raise

    def on_step_end(self, trainer: Trainer) -> None:
        if trainer.finished or time.monotonic() - self._written >= self.every:
            self.write(trainer)
            self._written = time.monotonic()

    def on_train_end(self, trainer: Trainer) -> None:
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # ---- reading --------------------------------------------------------------

    def _read_document(self, folder: Path) -> dict[str, Any] | None:
        """Return what ``checkpoint.json`` says, ``None`` if there is none."""
        file = folder / DOCUMENT_NAME
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"cannot read the checkpoint: {error.strerror or error}", path=file) from None
        if f'"format": "{FORMAT}"'.encode() not in content[:200]:
            raise DataError("the file is not a checkpoint of planetoid", path=file, hint="choose another folder")
        try:
            document = unseal(content)
            training = document["format_version"], document["fingerprint"]
            if document["training"] is not None and list(document["tensors"]) not in [[name] for name in TENSORS_NAMES]:
                raise ValueError("it names no file of tensors")
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(file, error) from None
        if document["training"] is not None and training != (FORMAT_VERSION, self._fingerprint):
            raise DataError(
                "the checkpoint belongs to another training (other data, parameters or version)",
                hint="choose another folder, or remove this one to start anew",
                path=folder,
            )
        return document

    def _check_names(self, folder: Path) -> None:
        """Raise ``DataError`` if somebody else has files of our names."""
        for name in TENSORS_NAMES:
            if os.path.lexists(folder / name):
                raise DataError("the file exists and is not part of a checkpoint", path=folder / name)

    def _resume(self, trainer: Trainer, folder: Path, document: dict[str, Any]) -> None:
        ((name, sha256),) = document["tensors"].items()
        file = folder / name
        try:
            found: Tensors = TensorFile(file, sha256, as_torch=not are_arrays(trainer.state())).read()
        except DataError as error:
            if error.message.startswith("cannot read"):
                raise
            raise _damaged(file, error.message) from None
        best = without_prefix(BEST, found)
        try:
            trainer.resume(document["training"], without_prefix(STATE, found), best or None)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise _damaged(folder, error) from None
        self._current = name

    # ---- writing --------------------------------------------------------------

    def write(self, trainer: Trainer) -> None:
        """Write a checkpoint beside the current one, and then name it in ``checkpoint.json``."""
        folder, before = Path(self.path), self._current
        name = next(name for name in TENSORS_NAMES if name != before)
        tensors = with_prefix(STATE, trainer.state())
        if trainer.snapshot is not None:
            tensors |= with_prefix(BEST, trainer.snapshot)
        try:
            write_tensors(folder / name, tensors)
            sync_file(folder / name)
            sync_folder(folder)
            self._write_document(folder, {name: sha256_of_file(folder / name)}, trainer.progress())
            self._current = name
        except OSError as error:
            raise _not_written(self.path, error) from None
        if before is not None:
            with suppress(OSError):  # the next write replaces it anyway
                (folder / before).unlink()

    def _write_document(self, folder: Path, tensors: dict[str, str], training: object) -> None:
        document = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "fingerprint": self._fingerprint,
            "tensors": tensors,
            "training": training,
        }
        with atomic_write(folder / DOCUMENT_NAME) as temporary:
            temporary.write_bytes(seal(document))


def _locked(path: Path) -> int:
    """Return a locked handle of a file that exists for nothing else."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    if try_lock(handle):
        return handle
    os.close(handle)
    raise DataError(
        "another process is training with this checkpoint",
        path=path.parent,
        hint="wait for it, or choose another folder",
    )


def _not_written(path: str | Path, error: OSError) -> DataError:
    return DataError(f"cannot write the checkpoint: {error.strerror or error}", path=path)


def _damaged(path: Path, error: Exception | str) -> DataError:
    return DataError(f"the checkpoint is damaged ({error})", hint="remove the folder to start anew", path=path)
