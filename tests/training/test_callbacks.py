"""Early stopping, progress and logs: what callbacks see of a training, and that they can be used again."""

import copy
import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone

import planetoid as pl
from planetoid.errors import ParameterError, PlanetoidError
from planetoid.training.callbacks import Callback, EarlyStopping, TensorBoard
from planetoid.training.loss import Loss
from planetoid.training.trainer import Schedule, Trainer

QUICK = {"dimension": 8, "training__pretrain": 10, "training__steps": 40}


class Scripted(Loss):
    """A loss whose validation accuracy is given; its parameter counts the steps."""

    has_validation = True

    def __init__(self, values):
        self.values, self.parameter = list(values), torch.tensor(0)

    def zero_grad(self):
        pass

    def add_gradient(self, number, weight):
        self.parameter += 1
        return 0.5

    def apply(self):
        pass

    def evaluate(self):
        return {"val_accuracy": self.values.pop(0)}

    def state(self):
        return {"parameter": self.parameter}

    def restore(self, state):
        self.parameter.copy_(state["parameter"])


def stopped(values, stopping):
    """Return the step at which a training stopped, and the step whose parameters it returned."""
    loss = Scripted(values)
    trainer = Trainer([loss], Schedule(len(values), per_iteration=(1,), evaluate_every=1), [stopping])
    trainer.run()
    return trainer.step, int(loss.parameter)


@pytest.mark.parametrize(
    ("values", "options", "steps", "best"),
    [
        ([0.1, 0.2, 0.2, 0.1, 0.9], {"patience": 2}, 4, 2),  # two without improvement, so the last is never seen
        ([0.1, 0.2, 0.2, 0.3, 0.3], {"patience": 2}, 5, 4),
        ([0.5, 0.4], {"patience": 1}, 2, 1),
        ([0.10, 0.14, 0.18, 0.22], {"patience": 2, "threshold": 0.05}, 4, 3),  # compared with the last best
        ([0.1, 0.2, 0.2, 0.1], {"patience": 2, "load_best": False}, 4, 4),
        ([0.3, 0.1, 0.1, 0.1, 0.1, 0.3], {"patience": None}, 6, 1),  # never stops, and the first best is returned
    ],
)
def test_early_stopping(values, options, steps, best):
    assert stopped(values, EarlyStopping(**options)) == (steps, best)


def test_early_stopping_on_the_loss():
    stopping = EarlyStopping("val_loss", patience=2)
    trainer = Trainer([], Schedule(1))
    for loss in (1.0, 0.5, 0.6, 0.7):
        stopping.on_record(trainer, {"val_loss": loss, "val_accuracy": 0.0})
    assert trainer.stopped
    assert stopping.best == -0.5


def test_a_callback_serves_several_trainings():
    stopping = EarlyStopping(patience=2)
    first = stopped([0.8, 0.9, 0.1, 0.1, 0.1], stopping)
    assert stopping.best == 0.9
    assert stopped([0.1, 0.2, 0.1, 0.1, 0.1], stopping) == first == (4, 2)


def test_one_object_for_several_fits(small):
    def model(stopping):
        return pl.PlanetoidT(callbacks=[stopping]).set_params(**QUICK, training__evaluate_every=1)

    def fit(model):
        return model.fit(small.X, small.y, graph=small.graph, validation=small.validation)

    fresh = fit(model(EarlyStopping(patience=3)))
    again = model(EarlyStopping(patience=3))
    for _ in range(2):
        assert fit(again).history_ == fresh.history_
        np.testing.assert_array_equal(again.predict_proba(), fresh.predict_proba())
    copied = clone(again)
    assert copied.callbacks == again.callbacks
    assert copied.callbacks[0] is not again.callbacks[0]
    assert fit(copied).history_ == fresh.history_


def test_validation_stops_a_fit_and_the_best_comes_back(small):
    model = pl.PlanetoidT(callbacks=[EarlyStopping("val_loss", patience=5)], calibrate=False).set_params(
        **{**QUICK, "training__steps": 400},
        training__evaluate_every=1,
        training__learning_rate=0.5,
        training__weight_decay=0.0,
        training__embedding_learning_rate=1.0,
    )
    model.fit(small.X, small.y, graph=small.graph, validation=small.validation)
    losses = [record["val_loss"] for record in model.history_ if "val_loss" in record]
    assert len(losses) < 400
    assert len(losses) - 1 - int(np.argmin(losses)) == 5
    rows = np.flatnonzero(small.validation >= 0)
    probabilities = model.label_distributions_[rows, small.validation[rows]]
    assert -np.log(probabilities).mean() == pytest.approx(min(losses), rel=1e-4)


