"""Where to look for parameters: a search space for each method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SPACES", "STARTS", "Choice", "Real", "Space", "Whole"]


@dataclass(frozen=True)
class Real:
    """A number between two others, by default on a logarithmic scale."""

    low: float
    high: float
    log: bool = True


@dataclass(frozen=True)
class Whole:
    """A whole number between two others, both included, by default on a logarithmic scale."""

    low: int
    high: int
    log: bool = True


@dataclass(frozen=True)
class Choice:
    """One of some values: numbers, texts, booleans or ``None``."""

    values: tuple[Any, ...]


Space = Mapping[str, "Real | Whole | Choice"]

_CLASSIFIER: Space = {
    "learning_rate": Real(0.005, 0.1),
    "weight_decay": Real(1e-5, 0.05),
    "steps": Whole(50, 500),
    "dropout": Choice((0.0, 0.3, 0.5)),
    "activation": Choice(("softmax", "relu")),
    "auxiliary_losses": Choice((True, False)),
    "width": Choice((None, 64)),
}

_FREE_EMBEDDINGS: Space = {
    **_CLASSIFIER,
    "pretrain": Real(5.0, 50.0),
    "embedding_rate": Real(0.01, 0.5),
    "T2": Choice((0.1, 0.5)),
    "r2": Choice(("auto", 1.0)),
    "d": Choice((3, 4, 6)),
    "layers_e": Choice((0, 1)),
}

_SMOOTH_NETWORK: Space = {
    "learning_rate": Real(0.003, 0.1),
    "weight_decay": Real(1e-5, 0.02),
    "steps": Whole(50, 800),
    "lambda_": Real(0.1, 300.0),
    "margin": Choice((0.0, 0.5, 1.0)),
    "dropout": Choice((0.0, 0.3, 0.5, 0.7)),
    "width": Choice((16, 64, 128)),
    "embedding": Choice(("hidden", "output", "auxiliary")),
}

SPACES: dict[str, Space] = {
    "planetoid-t": {**_FREE_EMBEDDINGS, "layers_x": Choice((0, 1))},
    "planetoid-g": _FREE_EMBEDDINGS,
    "planetoid-i": {
        **_CLASSIFIER,
        "dimension": Choice((128, 256)),
        "pretrain": Real(1.0, 6.0),
        "context_rate": Real(0.002, 0.03),
        "T2": Choice((0.1, 0.5)),
        "r2": Choice(("auto", 1.0)),
        "d": Choice((3, 4)),
        "layers_x": Choice((0, 1)),
        "layers_2": Choice((0, 1)),
        "embedding_activation": Choice(("relu", "tanh", "linear")),
        "embedding_rate": Choice((0.01, 0.001, 0.0)),
        "row_normalize": Choice(("l2", "l1")),
    },
    "feat": {"C": Real(0.01, 1000.0), "row_normalize": Choice(("l2", "l1", None))},
    "lp": {"class_mass_normalization": Choice((True, False))},
    "lgc": {"alpha": Choice((0.8, 0.9, 0.95, 0.99, 0.999)), "class_mass_normalization": Choice((True, False))},
    "mad": {"mu1": Real(0.01, 100.0), "mu2": Real(0.0001, 1.0), "mu3": Real(0.0001, 1.0), "beta": Real(1.2, 10.0)},
    "manireg": {
        "kind": Choice(("rls", "svm")),
        "kernel": Choice(("linear", "rbf")),
        "ambient": Real(1e-4, 1.0),
        "intrinsic": Real(1e-3, 100.0),
    },
    "semiemb": _SMOOTH_NETWORK,
    "tsvm": {"C": Real(0.1, 100.0), "unlabelled_C": Real(0.01, 10.0)},
    "ica": {"C": Real(0.1, 1000.0), "aggregate": Choice(("proportion", "count")), "n_rounds": Whole(1, 10)},
    "diel": {"growth": Real(2.0, 50.0), "damping": Choice((0.5, 0.7, 0.85, 0.95)), "C": Real(0.01, 100.0)},
    "graphemb": {
        "passes": Real(3.0, 60.0),
        "d": Choice((3, 4, 6)),
        "C": Real(0.3, 1000.0),
        "dimension": Choice((64, 128)),
    },
}

_LINEAR = {"layers_x": 0, "layers_e": 0, "auxiliary_losses": False, "dropout": 0.0, "weight_decay": 0.01}
_RELU = {"layers_x": 1, "activation": "relu", "width": 64, "auxiliary_losses": False, "weight_decay": 0.01}
_MANY_CLASSES = {"weight_decay": 1e-5, "pretrain": 10.0}
_PUSHED = {"weight_decay": 1e-4, "pretrain": 10.0, "learning_rate": 0.1, "steps": 200, "r2": 1.0, "d": 6}
_LONG = {"weight_decay": 3e-6, "pretrain": 17.0, "learning_rate": 0.1, "steps": 400, "r2": 1.0, "d": 3}
_FROZEN = {
    "embedding_activation": "linear",
    "row_normalize": "l1",
    "embedding_rate": 0.0,
    "learning_rate": 0.1,
    "context_rate": 0.03,
    "pretrain": 4.0,
    "steps": 300,
    "layers_2": 0,
}

# Sets of parameters that did well somewhere: a search tries them, and the defaults, before any other.
STARTS: dict[str, tuple[dict[str, Any], ...]] = {
    "planetoid-t": (_LINEAR, _LINEAR | {"pretrain": 10.0}, _RELU | {"layers_e": 0, "dropout": 0.0}),
    "planetoid-g": (
        {"d": 6, "pretrain": 24.0, "r2": 1.0},
        _LINEAR,
        _LINEAR | {"weight_decay": 0.001},
        _LINEAR | _MANY_CLASSES,
        _LINEAR | _PUSHED,
        _LINEAR | _PUSHED | {"embedding_rate": 0.01, "T2": 20.0},
        _LINEAR | _LONG | {"embedding_rate": 0.003},
        _LINEAR | _LONG | {"embedding_rate": 0.01, "T2": 5.0},
        {"d": 6, "pretrain": 20.0, "r2": 1.0, "weight_decay": 5e-5},
    ),
    "planetoid-i": (
        _RELU,
        _LINEAR | {"layers_2": 0},
        {"row_normalize": "l1", "dimension": 256, "pretrain": 3.0},
        _LINEAR | _MANY_CLASSES | _FROZEN,
    ),
}
