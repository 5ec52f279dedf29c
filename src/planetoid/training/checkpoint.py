"""``Checkpoint``: written at intervals, atomically; a killed training resumes from the last one."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from planetoid.errors import DataError
from planetoid.parameters import Constraints, Real
from planetoid.training.callbacks import Callback
from planetoid.utils.atomic import sync_file

if TYPE_CHECKING:
    from planetoid.training.loss import Tensors
    from planetoid.training.trainer import Trainer

__all__ = ["Checkpoint"]

VERSION = 1


@dataclass
class Checkpoint(Callback):
    """Keep a checkpoint in a folder; the same ``fit`` resumes from it after an interruption, with the same result.

    A checkpoint belongs to one call: its fingerprint covers the data and every parameter that changes the result. The
    checkpoint of another call is refused, so that nothing is ever continued by mistake.

    Parameters
    ----------
    path : path
        The folder; ``current/`` in it is replaced as a whole.
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

    constraints: ClassVar[Constraints] = {"path": (str, Path), "every": Real(0)}

    def on_train_begin(self, trainer: Trainer) -> None:
        self._written, self._fingerprint = time.monotonic(), trainer.fingerprint()
        self._finish_exchange()
        folder = Path(self.path) / "current"
        if folder.is_dir():
            self._resume(trainer, folder)

    def on_step_end(self, trainer: Trainer) -> None:
        if trainer.finished or time.monotonic() - self._written >= self.every:
            self.write(trainer)
            self._written = time.monotonic()

    def _resume(self, trainer: Trainer, folder: Path) -> None:
        from safetensors import SafetensorError

        try:
            document = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
            as_arrays = _are_arrays(trainer.state())
            state = _load(folder / "state.safetensors", as_arrays)
            best = folder / "best.safetensors"
            snapshot = _load(best, as_arrays) if best.exists() else None
        except (OSError, ValueError, SafetensorError) as error:
            raise _damaged(folder, error) from None
        identity = (document.get("version"), document.get("fingerprint")) if isinstance(document, dict) else None
        if identity != (VERSION, self._fingerprint):
            raise DataError(
                "the checkpoint belongs to another training (other data, parameters or version)",
                hint="choose another folder, or remove this one to start anew",
                path=folder,
            )
        try:
            trainer.resume(document["training"], state, snapshot)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise _damaged(folder, error) from None

    def write(self, trainer: Trainer) -> None:
        """Write a checkpoint beside the current one and exchange the two."""
        following, current, previous = self._folders()
        try:
            shutil.rmtree(following, ignore_errors=True)
            following.mkdir(parents=True)
            _save(trainer.state(), following / "state.safetensors")
            if trainer.snapshot is not None:
                _save(trainer.snapshot, following / "best.safetensors")
            document = {"version": VERSION, "fingerprint": self._fingerprint, "training": trainer.progress()}
            _write_text(following / "progress.json", json.dumps(document))
            (following / "complete").touch()
            shutil.rmtree(previous, ignore_errors=True)
            if current.exists():
                os.rename(current, previous)
            os.rename(following, current)
            shutil.rmtree(previous, ignore_errors=True)
        except OSError as error:
            raise DataError(f"cannot write the checkpoint: {error.strerror or error}", path=self.path) from None

    def _finish_exchange(self) -> None:
        """Complete or undo an exchange that was interrupted between its two renames."""
        following, current, previous = self._folders()
        if not current.exists():
            if (following / "complete").exists():
                os.rename(following, current)
            elif previous.exists():
                os.rename(previous, current)

    def _folders(self) -> tuple[Path, Path, Path]:
        folder = Path(self.path)
        return folder / "next", folder / "current", folder / "previous"


def _damaged(folder: Path, error: Exception) -> DataError:
    return DataError(f"the checkpoint is damaged ({error})", hint="remove the folder to start anew", path=folder)


def _are_arrays(tensors: Tensors) -> bool:
    """Tell whether a training's state is NumPy arrays, which are read and written without torch."""
    return all(isinstance(value, np.ndarray) for value in tensors.values())


def _load(path: Path, as_arrays: bool) -> Tensors:
    if as_arrays:
        from safetensors.numpy import load_file as load_arrays

        return load_arrays(path)  # type: ignore[return-value]
    from safetensors.torch import load_file

    return load_file(path)


def _save(tensors: Tensors, path: Path) -> None:
    if _are_arrays(tensors):
        from safetensors.numpy import save_file as save_arrays

        save_arrays(tensors, path)  # type: ignore[arg-type]
        sync_file(path)
        return
    from safetensors.torch import save_file

    seen: set[int] = set()
    written = {}
    for name, value in tensors.items():
        plain = value.detach().contiguous().cpu()
        if plain.data_ptr() in seen:  # weights that a user's encoder has tied together
            plain = plain.clone()
        seen.add(plain.data_ptr())
        written[name] = plain
    save_file(written, path)
    sync_file(path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    sync_file(path)
