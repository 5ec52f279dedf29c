"""Checkpoints: written at intervals, atomically; a killed training goes on from the last one."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from planetoid.errors import DataError

if TYPE_CHECKING:
    from planetoid.training.trainer import Training

__all__ = ["Checkpoint"]

VERSION = 1


class Checkpoint:
    """A folder with one checkpoint, ``current/``, replaced as a whole.

    Parameters
    ----------
    directory : path
    fingerprint : str
        What the call is: a digest of data and parameters. A checkpoint of
        another call is refused.
    every : float, default 30
        Seconds between two writes; 0 writes after every step.
    """

    def __init__(self, directory: str | Path, fingerprint: str, every: float = 30.0) -> None:
        self.directory, self.fingerprint, self.every = Path(directory), fingerprint, every
        self._written = time.monotonic()

    def resume(self, training: Training) -> bool:
        """Take up the last checkpoint, if there is one."""
        self._settle()
        folder = self.directory / "current"
        if not folder.is_dir():
            return False
        try:
            data = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
            state = load_file(folder / "state.safetensors")
            best = folder / "best.safetensors"
            snapshot = load_file(best) if best.exists() else None
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"the checkpoint in {folder} is damaged ({error}); remove the folder to start anew"
            ) from None
        if not isinstance(data, dict) or data.get("version") != VERSION or data.get("fingerprint") != self.fingerprint:
            raise DataError(
                f"the checkpoint in {folder} belongs to another training (other data, parameters or version); "
                "give another folder, or remove this one to start anew"
            )
        try:
            training.take_up(data["training"], state, snapshot)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DataError(
                f"the checkpoint in {folder} is damaged ({error}); remove the folder to start anew"
            ) from None
        return True

    def maybe_write(self, training: Training, finished: bool) -> None:
        """Write if it is time to."""
        if finished or time.monotonic() - self._written >= self.every:
            self.write(training)
            self._written = time.monotonic()

    def write(self, training: Training) -> None:
        """Write a checkpoint to the side and let it take the place of the last."""
        aside, current, old = (self.directory / name for name in ("next", "current", "previous"))
        try:
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir(parents=True)
            _save(training.state(), aside / "state.safetensors")
            if training.snapshot is not None:
                _save(training.snapshot, aside / "best.safetensors")
            document = {"version": VERSION, "fingerprint": self.fingerprint, "training": training.progress_data()}
            _write_text(aside / "progress.json", json.dumps(document))
            (aside / "complete").touch()
            shutil.rmtree(old, ignore_errors=True)
            if current.exists():
                os.rename(current, old)
            os.rename(aside, current)
            shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise DataError(f"cannot write a checkpoint to {self.directory}: {error.strerror or error}") from None

    def _settle(self) -> None:
        """Finish or undo an exchange that was cut short between its two renames."""
        aside, current, old = (self.directory / name for name in ("next", "current", "previous"))
        if not current.exists():
            if (aside / "complete").exists():
                os.rename(aside, current)
            elif old.exists():
                os.rename(old, current)


def _save(tensors: dict[str, torch.Tensor], path: Path) -> None:
    seen: set[int] = set()
    written = {}
    for name, value in tensors.items():
        plain = value.detach().contiguous().cpu()
        if plain.data_ptr() in seen:  # weights that a user's encoder has tied together
            plain = plain.clone()
        seen.add(plain.data_ptr())
        written[name] = plain
    save_file(written, path)
    _sync(path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    _sync(path)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
