"""Hooks that a training calls: small, and doing nothing unless overridden."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planetoid.errors import ParameterError, PlanetoidError
from planetoid.utils.progress import progress

if TYPE_CHECKING:
    from planetoid.training.trainer import Training

__all__ = ["Callback", "EarlyStopping", "ProgressBar", "TensorBoard"]

Record = dict[str, Any]


class Callback:
    """Base of all callbacks; a ``record`` is one row of ``history_``."""

    def on_train_begin(self, training: Training) -> None:
        """Before the first step (or the first after a checkpoint)."""

    def on_step_end(self, training: Training) -> None:
        """After each pre-training piece and each joint step."""

    def on_record(self, training: Training, record: Record) -> None:
        """After each evaluation, with what was measured."""

    def on_train_end(self, training: Training) -> None:
        """After the last step, also when stopped early."""

    def state(self) -> Record:
        """Return plain data for a checkpoint."""
        return {}

    def restore(self, state: Record) -> None:
        """Go on from a checkpoint's data."""


class EarlyStopping(Callback):
    """Stops when a monitored figure has not improved for a while.

    Parameters
    ----------
    monitor : {"val_accuracy", "val_loss"}
    patience : int
        Evaluations without improvement that are borne.
    threshold : float
        The least change that counts as improvement.
    load_best : bool
        Return to the parameters of the best evaluation at the end.
    """

    def __init__(
        self, monitor: str = "val_accuracy", patience: int = 10, threshold: float = 0.0, load_best: bool = True
    ) -> None:
        if monitor not in ("val_accuracy", "val_loss"):
            raise ParameterError(f"monitor={monitor!r}; it is 'val_accuracy' or 'val_loss'")
        self.monitor, self.patience, self.threshold, self.load_best = monitor, patience, threshold, load_best
        self.best: float | None = None
        self.waited = 0

    def on_record(self, training: Training, record: Record) -> None:
        if self.monitor not in record:
            return
        value = record[self.monitor] * (1 if self.monitor == "val_accuracy" else -1)
        if self.best is None or value > self.best + self.threshold:
            self.best, self.waited = value, 0
            if self.load_best:
                training.keep_snapshot()
        else:
            self.waited += 1
            if self.waited >= self.patience:
                training.stop_early()

    def on_train_end(self, training: Training) -> None:
        if self.load_best:
            training.return_to_snapshot()

    def state(self) -> Record:
        return {"best": self.best, "waited": self.waited}

    def restore(self, state: Record) -> None:
        self.best, self.waited = state["best"], state["waited"]


class ProgressBar(Callback):
    """A bar for each phase, with losses, validation accuracy, pairs per second and time left; on a terminal only."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose
        self.note = ""
        self._stack = ExitStack()

    def on_train_begin(self, training: Training) -> None:
        self._open(training)

    def _open(self, training: Training) -> None:
        self._stack.close()
        self.name, self.shown, total = training.phase()
        self._advance = self._stack.enter_context(progress(self.name, total, self.verbose))
        self._advance(self.shown)

    def on_step_end(self, training: Training) -> None:
        name, done, _ = training.phase()
        if name != self.name:
            self._open(training)
            return
        speed = training.pairs_per_second()
        self._advance(done - self.shown, f"{self.note} {speed / 1e6:.1f} M pairs/s" if speed else self.note)
        self.shown = done

    def on_record(self, training: Training, record: Record) -> None:
        shown = {"loss": "loss", "context_loss": "L_u", "val_accuracy": "val"}
        self.note = " ".join(f"{text} {record[key]:.4f}" for key, text in shown.items() if record.get(key) is not None)

    def on_train_end(self, training: Training) -> None:
        self._stack.close()


class TensorBoard(Callback):
    """Writes every record to a TensorBoard log; needs the package ``tensorboard``."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def on_train_begin(self, training: Training) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise PlanetoidError("TensorBoard is not installed: pip install tensorboard") from None
        self._writer: Any = SummaryWriter(str(self.directory))

    def on_record(self, training: Training, record: Record) -> None:
        if "pretrained" in record:  # in percent, for pre-training has no steps
            self._writer.add_scalar(
                "pretraining/context_loss", record["context_loss"], round(100 * record["pretrained"])
            )
            return
        for name, value in record.items():
            if name != "step" and isinstance(value, (int, float)):
                self._writer.add_scalar(name, value, record["step"])

    def on_train_end(self, training: Training) -> None:
        self._writer.close()


def all_of(callbacks: Iterable[Callback] | None) -> list[Callback]:
    """Check what a user gave as callbacks."""
    listed = list(callbacks or ())
    for callback in listed:
        if not isinstance(callback, Callback):
            raise ParameterError(f"callbacks: {callback!r} is not a planetoid Callback")
    return listed
