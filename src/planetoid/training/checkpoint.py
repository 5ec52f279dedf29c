"""``Checkpoint``: written at intervals, atomically; a killed training resumes from the last one."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from planetoid.engine.shards import Exchange, OneProcess, current_exchange, first_of_block, is_column_block
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
# The next state is written beside the current one; then the document changes from one to the other in one step. Of
# processes that train together, each writes a file, the first without a number.
STEMS = ("checkpoint-a", "checkpoint-b")
TENSORS_NAME = re.compile(r"(checkpoint-[ab])(-[1-9]\d*)?\.safetensors")
TENSORS_NAMES = tuple(f"{stem}.safetensors" for stem in STEMS)
STATE, BEST = "state.", "best."


@dataclass
class Checkpoint(Callback):
    """Keep a checkpoint in a folder; the same ``fit`` resumes from it after an interruption, with the same result.

    A checkpoint belongs to one call: its fingerprint covers the data and every parameter that changes the result. The
    checkpoint of another call is rejected, so that nothing is continued by mistake, and so is a folder that another
    process is training with. Only files called ``checkpoint*`` are written, and none that was there before. Processes
    that train together write to one folder, which they share; any number of them resumes from it.

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
    _current: str | None = field(default=None, init=False, repr=False, compare=False)  # stem of the last state's files
    _lock: int | None = field(default=None, init=False, repr=False, compare=False)
    _exchange: Exchange = field(default_factory=OneProcess, init=False, repr=False, compare=False)

    constraints: ClassVar[Constraints] = {"path": (str, Path), "every": Real(0)}

    def on_train_begin(self, trainer: Trainer) -> None:
        self._written, self._fingerprint, self._current = time.monotonic(), trainer.fingerprint(), None
        self._exchange = current_exchange() or OneProcess()
        folder = Path(self.path)
        try:
            if self._exchange.rank == 0:
                self._claim(folder)
            self._exchange.texts("")  # the others read what the first has found
            document = self._read_document(folder)
            if document is None:
                raise DataError("the folder is not the one that process 0 writes to; share it", path=folder)
            if document["training"] is not None:
                self._resume(trainer, folder, document)
        except BaseException:
            self._unlock()
            raise

    def _claim(self, folder: Path) -> None:
        """Lock the folder, and check that its files are ours."""
        try:
            make_folder(folder)
            self._lock = _locked(folder / LOCK_NAME)
            for name in (DOCUMENT_NAME, *TENSORS_NAMES, *_tensor_files(folder)):
                remove_abandoned(folder / name)
        except OSError as error:
            raise _not_written(self.path, error) from None
        document = self._read_document(folder)
        if document is None:
            self._check_names(folder)
        if document is None or document["training"] is None:
            self._write_document(folder, {}, None)  # from now on, the names of our files are ours

    def on_step_end(self, trainer: Trainer) -> None:
        due = trainer.finished or time.monotonic() - self._written >= self.every
        if self._exchange.size > 1:  # clocks differ, so that the first process decides
            due = self._exchange.texts(str(due))[0] == str(True)
        if due:
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
            if document["training"] is not None:
                _stem_of(document["tensors"])
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
        for name in (*TENSORS_NAMES, *_tensor_files(folder)):
            if os.path.lexists(folder / name):
                raise DataError("the file exists and is not part of a checkpoint", path=folder / name)

    def _resume(self, trainer: Trainer, folder: Path, document: dict[str, Any]) -> None:
        own = trainer.state()
        columns = {first_of_block(name) for name in own if is_column_block(name)}
        found: Tensors = {}
        for name, sha256 in document["tensors"].items():
            try:
                file = TensorFile(folder / name, sha256, as_torch=not are_arrays(own))
                found |= file.read(wanted=lambda key: not is_column_block(key) or first_of_block(key) in columns)
            except DataError as error:
                if error.message.startswith("cannot read"):
                    raise
                raise _damaged(folder / name, error.message) from None
        best = without_prefix(BEST, found)
        try:
            trainer.resume(document["training"], without_prefix(STATE, found), best or None)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise _damaged(folder, error) from None
        self._current = _stem_of(document["tensors"])

    # ---- writing --------------------------------------------------------------

    def write(self, trainer: Trainer) -> None:
        """Write a checkpoint beside the current one, and then name it in ``checkpoint.json``."""
        folder, rank = Path(self.path), self._exchange.rank
        stem = next(stem for stem in STEMS if stem != self._current)
        name = f"{stem}-{rank}.safetensors" if rank else f"{stem}.safetensors"
        tensors = with_prefix(STATE, trainer.state())
        if trainer.snapshot is not None:
            tensors |= with_prefix(BEST, trainer.snapshot)
        if rank > 0:  # the rest is the same in all processes
            tensors = {name: value for name, value in tensors.items() if is_column_block(name)}
        try:
            write_tensors(folder / name, tensors)
            sync_file(folder / name)
            sync_folder(folder)
            files = [text.split() for text in self._exchange.texts(f"{name} {sha256_of_file(folder / name)}")]
            if rank == 0:
                self._write_document(folder, dict(files), trainer.progress())
        except OSError as error:
            raise _not_written(self.path, error) from None
        self._current = stem
        if rank == 0:
            for other in set(_tensor_files(folder)) - {name for name, _ in files}:
                with suppress(OSError):  # the next write replaces it anyway
                    (folder / other).unlink()

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


def _tensor_files(folder: Path) -> list[str]:
    """Return the names of files that have the name of a state."""
    return [name for name in os.listdir(folder) if TENSORS_NAME.fullmatch(name)]


def _stem_of(names: Iterable[str]) -> str:
    """Return what the names of the files of one state have in common; raise ``ValueError`` if they are not such."""
    stems = {found[1] if (found := TENSORS_NAME.fullmatch(name)) else None for name in names}
    if len(stems) != 1 or None in stems:
        raise ValueError("it names no file of tensors")
    return str(stems.pop())


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
