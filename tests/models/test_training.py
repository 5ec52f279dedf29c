"""Algorithm 2: how many steps of each kind, its variants, and what callbacks see of it."""

import sys

import numpy as np
import pytest
import torch
from scipy import sparse

import planetoid as pl
from planetoid.errors import ParameterError, PlanetoidError
from planetoid.training.callbacks import Callback, EarlyStopping, TensorBoard
from planetoid.training.pair_loss import LazyAdam
from planetoid.training.trainer import Schedule, Training, steps_of_turn

QUICK = {"dimension": 8, "pretrain": 10, "steps": 40}


class Counting:
    """Two tasks in one that write down what is asked of them."""

    n_pretrain, pairs_per_batch, pairs_per_step = 4, 1.0, 1.0

    def __init__(self, values=()):
        self.calls, self.values = [], list(values)
        self.parameter = 0

    def gradient(self, step):
        self.calls.append(("gradient", step))
        self.parameter += 1
        return 0.5

    def apply(self):
        self.calls.append(("apply",))

    def evaluate(self):
        return {"val_accuracy": self.values.pop(0)} if self.values else {}

    def pretrain(self, first, last):
        self.calls.append(("pretrain", first, last))
        return 0.7

    def step(self, number):
        self.calls.append(("context", number))
        return 0.6

    def summed_step(self, number, weight):
        self.calls.append(("summed", number, weight))
        return 0.6

    def state(self):
        import torch

        return {"parameter": torch.tensor(self.parameter)}

    def restore(self, state):
        self.parameter = int(state["parameter"])


@pytest.mark.parametrize("rate", [0, 0.1, 0.3, 1 / 3, 0.5, 0.7, 1, 1.5, 2, 3.25])
def test_fractions_of_steps(rate):
    """In n turns there are n * rate steps, numbered one after the other, and never two too many at once."""
    turns = [steps_of_turn(rate, turn) for turn in range(300)]
    assert [number for turn in turns for number in turn] == list(range(int(300 * rate + 1e-6)))
    assert {len(turn) for turn in turns} <= {int(rate), int(rate) + 1}


def test_order_of_steps():
    task = Counting()
    Training(task, task, Schedule(2, T1=2, T2=0.5)).run()
    steps = [("gradient", 0), ("apply",), ("gradient", 1), ("apply",)]
    later = [("gradient", 2), ("apply",), ("gradient", 3), ("apply",), ("context", 0)]
    assert task.calls == [("pretrain", k, k + 1) for k in range(4)] + steps + later


def test_order_of_summed_steps():
    task = Counting()
    Training(task, task, Schedule(2, lambda_=0.3)).run()
    turns = [[("gradient", k), ("summed", k, 0.3), ("apply",)] for k in range(2)]
    assert task.calls[4:] == turns[0] + turns[1]
    task = Counting()
    Training(task, task, Schedule(1, lambda_=0.0)).run()
    assert task.calls[4:] == [("gradient", 0), ("apply",)]


# ---- early stopping --------------------------------------------------------------


def stopped(values, **options):
    task = Counting(values)
    stopping = EarlyStopping(**options)
    training = Training(task, None, Schedule(len(values), evaluate_every=1), [stopping])
    training.run()
    return training.step, task.parameter


@pytest.mark.parametrize(
    ("values", "options", "steps", "best"),
    [
        ([0.1, 0.2, 0.2, 0.1, 0.9], {"patience": 2}, 4, 2),  # two without improvement, so the last is never seen
        ([0.1, 0.2, 0.2, 0.3, 0.3], {"patience": 2}, 5, 4),
        ([0.5, 0.4], {"patience": 1}, 2, 1),
        ([0.10, 0.14, 0.18, 0.22], {"patience": 2, "threshold": 0.05}, 4, 3),  # counted from the last best
        ([0.1, 0.2, 0.2, 0.1], {"patience": 2, "load_best": False}, 4, 4),
    ],
)
def test_early_stopping(values, options, steps, best):
    assert stopped(values, **options) == (steps, best)


def test_early_stopping_on_the_loss():
    stopping = EarlyStopping("val_loss", patience=2)
    training = Training(Counting(), None, Schedule(1))
    for loss in (1.0, 0.5, 0.6, 0.7):
        stopping.on_record(training, {"val_loss": loss, "val_accuracy": 0.0})
    assert training.stopped
    assert stopping.best == -0.5
    with pytest.raises(ParameterError, match="monitor='accuracy'"):
        EarlyStopping("accuracy")


def test_validation_stops_a_fit_and_the_best_comes_back(small):
    parameters = {**QUICK, "steps": 400, "evaluate_every": 1, "patience": 5, "monitor": "val_loss", "dropout": 0.0}
    model = pl.PlanetoidT(**parameters, learning_rate=0.5, weight_decay=0.0, embedding_rate=1.0)
    model.fit(small.X, small.y, graph=small.graph, validation=small.validation)
    losses = [record["val_loss"] for record in model.history_ if "val_loss" in record]
    assert len(losses) < 400
    assert len(losses) - 1 - int(np.argmin(losses)) == 5
    held = np.flatnonzero(small.validation >= 0)
    shares = model.label_distributions_[held, small.validation[held]]
    assert -np.log(shares).mean() == pytest.approx(min(losses), rel=1e-4)


# ---- callbacks -------------------------------------------------------------------


