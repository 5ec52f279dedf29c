"""Callbacks: hooks that a trainer calls, which do nothing unless overridden. Importing this does not import torch."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from planetoid.errors import PlanetoidError
from planetoid.parameters import Check, Constraints, Integer, Real
from planetoid.utils.progress import Advance, progress

if TYPE_CHECKING:
    from typing import TypeAlias

    from torch.utils.tensorboard import SummaryWriter

    from planetoid.training.trainer import Trainer

__all__ = [
    "CALLBACKS",
    "Callback",
    "EarlyStopping",
    "ProgressBar",
    "Record",
    "TensorBoard",
    "metrics_of",
]

Record: TypeAlias = "dict[str, float | None]"


class Callback:
    """Base of all callbacks; override the hooks that are needed.

    One callback can serve several fits, one after the other: :meth:`on_train_begin` resets its state. A ``record`` is
    one entry of ``history_``.
    """

    constraints: ClassVar[Constraints] = {}  # what each parameter may be, checked by ``fit``

    def on_train_begin(self, trainer: Trainer) -> None:
        """Before the first step; the state of a former training is reset here."""

    def on_step_end(self, trainer: Trainer) -> None:
        """After each piece of pre-training and each iteration."""

    def on_record(self, trainer: Trainer, record: Record) -> None:
        """After each evaluation, with what was measured."""

    def on_train_end(self, trainer: Trainer) -> None:
        """After the last step, also when stopped early."""

    def state(self) -> Record:
        """Return numbers for a checkpoint."""
        return {}

    def restore(self, state: Record) -> None:
        """Continue from the numbers of a checkpoint."""

    def fingerprint(self) -> str:
        """Return a text that differs where this callback would lead to another result; empty if it never does."""
        return ""


@dataclass
class EarlyStopping(Callback):
    """Stop when a validation metric has not improved for a while, and return to the best parameters.

    Parameters
    ----------
    monitor : {"val_accuracy", "val_loss"}
    patience : int or None
        Evaluations without improvement before stopping; ``None`` never stops and only loads the best parameters.
    threshold : float
        Smallest change that counts as an improvement.
    load_best : bool
        Whether the parameters of the best evaluation are restored at the end.

    Examples
    --------
    >>> import planetoid as pl
    >>> pl.PlanetoidT(callbacks=[pl.EarlyStopping(patience=5)]).callbacks
    [EarlyStopping(monitor='val_accuracy', patience=5, threshold=0.0, load_best=True)]
    """

    monitor: str = "val_accuracy"
    patience: int | None = 10
    threshold: float = 0.0
    load_best: bool = True
    best: float | None = field(default=None, init=False, repr=False, compare=False)
    waited: int = field(default=0, init=False, repr=False, compare=False)

    constraints: ClassVar[Constraints] = {
        "monitor": ("val_accuracy", "val_loss"),
        "patience": (Integer(1), None),
        "threshold": Real(0),
        "load_best": bool,
    }

    def on_train_begin(self, trainer: Trainer) -> None:
        self.best, self.waited = None, 0

    def on_record(self, trainer: Trainer, record: Record) -> None:
        measured = record.get(self.monitor)
        if measured is None:
            return
        value = measured if self.monitor == "val_accuracy" else -measured
        if self.best is None or value > self.best + self.threshold:
            self.best, self.waited = value, 0
            if self.load_best:
                trainer.keep_snapshot()
            return
        self.waited += 1
        if self.patience is not None and self.waited >= self.patience:
            trainer.stop_early()

    def on_train_end(self, trainer: Trainer) -> None:
        if self.load_best:
            trainer.restore_snapshot()

    def state(self) -> Record:
        return {"best": self.best, "waited": self.waited}

    def restore(self, state: Record) -> None:
        self.best, self.waited = state["best"], int(state["waited"] or 0)

    def fingerprint(self) -> str:
        return repr(self)


class ProgressBar(Callback):
    """A bar for each phase, with losses, validation accuracy, pairs per second and time left; on a terminal only."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose
        self.note, self.name, self.shown = "", "", 0
        self._stack = ExitStack()
        self._advance: Advance | None = None

    def on_train_begin(self, trainer: Trainer) -> None:
        self._open(trainer)

    def _open(self, trainer: Trainer) -> None:
        self._stack.close()
        self.name, self.shown, total = trainer.phase()
        self._advance = self._stack.enter_context(progress(self.name, total, self.verbose))
        self._advance(self.shown)

    def on_step_end(self, trainer: Trainer) -> None:
        name, done, _ = trainer.phase()
        if name != self.name or self._advance is None:
            self._open(trainer)
            return
        speed = trainer.pairs_per_second()
        self._advance(done - self.shown, f"{self.note} {speed / 1e6:.1f} M pairs/s" if speed else self.note)
        self.shown = done

    def on_record(self, trainer: Trainer, record: Record) -> None:
        shown = {"loss": "loss", "context_loss": "L_u", "val_accuracy": "val"}
        self.note = " ".join(f"{text} {record[key]:.4f}" for key, text in shown.items() if record.get(key) is not None)

    def on_train_end(self, trainer: Trainer) -> None:
        self._stack.close()
        self._advance = None


class TensorBoard(Callback):
    """Write every record to a TensorBoard log; needs the package ``tensorboard``."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._writer: SummaryWriter | None = None

    def on_train_begin(self, trainer: Trainer) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise PlanetoidError("TensorBoard is not installed", hint="pip install tensorboard") from None
        self._writer = SummaryWriter(str(self.directory))

    def on_record(self, trainer: Trainer, record: Record) -> None:
        assert self._writer is not None
        step, numbers = metrics_of(record)
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)

    def on_train_end(self, trainer: Trainer) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def metrics_of(record: Record) -> tuple[int, dict[str, float]]:
    """Return the step of a record and its numbers by name, as trackers of experiments take them.

    Steps of pre-training are percent of it.

    >>> metrics_of({"step": 20, "loss": 0.5, "val_accuracy": None})
    (20, {'loss': 0.5})
    >>> metrics_of({"step": 0, "pretrained": 0.25, "context_loss": 0.7})
    (25, {'pretraining/context_loss': 0.7})
    """
    share = record.get("pretrained")
    group, step = ("", record["step"] or 0) if share is None else ("pretraining/", 100 * share)
    named = ((name, value) for name, value in record.items() if name not in ("step", "pretrained"))
    return round(step), {f"{group}{name}": value for name, value in named if value is not None}


def _are_callbacks(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, Callback) for one in value)


CALLBACKS = (Check("a list of Callback objects", _are_callbacks), None)  # constraint of the parameter ``callbacks``
