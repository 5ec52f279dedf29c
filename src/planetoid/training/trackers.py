"""Callbacks that send what is measured during a training to trackers of experiments: MLflow, Weights & Biases."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planetoid.errors import PlanetoidError
from planetoid.training.callbacks import Callback, Record, metrics_of

if TYPE_CHECKING:
    from planetoid.training.trainer import Trainer

__all__ = ["MLflowLogger", "WandbLogger"]


class MLflowLogger(Callback):
    """Log every record to MLflow; needs the package ``mlflow``.

    If there is an active run, it is used and left open; otherwise the training is a run of its own.

    Parameters
    ----------
    run_name : str, optional
        Name of a new run.
    params : dict, optional
        Parameters to log with it, for example ``model.get_params()``.

    Examples
    --------
    >>> import planetoid as pl
    >>> model = pl.PlanetoidT(callbacks=[pl.MLflowLogger("cora", params={"dimension": 128})])
    """

    def __init__(self, run_name: str | None = None, params: Mapping[str, object] | None = None) -> None:
        self.run_name, self.params = run_name, params
        self._started = False

    def on_train_begin(self, trainer: Trainer) -> None:
        mlflow = _imported("mlflow", "MLflow")
        self._started = mlflow.active_run() is None
        if self._started:
            mlflow.start_run(run_name=self.run_name)
        if self.params:
            mlflow.log_params(_as_text(self.params))

    def on_record(self, trainer: Trainer, record: Record) -> None:
        step, numbers = metrics_of(record)
        _imported("mlflow", "MLflow").log_metrics(numbers, step=step)

    def on_train_end(self, trainer: Trainer) -> None:
        if self._started:
            _imported("mlflow", "MLflow").end_run()
            self._started = False


class WandbLogger(Callback):
    """Log every record to Weights & Biases; needs the package ``wandb``.

    If there is an active run, it is used and left open; otherwise the training is a run of its own.

    Parameters
    ----------
    project : str, optional
        Of a new run.
    name : str, optional
        Of a new run.
    config : dict, optional
        Parameters to log with it, for example ``model.get_params()``.

    Examples
    --------
    >>> import planetoid as pl
    >>> model = pl.PlanetoidT(callbacks=[pl.WandbLogger("graphs", config={"dimension": 128})])
    """

    def __init__(
        self, project: str | None = None, name: str | None = None, config: Mapping[str, object] | None = None
    ) -> None:
        self.project, self.name, self.config = project, name, config
        self._run: Any = None
        self._started = False

    def on_train_begin(self, trainer: Trainer) -> None:
        wandb = _imported("wandb", "Weights & Biases")
        self._started = wandb.run is None
        self._run = wandb.init(project=self.project, name=self.name) if self._started else wandb.run
        if self.config:
            self._run.config.update(_as_text(self.config))

    def on_record(self, trainer: Trainer, record: Record) -> None:
        step, numbers = metrics_of(record)
        axis = "pretraining/percent" if record.get("pretrained") is not None else "iteration"
        self._run.log({axis: step, **numbers})  # with an axis: its own steps may only grow

    def on_train_end(self, trainer: Trainer) -> None:
        if self._started:
            self._run.finish()
        self._run, self._started = None, False


def _imported(package: str, title: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise PlanetoidError(f"{title} is not installed", hint=f"pip install {package}") from None


def _as_text(values: Mapping[str, object]) -> dict[str, object]:
    """Return parameters that every tracker takes: parameter objects and callbacks as text."""
    plain = (bool, int, float, str, type(None))
    return {name: value if isinstance(value, plain) else repr(value) for name, value in values.items()}