def test_embeddings_come_back_too_where_there_are_no_edges(small):
    """Without a context loss the supervised loss alone moves the embeddings; they belong to its state."""
    graph = pl.Graph.from_edges([], [], nodes=small.n_nodes)
    stopping = EarlyStopping("val_loss", patience=None)
    settings = {"training__steps": 60, "training__evaluate_every": 1, "training__embedding_learning_rate": 5.0}
    model = pl.PlanetoidT(dimension=8, callbacks=[stopping]).set_params(**settings, training__learning_rate=0.5)
    with pytest.warns(pl.PlanetoidWarning, match="no edges"):
        model.fit(small.X, small.y, graph=graph, validation=small.validation)
    losses = [record["val_loss"] for record in model.history_]
    best = int(np.argmin(losses)) + 1
    assert best < 60
    shorter = clone(model).set_params(training__steps=best)
    with pytest.warns(pl.PlanetoidWarning, match="no edges"):
        shorter.fit(small.X, small.y, graph=graph, validation=small.validation)
    np.testing.assert_array_equal(model.embedding_, shorter.embedding_)


class Diary(Callback):
    def __init__(self):
        self.hooks, self.records = [], []

    def on_train_begin(self, trainer):
        self.hooks.append("begin")

    def on_step_end(self, trainer):
        self.hooks.append(trainer.phase().name)

    def on_record(self, trainer, record):
        self.records.append(record)

    def on_train_end(self, trainer):
        self.hooks.append("end")


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
def test_callbacks_are_called_and_history_is_plain(small, cls):
    diary = Diary()
    model = getattr(pl, cls)(callbacks=[diary]).set_params(**QUICK, training__evaluate_every=8)
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
    pl.PlanetoidT(verbose=1).set_params(**QUICK).fit(small.X, small.y, graph=small.graph)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["planetoid-t", "semiemb"])
def test_a_bar_on_a_terminal(small, capsys, monkeypatch, method):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    cls = pl.METHODS[method]
    quick = {name: value for name, value in QUICK.items() if name in cls().get_params()}
    cls(verbose=1).set_params(**quick).fit(small.X, small.y, graph=small.graph, validation=small.validation)
    assert cls.__name__ in capsys.readouterr().err
    cls(verbose=0).set_params(**quick).fit(small.X, small.y, graph=small.graph)
    assert capsys.readouterr().err == ""


def test_tensorboard_says_what_to_install(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    model = pl.PlanetoidT(callbacks=[TensorBoard(tmp_path)]).set_params(**QUICK)
    with pytest.raises(PlanetoidError, match="pip install tensorboard"):
        model.fit(small.X, small.y, graph=small.graph)


def test_tensorboard_gets_every_number(small, tmp_path, monkeypatch):
    written = []

    class SummaryWriter:
        def __init__(self, directory):
            written.append(directory)

        def add_scalar(self, name, value, step):
            written.append((name, step))

        def close(self):
            written.append("closed")

    module = type(sys)("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    board = TensorBoard(tmp_path)
    pl.PlanetoidT(callbacks=[board]).set_params(**QUICK).fit(small.X, small.y, graph=small.graph)
    assert (written[0], written[-1]) == (str(tmp_path), "closed")
    assert {("pretraining/context_loss", 100), ("loss", 40), ("context_loss", 40)} <= set(written)
    copy.deepcopy(board)  # as clone does; the writer is gone


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ([3], r"PlanetoidT: callbacks must be a list of Callback objects or None, got \[3\]"),
        (EarlyStopping(), r"callbacks must be a list of Callback objects or None, got EarlyStopping\("),
        ([EarlyStopping("accuracy")], "EarlyStopping: monitor must be 'val_accuracy' or 'val_loss', got 'accuracy'"),
        ([EarlyStopping(patience=0)], "EarlyStopping: patience must be an integer >= 1 or None, got 0"),
        ([pl.Checkpoint(3)], "Checkpoint: path must be a string or a Path object, got 3"),
        ([pl.Checkpoint("here", every=-1)], "Checkpoint: every must be a number >= 0, got -1"),
    ],
)
def test_invalid_callbacks(small, callbacks, message):
    with pytest.raises(ParameterError, match=message):
        pl.PlanetoidT(callbacks=callbacks).fit(small.X, small.y, graph=small.graph)
