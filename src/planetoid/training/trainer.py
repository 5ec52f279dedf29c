"""Algorithm 2 of the paper: pre-training, then steps on several losses, in alternation or on their weighted sum."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite
from typing import TYPE_CHECKING, NamedTuple

from planetoid.errors import PlanetoidError
from planetoid.training.callbacks import Callback, EarlyStopping, ProgressBar, Record
from planetoid.training.checkpoint import Checkpoint
from planetoid.training.loss import Loss, Tensors, copy_of, with_prefix, without_prefix
from planetoid.utils.hashing import sha256_of_arrays

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["Phase", "Progress", "Schedule", "Trainer", "steps_of_iteration"]

PRETRAIN_PIECES = 50  # records, checkpoints and moves of the progress bar during pre-training

Progress: TypeAlias = "dict[str, object]"


@dataclass(frozen=True)
class Schedule:
    """Which steps are taken.

    Attributes
    ----------
    steps : int
        Iterations of Algorithm 2's loop.
    per_iteration : tuple of float
        Steps per iteration on each loss in turn (T1, T2); 0.1 is one step in ten iterations.
    weights : tuple of float or None
        If given, an iteration is instead one step on the sum of the losses, weighted by these.
    evaluate_every : int
        Iterations between two records.
    """

    steps: int
    per_iteration: tuple[float, ...] = ()
    weights: tuple[float, ...] | None = None
    evaluate_every: int = 10


class Phase(NamedTuple):
    """What the trainer is doing, for a progress bar."""

    name: str
    done: int
    total: int


class Trainer:
    """Runs Algorithm 2 over a list of losses; its progress is plain data, so that it can stop and resume.

    Parameters
    ----------
    losses : list of Loss
        In the order of their steps; names are unique.
    schedule : Schedule
    callbacks : list of Callback
        With validation labels and no :class:`EarlyStopping` among them, one with default parameters is added.
    name : str
        Shown beside the progress bar.
    verbose : int
        Whether a progress bar is shown.
    fingerprint : callable, optional
        Returns a digest of data and parameters, by which a checkpoint knows its training.

    Attributes
    ----------
    step : int
        Iterations done.
    pretrained : int
        Pre-training batches done.
    history : list of dict
        One record per piece of pre-training and one per evaluation.
    stopped : bool
    """

    def __init__(
        self,
        losses: Sequence[Loss],
        schedule: Schedule,
        callbacks: Sequence[Callback] = (),
        *,
        name: str = "training",
        verbose: int = 0,
        fingerprint: Callable[[], str] | None = None,
    ) -> None:
        self.losses, self.schedule, self.name = list(losses), schedule, name
        ordered = list(callbacks)
        if any(loss.has_validation for loss in losses) and not any(isinstance(one, EarlyStopping) for one in ordered):
            ordered.insert(0, EarlyStopping())
        # A checkpoint is written when the others have reacted to a step, and is resumed when they have been reset.
        ordered.sort(key=lambda callback: isinstance(callback, Checkpoint))
        self.callbacks: list[Callback] = [*ordered, ProgressBar(verbose)]
        self._fingerprint = fingerprint
        self.pretrained, self.step, self.stopped = 0, 0, False
        self.history: list[Record] = []
        self.snapshot: Tensors | None = None
        self._pairs, self._seconds = 0.0, 0.0

    # ---- Algorithm 2 ----------------------------------------------------------

    def run(self) -> None:
        """Train to the end of the schedule, or until a callback stops it."""
        for callback in self.callbacks:
            callback.on_train_begin(self)
        try:
            self._pretrain()
            while not self.finished:
                values = self._iterate(self.step)
                self.step += 1
                if self.step % self.schedule.evaluate_every == 0 or self.step == self.schedule.steps:
                    record: Record = {"step": self.step, **values}
                    for loss in self.losses:
                        record |= loss.evaluate()
                    self._record(record)
                self._end_step()
        finally:
            for callback in self.callbacks:
                callback.on_train_end(self)

    def _pretrain(self) -> None:
        """Optimise each loss that asks for it alone, piece by piece."""
        before = 0  # batches of the losses that are done
        for loss in self.losses:
            total = loss.n_pretrain
            piece = max(1, -(-total // PRETRAIN_PIECES))
            while self.pretrained < before + total:
                first = self.pretrained - before
                last = min(total, first + piece)
                started = time.perf_counter()
                value = loss.pretrain(first, last)
                self._count_pairs((last - first) * loss.pairs_per_batch, started)
                self.pretrained = before + last
                self._record({"step": 0, "pretrained": last / total, loss.name: value})
                self._end_step()
            before += total

    def _iterate(self, iteration: int) -> Record:
        """Take the steps of one iteration; return the last value of each loss, None where no step was taken."""
        if self.schedule.weights is not None:
            return self._summed_step(iteration, self.schedule.weights)
        values: Record = {}
        for loss, rate in zip(self.losses, self.schedule.per_iteration, strict=True):
            values[loss.name] = None
            for number in steps_of_iteration(rate, iteration):
                started = time.perf_counter()
                values[loss.name] = loss.step(number)
                self._count_pairs(loss.pairs_per_step, started)
        return values

    def _summed_step(self, number: int, weights: Sequence[float]) -> Record:
        """Take one step on the weighted sum of the losses."""
        values: Record = {}
        for loss in self.losses:
            loss.zero_grad()
        for loss, weight in zip(self.losses, weights, strict=True):
            values[loss.name] = None
            if weight > 0:
                started = time.perf_counter()
                values[loss.name] = loss.add_gradient(number, weight)
                self._count_pairs(loss.pairs_per_step, started)
        for loss in self.losses:
            loss.apply()
        return values

    # ---- for callbacks --------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do."""
        return self.stopped or (self.step >= self.schedule.steps and self.pretrained >= self._n_pretrain)

    @property
    def _n_pretrain(self) -> int:
        return sum(loss.n_pretrain for loss in self.losses)

    def stop_early(self) -> None:
        """End after this iteration."""
        self.stopped = True

    def keep_snapshot(self) -> None:
        """Copy the parameters as they are now."""
        self.snapshot = {name: copy_of(value) for name, value in self.state().items()}

    def restore_snapshot(self) -> None:
        """Load the parameters that were copied last, if any."""
        if self.snapshot is not None:
            self.restore(self.snapshot)

    def phase(self) -> Phase:
        """Return what is going on, how much of it is done, and of how much."""
        if self.pretrained < self._n_pretrain:
            return Phase(f"{self.name}: pre-training", self.pretrained, self._n_pretrain)
        return Phase(self.name, self.step, self.schedule.steps)

    def pairs_per_second(self) -> float:
        """Return the mean throughput of context pairs."""
        return self._pairs / self._seconds if self._seconds else 0.0

    def fingerprint(self) -> str:
        """Return a digest of all that the result depends on: data, parameters and some callbacks."""
        parts = ["" if self._fingerprint is None else self._fingerprint()]
        parts += [callback.fingerprint() for callback in self.callbacks]
        return sha256_of_arrays([], "\n".join(filter(None, parts)).encode())

    # ---- state ----------------------------------------------------------------

    def state(self) -> Tensors:
        """Return all tensors that training changes, without copying them."""
        state: Tensors = {}
        for loss in self.losses:
            state |= with_prefix(f"{loss.name}.", loss.state())
        return state

    def restore(self, state: Tensors) -> None:
        """Load tensors of :meth:`state`."""
        for loss in self.losses:
            loss.restore(without_prefix(f"{loss.name}.", state))

    def progress(self) -> Progress:
        """Return how far the training is, as plain data for a checkpoint."""
        return {
            "pretrained": self.pretrained,
            "step": self.step,
            "stopped": self.stopped,
            "history": self.history,
            "callbacks": [{"class": type(one).__name__, "state": one.state()} for one in self.callbacks],
        }

    def resume(self, progress: Mapping[str, object], state: Tensors, snapshot: Tensors | None) -> None:
        """Continue from a checkpoint."""
        match progress:
            case {
                "pretrained": int(pretrained),
                "step": int(step),
                "stopped": bool(stopped),
                "history": list(history),
                "callbacks": list(saved),
            }:
                self.pretrained, self.step, self.stopped, self.history = pretrained, step, stopped, history
            case _:
                raise ValueError("its progress is incomplete")
        for callback in self.callbacks:  # others may have been added or left out since
            own = next((one for one in saved if one["class"] == type(callback).__name__), None)
            if own is not None:
                saved.remove(own)
                callback.restore(own["state"])
        self.restore(state)
        self.snapshot = snapshot

    def _record(self, record: Record) -> None:
        for loss in self.losses:
            value = record.get(loss.name)
            if value is not None and not isfinite(value):
                when = f"after {self.step:,} of {self.schedule.steps:,} steps" if self.step else "during pre-training"
                raise PlanetoidError(
                    f"{self.name}: the training diverged, {loss.name} is {value} {when}",
                    hint="lower the learning rate, or scale the features",
                )
        self.history.append(record)
        for callback in self.callbacks:
            callback.on_record(self, record)

    def _end_step(self) -> None:
        for callback in self.callbacks:
            callback.on_step_end(self)

    def _count_pairs(self, n_pairs: float, started: float) -> None:
        if n_pairs:
            self._pairs += n_pairs
            self._seconds += time.perf_counter() - started


def steps_of_iteration(rate: float, iteration: int) -> range:
    """Return the numbers of the steps of one iteration, where there are ``rate`` steps per iteration on average.

    >>> [list(steps_of_iteration(0.5, iteration)) for iteration in range(4)]
    [[], [0], [], [1]]
    """
    return range(floor(iteration * rate + 1e-9), floor((iteration + 1) * rate + 1e-9))