class Diary(Callback):
    def __init__(self):
        self.hooks, self.records = [], []

    def on_train_begin(self, training):
        self.hooks.append("begin")

    def on_step_end(self, training):
        self.hooks.append(training.phase()[0])

    def on_record(self, training, record):
        self.records.append(record)

    def on_train_end(self, training):
        self.hooks.append("end")


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
def test_callbacks_are_called_and_history_is_plain(small, cls):
    diary = Diary()
    model = getattr(pl, cls)(**QUICK, callbacks=[diary], evaluate_every=8)
    model.fit(small.X, small.y, graph=small.graph, validation=small.validation)
    assert (diary.hooks[0], diary.hooks[-1]) == ("begin", "end")
    assert {f"{cls}: pre-training", cls} <= set(diary.hooks)
    assert model.history_ == diary.records
    pieces = [record for record in model.history_ if "pretrained" in record]
    joint = [record for record in model.history_ if "pretrained" not in record]
    assert pieces[-1]["pretrained"] == 1.0
    assert [record["step"] for record in joint] == [8, 16, 24, 32, 40]
    assert set(joint[0]) == {"step", "loss", "context_loss", "val_accuracy", "val_loss"}
    assert all(type(value) in (int, float, type(None)) for record in model.history_ for value in record.values())
    assert pieces[-1]["context_loss"] < pieces[0]["context_loss"]


def test_no_bar_where_there_is_no_terminal(small, capsys):
    pl.PlanetoidT(**QUICK, verbose=1).fit(small.X, small.y, graph=small.graph)
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(small, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    pl.PlanetoidT(**QUICK, verbose=1).fit(small.X, small.y, graph=small.graph, validation=small.validation)
    shown = capsys.readouterr().err
    assert "PlanetoidT: pre-training" in shown
    pl.PlanetoidT(**QUICK, verbose=0).fit(small.X, small.y, graph=small.graph)
    assert capsys.readouterr().err == ""


def test_tensorboard_is_asked_for_clearly(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    model = pl.PlanetoidT(**QUICK, callbacks=[TensorBoard(tmp_path)])
    with pytest.raises(PlanetoidError, match="pip install tensorboard"):
        model.fit(small.X, small.y, graph=small.graph)


def test_what_is_no_callback(small):
    with pytest.raises(ParameterError, match="callbacks: 3 is not a planetoid Callback"):
        pl.PlanetoidT(**QUICK, callbacks=[3]).fit(small.X, small.y, graph=small.graph)


# ---- variants --------------------------------------------------------------------

VARIANTS = [
    {"lambda_": 0.5},
    {"optimizer": "sgd", "learning_rate": 2.0, "activation": "relu", "width": 8, "steps": 150},
    {"N1": 4, "steps": 200},
    {"T1": 2, "T2": 1.5},
    {"T1": 0.5, "steps": 80},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI", "PlanetoidG"])
def test_variants_learn(small, cls, variant):
    model = getattr(pl, cls)(**{**QUICK, "pretrain": 60, **variant})
    model.fit(None if cls == "PlanetoidG" else small.X, small.y, graph=small.graph)
    assert (model.predict() == small.truth).mean() >= 0.9


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
@pytest.mark.parametrize("layers_x", [0, 1])
def test_sparse_and_dense_rows_give_the_same(small, cls, layers_x):
    fits = [
        getattr(pl, cls)(**QUICK, dropout=0.0, layers_x=layers_x).fit(X, small.y, graph=small.graph)
        for X in (small.X, sparse.csr_array(small.X))
    ]
    np.testing.assert_allclose(fits[0].predict_proba(), fits[1].predict_proba(), atol=1e-3)


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("layers_x", [0, 1])
def test_wide_sparse_rows_learn_by_sparse_gradients(small, cls, optimizer, layers_x, monkeypatch):
    from planetoid.models import inductive
    from planetoid.training import layers

    monkeypatch.setattr(layers, "SPARSE_GRADIENT_FROM", 4)
    monkeypatch.setattr(inductive, "SPARSE_TABLE_FROM", 4)
    parameters = {**QUICK, "pretrain": 40, "optimizer": optimizer, "layers_x": layers_x}
    if optimizer == "sgd":
        parameters |= {"learning_rate": 0.5, "steps": 100}
    model = getattr(pl, cls)(**parameters).fit(sparse.csr_array(small.X), small.y, graph=small.graph)
    assert (model.predict() == small.truth).mean() >= 0.9
    dense = getattr(pl, cls)(**parameters).fit(small.X, small.y, graph=small.graph)
    assert (dense.predict() == small.truth).mean() >= 0.9


def test_adam_on_some_rows_is_sparse_adam():
    """The compiled optimiser takes the steps of torch's, and leaves all other rows alone."""
    rng = np.random.default_rng(0)
    start = torch.from_numpy(rng.normal(size=(6, 5)).astype(np.float32))
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    optimizers = LazyAdam([ours], lr=0.1), torch.optim.SparseAdam([theirs], lr=0.1)
    for rows in ([0, 2], [2, 3], [0, 2, 3]):
        values = torch.from_numpy(rng.normal(size=(len(rows), 5))).float()
        gradient = torch.sparse_coo_tensor([rows], values, (6, 5), check_invariants=True)
        for table, optimizer in zip((ours, theirs), optimizers, strict=True):
            table.grad = gradient.clone()
            optimizer.step()
    torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=1e-5, atol=1e-6)
    assert torch.equal(ours[[1, 4, 5]].detach(), start[[1, 4, 5]])
