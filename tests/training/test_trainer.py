"""Algorithm 2: which steps are taken in which order, and its state."""

import pytest
import torch

from planetoid.training.callbacks import Callback, EarlyStopping
from planetoid.training.checkpoint import Checkpoint
from planetoid.training.loss import Loss
from planetoid.training.trainer import Schedule, Trainer, steps_of_iteration


class Recorded(Loss):
    """A loss that lists the calls of its methods in ``calls``; its parameter counts the gradients."""

    def __init__(self, name, calls, n_pretrain=0, values=()):
        self.name, self.calls, self.n_pretrain, self.values = name, calls, n_pretrain, list(values)
        self.has_validation = bool(values)
        self.parameter = torch.tensor(0)

    def pretrain(self, first, last):
        self.calls.append((self.name, "pretrain", first, last))
        return 0.7

    def zero_grad(self):
        self.calls.append((self.name, "zero_grad"))

    def add_gradient(self, number, weight):
        self.calls.append((self.name, "gradient", number, weight))
        self.parameter += 1
        return 0.5

    def apply(self):
        self.calls.append((self.name, "apply"))

    def evaluate(self):
        return {"val_accuracy": self.values.pop(0)} if self.values else {}

    def state(self):
        return {"parameter": self.parameter}

    def restore(self, state):
        self.parameter.copy_(state["parameter"])


def run(schedule, *n_pretrain):
    """Run one loss per number of pre-training batches; return the calls and the trainer."""
    calls = []
    trainer = Trainer([Recorded(f"loss{k}", calls, n) for k, n in enumerate(n_pretrain)], schedule)
    trainer.run()
    return calls, trainer


def gradients(calls):
    return [call[::2] for call in calls if call[1] == "gradient"]


@pytest.mark.parametrize("rate", [0, 0.1, 0.3, 1 / 3, 0.5, 0.7, 1, 1.5, 2, 3.25])
def test_fractions_of_steps(rate):
    """In n iterations there are n * rate steps, numbered consecutively and evenly distributed."""
    iterations = [steps_of_iteration(rate, iteration) for iteration in range(300)]
    assert [number for steps in iterations for number in steps] == list(range(int(300 * rate + 1e-6)))
    assert {len(steps) for steps in iterations} <= {int(rate), int(rate) + 1}


def test_losses_alternate():
    calls, _ = run(Schedule(2, per_iteration=(2, 0.5)), 0, 0)
    assert gradients(calls) == [("loss0", 0), ("loss0", 1), ("loss0", 2), ("loss0", 3), ("loss1", 0)]
    assert calls[:3] == [("loss0", "zero_grad"), ("loss0", "gradient", 0, 1.0), ("loss0", "apply")]


def test_any_number_of_losses_alternates():
    calls, trainer = run(Schedule(10, per_iteration=(1, 0.5, 0.2)), 0, 0, 0)
    names = [call[0] for call in calls if call[1] == "gradient"]
    assert [names.count(f"loss{k}") for k in range(3)] == [10, 5, 2]
    assert trainer.history == [{"step": 10, "loss0": 0.5, "loss1": 0.5, "loss2": 0.5}]


def test_a_weighted_sum_is_one_step():
    """All gradients are there before any parameter moves, and a loss of weight 0 is left out."""
    calls, trainer = run(Schedule(2, weights=(1.0, 0.3, 0.0)), 0, 0, 0)
    names = ("loss0", "loss1", "loss2")
    step = [(name, "zero_grad") for name in names]
    step += [("loss0", "gradient", 0, 1.0), ("loss1", "gradient", 0, 0.3)]
    step += [(name, "apply") for name in names]
    assert calls[: len(step)] == step
    assert gradients(calls) == [("loss0", 0), ("loss1", 0), ("loss0", 1), ("loss1", 1)]
    assert trainer.history[-1] == {"step": 2, "loss0": 0.5, "loss1": 0.5, "loss2": None}


def test_pretraining_comes_first_in_pieces():
    calls, trainer = run(Schedule(1, per_iteration=(1, 1)), 120, 2)
    pieces = [call for call in calls if call[1] == "pretrain"]
    assert calls[: len(pieces)] == pieces
    assert pieces == [("loss0", "pretrain", k, k + 3) for k in range(0, 120, 3)] + [
        ("loss1", "pretrain", 0, 1),
        ("loss1", "pretrain", 1, 2),
    ]
    assert trainer.history[39] == {"step": 0, "pretrained": 1.0, "loss0": 0.7}
    assert trainer.history[40] == {"step": 0, "pretrained": 0.5, "loss1": 0.7}


def test_no_iterations():
    calls, trainer = run(Schedule(0, per_iteration=(1,)), 0)
    assert (calls, trainer.history) == ([], [])


def test_early_stopping_is_added_with_validation_labels():
    def stopping(values, callbacks=()):
        trainer = Trainer([Recorded("loss", [], values=values)], Schedule(1, per_iteration=(1,)), callbacks)
        return [callback for callback in trainer.callbacks if isinstance(callback, EarlyStopping)]

    assert stopping([]) == []
    assert stopping([0.5]) == [EarlyStopping()]
    own = EarlyStopping(patience=3)
    assert stopping([0.5], [own]) == [own]


def test_checkpoints_come_after_callbacks_that_may_stop(tmp_path):
    """What is written after a step includes what the others did about it."""

    class Stop(Callback):
        def on_step_end(self, trainer):
            trainer.stop_early()

    losses = [Recorded("loss", [])]
    callbacks = [Checkpoint(tmp_path, every=0), Stop()]
    Trainer(losses, Schedule(5, per_iteration=(1,)), callbacks).run()
    resumed = Trainer([Recorded("loss", [])], Schedule(5, per_iteration=(1,)), callbacks)
    resumed.run()
    assert (resumed.step, resumed.stopped) == (1, True)


def test_a_snapshot_is_a_copy():
    trainer = Trainer([Recorded("one", []), Recorded("two", [])], Schedule(1, weights=(1, 1)))
    trainer.keep_snapshot()
    trainer.run()
    assert [int(loss.parameter) for loss in trainer.losses] == [1, 1]
    trainer.restore_snapshot()
    assert [int(loss.parameter) for loss in trainer.losses] == [0, 0]
