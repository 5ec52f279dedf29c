"""Algorithm 2 of the paper: pre-training on L_u, then supervised and context steps in alternation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, Protocol

import torch

from planetoid.training.callbacks import Callback, Record
from planetoid.training.checkpoint import Checkpoint

__all__ = ["ContextTask", "Schedule", "SupervisedTask", "Training"]

Tensors = dict[str, torch.Tensor]


class SupervisedTask(Protocol):
    """L_s: the labelled nodes."""

    def gradient(self, step: int) -> float:
        """Compute the gradient of one batch and return the loss."""

    def apply(self) -> None:
        """Take the gradient step."""

    def evaluate(self) -> Record:
        """Return what can be measured on the validation labels; empty without any."""

    def state(self) -> Tensors:
        """Return everything that changes, without copying."""

    def restore(self, state: Tensors) -> None:
        """Take a former state back, in place."""


class ContextTask(Protocol):
    """L_u: contexts drawn by Algorithm 1."""

    n_pretrain: int
    pairs_per_batch: float
    pairs_per_step: float

    def pretrain(self, first: int, last: int) -> float:
        """Take the pre-training batches ``first`` to ``last``; return the mean loss."""

    def step(self, number: int) -> float:
        """Take the context step of that number; return the mean loss."""

    def summed_step(self, number: int, weight: float) -> float:
        """Take the part of a step on L_s + weight L_u that is L_u's.

        Called between ``gradient`` and ``apply`` of L_s: what both losses share
        and L_s steps on only gets its gradient added here.
        """

    def state(self) -> Tensors: ...

    def restore(self, state: Tensors) -> None: ...


@dataclass(frozen=True)
class Schedule:
    """How many steps of each kind.

    Attributes
    ----------
    steps : int
        Turns of Algorithm 2's loop.
    T1, T2 : float
        Supervised and context steps in a turn; 0.1 is one in ten turns.
    lambda_ : float or None
        If given, a turn is one step on L_s + lambda L_u instead.
    evaluate_every : int
        Turns between two records.
    """

    steps: int
    T1: float = 1.0
    T2: float = 1.0
    lambda_: float | None = None
    evaluate_every: int = 10
    pretrain_pieces: int = 50


class Training:
    """Runs Algorithm 2; everything about its progress is plain data, so it can stop and go on.

    Parameters
    ----------
    supervised, context : the two losses
    schedule : Schedule
    callbacks : list of Callback
    checkpoint : Checkpoint or None
        Where and how often to write; a former one of the same call is taken up.
    """

    def __init__(
        self,
        supervised: SupervisedTask,
        context: ContextTask | None,
        schedule: Schedule,
        callbacks: Sequence[Callback] = (),
        checkpoint: Checkpoint | None = None,
        what: str = "training",
    ) -> None:
        self.supervised, self.context, self.schedule = supervised, context, schedule
        self.callbacks, self.checkpoint, self.what = list(callbacks), checkpoint, what
        self.pretrained = 0  # batches
        self.step = 0  # turns
        self.history: list[Record] = []
        self.stopped = False
        self._snapshot: Tensors | None = None
        self._pairs, self._seconds = 0.0, 0.0

    # ---- Algorithm 2 ----------------------------------------------------------

    def run(self) -> None:
        """Train to the end of the budget, or until a callback stops it."""
        if self.checkpoint is not None:
            self.checkpoint.resume(self)
        self._call("on_train_begin")
        try:
            self._pretrain()
            while self.step < self.schedule.steps and not self.stopped:
                loss, context_loss = self._turn(self.step)
                self.step += 1
                if self.step % self.schedule.evaluate_every == 0 or self.step == self.schedule.steps:
                    losses = {"step": self.step, "loss": loss, "context_loss": context_loss}
                    self._record(losses | self.supervised.evaluate())
                self._call("on_step_end")
                self._write_checkpoint()
        finally:
            self._call("on_train_end")

    def _pretrain(self) -> None:
        """Optimise L_u alone, piece by piece."""
        if self.context is None:
            return
        total = self.context.n_pretrain
        piece = max(1, -(-total // self.schedule.pretrain_pieces))
        while self.pretrained < total:
            last = min(total, self.pretrained + piece)
            started = time.perf_counter()
            loss = self.context.pretrain(self.pretrained, last)
            self._count_pairs((last - self.pretrained) * self.context.pairs_per_batch, started)
            self.pretrained = last
            self._record({"step": 0, "pretrained": last / total, "context_loss": loss})
            self._call("on_step_end")
            self._write_checkpoint()

    def _turn(self, turn: int) -> tuple[float | None, float | None]:
        """T1 supervised steps, then T2 context steps; or one step on the summed loss."""
        plan = self.schedule
        loss = context_loss = None
        if plan.lambda_ is not None:
            loss = self.supervised.gradient(turn)
            if self.context is not None and plan.lambda_ > 0:
                context_loss = self._context_step(turn, plan.lambda_)
            self.supervised.apply()
            return loss, context_loss
        for number in steps_of_turn(plan.T1, turn):
            loss = self.supervised.gradient(number)
            self.supervised.apply()
        if self.context is not None:
            for number in steps_of_turn(plan.T2, turn):
                context_loss = self._context_step(number, None)
        return loss, context_loss

    def _context_step(self, number: int, weight: float | None) -> float:
        assert self.context is not None
        started = time.perf_counter()
        loss = self.context.step(number) if weight is None else self.context.summed_step(number, weight)
        self._count_pairs(self.context.pairs_per_step, started)
        return loss

    def _record(self, record: Record) -> None:
        self.history.append(record)
        self._call("on_record", record)

    # ---- for callbacks --------------------------------------------------------

    def stop_early(self) -> None:
        """End after this turn."""
        self.stopped = True

    def keep_snapshot(self) -> None:
        """Remember the parameters as they are."""
        self._snapshot = {name: value.clone() for name, value in self.state().items()}

    def return_to_snapshot(self) -> None:
        """Go back to the parameters remembered last, if any."""
        if self._snapshot is not None:
            self.restore(self._snapshot)

    def phase(self) -> tuple[str, int, int]:
        """Return what is going on, how much of it is done, and of how much."""
        total = self.context.n_pretrain if self.context is not None else 0
        if self.pretrained < total:
            return f"{self.what}: pre-training", self.pretrained, total
        return self.what, self.step, self.schedule.steps

    def pairs_per_second(self) -> float:
        return self._pairs / self._seconds if self._seconds else 0.0

    # ---- state ----------------------------------------------------------------

    def state(self) -> Tensors:
        """Return all tensors that training changes, without copying them."""
        state = {f"supervised.{name}": value for name, value in self.supervised.state().items()}
        if self.context is not None:
            state |= {f"context.{name}": value for name, value in self.context.state().items()}
        return state

    def restore(self, state: Tensors) -> None:
        """Take tensors of :meth:`state` back."""
        for prefix, task in (("supervised.", self.supervised), ("context.", self.context)):
            if task is not None:
                task.restore({name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)})

    def progress_data(self) -> dict[str, Any]:
        """Return where the training is, as plain data for a checkpoint."""
        return {
            "pretrained": self.pretrained,
            "step": self.step,
            "stopped": self.stopped,
            "history": self.history,
            "callbacks": [[type(callback).__name__, callback.state()] for callback in self.callbacks],
        }

    def take_up(self, data: dict[str, Any], state: Tensors, snapshot: Tensors | None) -> None:
        """Go on from a checkpoint."""
        self.pretrained, self.step, self.stopped = data["pretrained"], data["step"], data["stopped"]
        self.history = data["history"]
        kept = list(data["callbacks"])
        for callback in self.callbacks:  # others may have been added or left out since
            found = next((one for one in kept if one[0] == type(callback).__name__), None)
            if found is not None:
                kept.remove(found)
                callback.restore(found[1])
        self.restore(state)
        self._snapshot = snapshot

    @property
    def snapshot(self) -> Tensors | None:
        return self._snapshot

    def _write_checkpoint(self) -> None:
        if self.checkpoint is not None:
            finished = self.stopped or self.step == self.schedule.steps
            self.checkpoint.maybe_write(self, finished)

    def _count_pairs(self, n_pairs: float, started: float) -> None:
        self._pairs += n_pairs
        self._seconds += time.perf_counter() - started

    def _call(self, hook: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, hook)(self, *arguments)


def steps_of_turn(rate: float, turn: int) -> range:
    """Return the numbers of the steps that belong to a turn, where there are ``rate`` a turn on average."""
    return range(floor(turn * rate + 1e-9), floor((turn + 1) * rate + 1e-9))
