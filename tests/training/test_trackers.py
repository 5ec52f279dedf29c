"""What trackers of experiments get, by stand-ins for their packages."""

import copy
import sys
from types import SimpleNamespace

import pytest

import planetoid as pl
from planetoid.errors import PlanetoidError

QUICK = {"dimension": 8, "training__pretrain": 10, "training__steps": 40}


@pytest.fixture(scope="module")
def small():
    return pl.datasets.make_citation(60, 3, 20, seed=1)


def fit(small, callback):
    pl.PlanetoidT(callbacks=[callback]).set_params(**QUICK).fit(small.X, small.y, graph=small.graph)


class MLflow:
    """The calls of MLflow, in order."""

    def __init__(self, active=None):
        self.active, self.calls = active, []

    def active_run(self):
        return self.active

    def start_run(self, run_name):
        self.active = run_name
        self.calls.append(("start", run_name))

    def log_params(self, params):
        self.calls.append(("params", params))

    def log_metrics(self, numbers, step):
        self.calls.append(("metrics", step, numbers))

    def end_run(self):
        self.active = None
        self.calls.append(("end",))


class Wandb:
    """A module with runs, and what the last one got."""

    def __init__(self, run=None):
        self.run, self.logged, self.config, self.finished = run, [], {}, 0

    def init(self, project, name):
        self.started = (project, name)
        self.run = self.new_run()
        return self.run

    def new_run(self):
        return SimpleNamespace(log=self.logged.append, config=self.config, finish=self.finish)

    def finish(self):
        self.run, self.finished = None, self.finished + 1


def test_mlflow_gets_every_number_in_a_run_of_its_own(small, monkeypatch):
    mlflow = MLflow()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    logger = pl.MLflowLogger("cora", params={"dimension": 8, "training": pl.Training(steps=40)})
    fit(small, logger)
    assert mlflow.calls[0] == ("start", "cora")
    assert mlflow.calls[1] == ("params", {"dimension": 8, "training": repr(pl.Training(steps=40))})
    assert mlflow.calls[-1] == ("end",)
    steps = {step: set(numbers) for kind, step, numbers in mlflow.calls[2:-1] if kind == "metrics"}
    assert steps[40] >= {"loss", "context_loss"}
    assert "pretraining/context_loss" in steps[100]
    copy.deepcopy(logger)  # as clone does


def test_mlflow_leaves_the_run_of_the_user_open(small, monkeypatch):
    mlflow = MLflow(active="mine")
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    fit(small, pl.MLflowLogger())
    assert {kind for kind, *_ in mlflow.calls} == {"metrics"}
    assert mlflow.active == "mine"


def test_wandb_gets_every_number_in_a_run_of_its_own(small, monkeypatch):
    wandb = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    logger = pl.WandbLogger("graphs", "cora", config={"dimension": 8})
    fit(small, logger)
    assert wandb.started == ("graphs", "cora")
    assert wandb.config == {"dimension": 8}
    assert wandb.finished == 1
    assert wandb.logged[-1]["iteration"] == 40
    assert {"loss", "context_loss"} <= wandb.logged[-1].keys()
    assert {"pretraining/percent", "pretraining/context_loss"} <= wandb.logged[0].keys()
    copy.deepcopy(logger)


def test_wandb_leaves_the_run_of_the_user_open(small, monkeypatch):
    wandb = Wandb()
    mine = wandb.run = wandb.new_run()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    fit(small, pl.WandbLogger())
    assert wandb.logged
    assert wandb.run is mine
    assert wandb.finished == 0


@pytest.mark.parametrize(("logger", "package"), [(pl.MLflowLogger(), "mlflow"), (pl.WandbLogger(), "wandb")])
def test_a_missing_package_is_said_before_the_training(small, monkeypatch, logger, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PlanetoidError, match=f"is not installed; pip install {package}"):
        fit(small, logger)
