"""Parameter objects of the Planetoid models: ``Training`` is Algorithm 2, ``Network`` Equations 4 and 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planetoid.parameters import Constraints, Integer, Parameters, Real

__all__ = ["ACTIVATIONS", "OPTIMIZERS", "Encoder", "Network", "Training"]

ACTIVATIONS = ("relu", "tanh", "softmax", "linear")
OPTIMIZERS = ("sgd", "momentum", "adagrad", "rmsprop", "adam", "adamw")


@dataclass(frozen=True)
class Training(Parameters):
    """How the model is trained: the parameters of Algorithm 2.

    The defaults here are those of :class:`~planetoid.PlanetoidT`. To change one parameter of another model and keep its
    other defaults: ``PlanetoidI().set_params(training__steps=50)``.

    Parameters
    ----------
    steps : int
        Training iterations.
    T1, T2 : float
        Supervised and context steps per iteration; 0.1 is one step in ten iterations.
    N1, N2 : int
        Labelled nodes per supervised step, walks per context step.
    lambda_ : float or None
        If given, each iteration is one step on L_s + lambda L_u instead of T1 and T2 separate ones.
    pretrain : float
        Walks per node during pre-training on L_u.
    optimizer : {"adam", "sgd", "momentum", "adagrad", "rmsprop", "adamw"}
        Optimizer of the supervised loss; ``"sgd"`` is what the paper prints.
    learning_rate : float
        Learning rate of the classifier.
    weight_decay : float or "auto"
        L2 penalty of the classifier. ``"auto"`` depends on the number of classes C: min(0.05, 1 / C^2), times one
        half for :class:`~planetoid.PlanetoidI` and one quarter for :class:`~planetoid.PlanetoidG`.
    embedding_learning_rate : float
        Learning rate of the embedding (for :class:`~planetoid.PlanetoidI`, of the encoder) in the supervised loss; 0
        leaves it to the context loss alone.
    context_optimizer : {"sgd", "momentum", "adagrad", "rmsprop", "adam", "adamw"}
        Optimizer of the context loss of :class:`~planetoid.PlanetoidI`. Embedding tables always take plain SGD steps.
    context_learning_rate : float
        Learning rate of the context loss in pre-training; for embedding tables per pair, decayed linearly to 1 %.
    joint_learning_rate : float
        Constant learning rate per pair of the context loss in joint training of embedding tables.
    evaluate_every : int
        Iterations between two evaluations on the validation labels.
    """

    steps: int = 160
    T1: float = 1.0
    T2: float = 0.1
    N1: int = 200
    N2: int = 200
    lambda_: float | None = None
    pretrain: float = 20
    optimizer: str = "adam"
    learning_rate: float = 0.035
    weight_decay: float | str = "auto"
    embedding_learning_rate: float = 0.02
    context_optimizer: str = "sgd"
    context_learning_rate: float = 0.025
    joint_learning_rate: float = 0.005
    evaluate_every: int = 10

    constraints: ClassVar[Constraints] = {
        "steps": Integer(0),
        "T1": Real(0),
        "T2": Real(0),
        "N1": Integer(1),
        "N2": Integer(1),
        "lambda_": (Real(0), None),
        "pretrain": Real(0),
        "optimizer": OPTIMIZERS,
        "learning_rate": Real(0, closed="neither"),
        "weight_decay": (Real(0), "auto"),
        "embedding_learning_rate": Real(0),
        "context_optimizer": OPTIMIZERS,
        "context_learning_rate": Real(0, closed="neither"),
        "joint_learning_rate": Real(0, closed="neither"),
        "evaluate_every": Integer(1),
    }


@dataclass(frozen=True)
class Network(Parameters):
    """The classifier p(y | x, e): layers on x, layers on e, and a softmax over both (Equations 4 and 5).

    The defaults here are those of :class:`~planetoid.PlanetoidT`.

    Parameters
    ----------
    k : int
        Layers on x; with 0 the softmax sees x itself.
    l : int
        Layers on e (the paper's l, for Planetoid-I its l2); with 0 the softmax sees e itself.
    width : int or None
        Units per hidden layer; ``None`` is the number of classes.
    activation : {"relu", "tanh", "softmax", "linear"}
    dropout : float
    auxiliary_losses : bool
        Whether every hidden layer predicts the class too.
    normalize_embedding : bool
        Whether e is scaled to unit length before the classifier sees it.
    """

    k: int = 1
    l: int = 0  # noqa: E741
    width: int | None = 64
    activation: str = "relu"
    dropout: float = 0.0
    auxiliary_losses: bool = False
    normalize_embedding: bool = True

    constraints: ClassVar[Constraints] = {
        "k": Integer(0),
        "l": Integer(0),
        "width": (Integer(1), None),
        "activation": ACTIVATIONS,
        "dropout": Real(0, 1, closed="left"),
        "auxiliary_losses": bool,
        "normalize_embedding": bool,
    }


@dataclass(frozen=True)
class Encoder(Parameters):
    """The layers from x to the embedding e = h^{l1}(x) of Planetoid-I; the last is as wide as the embedding.

    Parameters
    ----------
    l1 : int
        Number of layers.
    width : int
        Units of the layers before the last.
    activation : {"relu", "tanh", "linear"}
    """

    l1: int = 1
    width: int = 256
    activation: str = "relu"

    constraints: ClassVar[Constraints] = {
        "l1": Integer(1),
        "width": Integer(1),
        "activation": ("relu", "tanh", "linear"),
    }
