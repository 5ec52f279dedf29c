"""Parameter objects of the models: how contexts are drawn, how a model is trained, how a network looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planetoid.parameters import Constraints, Integer, Parameters, Real

__all__ = ["ACTIVATIONS", "OPTIMIZERS", "Consistency", "Encoder", "Neighbourhood", "Network", "Training"]

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
        Labelled nodes per supervised step, walks per context step (pairs, with ``Contexts(single_pairs=True)``).
    lambda_ : float or None
        If given, each iteration is one step on L_s + lambda L_u instead of T1 and T2 separate ones.
    pretrain : float
        Walks per node (pairs, with ``Contexts(single_pairs=True)``) during pre-training on L_u.
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


@dataclass(frozen=True)
class Neighbourhood(Parameters):
    """How the contexts of a node are sampled by :class:`~planetoid.Planetoid`: walks with restart.

    Parameters
    ----------
    walks : int
        Walks per sample; a sample is the input of a node in one training step.
    restart : float or "auto"
        Probability that a walk ends after each step, so the weight of a node itself against its neighbourhood: with 1
        the graph is not used. ``"auto"`` is 0.15, and up to 0.7 where the communities of the graph are not the classes
        (:mod:`planetoid.models.evidence`).
    length : int
        Steps of a walk at most.
    degree_power : float
        A visit counts (degree + 1) to the power of minus this, in units of the mean edge weight: 0.5 is the symmetric
        normalisation of a graph convolution, 0 counts every visit alike.
    """

    walks: int = 4
    restart: float | str = "auto"
    length: int = 10
    degree_power: float = 1.0

    constraints: ClassVar[Constraints] = {
        "walks": Integer(1),
        "restart": (Real(0, 1), "auto"),
        "length": Integer(0),
        "degree_power": Real(0),
    }


@dataclass(frozen=True)
class Consistency(Parameters):
    """How :class:`~planetoid.Planetoid` is trained: Algorithm 2 on L_s and a loss L_u of agreement.

    Parameters
    ----------
    steps : int
        Training steps, each on L_s + weight L_u.
    n_labelled, n_unlabelled : int
        Nodes of each kind in a batch (the paper's N1 and N2); all labelled nodes where there are fewer.
    weight : float
        Weight of L_u, reached after ``warmup`` steps.
    warmup : int
    temperature : float
        Power 1 / temperature to which the mean prediction of a node is raised before both are drawn to it.
    confidence : float
        A node takes part in L_u if its mean prediction is at least so many times 1 / (number of classes + 1).
    alignment : float
        Exponent of the correction that keeps the mean prediction near the class prior.
    teaching : int
        Steps over which the teacher, a classifier on the chosen view, fades out of the targets of L_u.
    learning_rate : float
        Of Adam, falling to 0 along half a cosine.
    weight_decay : float or "auto"
        L2 penalty of all parameters. ``"auto"`` depends on the number of classes C and of labels per class L:
        min(0.005, C / 1200, 1 / (4 C^2)), times sqrt(L / 20) for L < 20 and 20 / L for L > 20.
    dropout, feature_dropout : float
        Share of hidden units and of features that a step drops.
    evaluate_every : int
        Steps between two evaluations on the validation labels.
    """

    steps: int = 300
    n_labelled: int = 500
    n_unlabelled: int = 100
    weight: float = 1.0
    warmup: int = 100
    temperature: float = 0.3
    confidence: float = 2.0
    alignment: float = 1.0
    teaching: int = 200
    learning_rate: float = 0.01
    weight_decay: float | str = "auto"
    dropout: float = 0.5
    feature_dropout: float = 0.5
    evaluate_every: int = 25

    constraints: ClassVar[Constraints] = {
        "steps": Integer(0),
        "n_labelled": Integer(1),
        "n_unlabelled": Integer(0),
        "weight": Real(0),
        "warmup": Integer(0),
        "temperature": Real(0, closed="neither"),
        "confidence": Real(0),
        "alignment": Real(0),
        "teaching": Integer(0),
        "learning_rate": Real(0, closed="neither"),
        "weight_decay": (Real(0), "auto"),
        "dropout": Real(0, 1, closed="left"),
        "feature_dropout": Real(0, 1, closed="left"),
        "evaluate_every": Integer(1),
    }
