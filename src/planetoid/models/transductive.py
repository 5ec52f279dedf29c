"""Planetoid-T and Planetoid-G: free embeddings, learned jointly with the classifier."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset
from planetoid.engine.skipgram import new_tables
from planetoid.estimator import Probabilities
from planetoid.io.model_files import Tensors
from planetoid.models.base import PlanetoidBase, choose_device, module_tensors, take_module_tensors

if TYPE_CHECKING:
    from planetoid.training.callbacks import Callback

__all__ = ["PlanetoidG", "PlanetoidT"]


class PlanetoidT(PlanetoidBase):
    """Planetoid-T: p(y | x, e) from features and free embeddings (transductive).

    The embedding of each node is trained to predict the node's class and its
    context in the graph, in alternation (Algorithm 2).

    Parameters
    ----------
    dimension : int
        Width of the embeddings e and of the context parameters w.
    layers_x : int
        k, the layers on x.
    row_normalize : {"l2", "l1", None}
        Scale feature rows.
    layers_e : int
        l, the layers on e; with 0 the softmax sees e itself.
    width : int or None
        Width of hidden layers; ``None`` is the number of classes.
    activation : {"softmax", "relu", "tanh", "linear"}
    auxiliary_losses : bool
        Ask every hidden layer to predict the class too.
    dropout : float
    normalize_embedding : bool
        Scale e to length 1 before the classifier sees it.
    r1, r2, q, d, self_pairs
        Of Algorithm 1; see :class:`planetoid.engine.ContextSampler`. With
        ``r2="auto"`` a labelled node meets one label pair for ten pairs from
        walks, whatever the share of labelled nodes.
    pretrain : float
        Passes of pre-training on L_u: walks that start at each node.
    context_rate : float
        Learning rate of L_u in pre-training, a pair; it falls to a hundredth.
    joint_rate : float
        Learning rate of L_u in joint training, a pair; constant.
    steps : int
        Turns of Algorithm 2.
    T1, T2 : float
        Supervised and context steps in a turn; 0.1 is one in ten turns.
    N1, N2 : int
        Labelled nodes in a supervised step, walks in a context step.
    lambda_ : float or None
        If given, each turn is one step on L_s + lambda L_u instead of T1 and T2.
    optimizer : {"adam", "sgd", "momentum", "adagrad", "rmsprop", "adamw"}
        Of the classifier; ``"sgd"`` is what the paper prints. Embeddings take
        plain SGD steps.
    learning_rate : float
    weight_decay : float or "auto"
        L2 penalty of the classifier. ``"auto"`` depends on the number of classes C: min(0.05, 1 / C^2), half of it
        for :class:`PlanetoidI` and a quarter for :class:`PlanetoidG`.
    embedding_rate : float
        Learning rate of e in L_s.
    evaluate_every : int
        Turns between two evaluations on validation labels.
    monitor, patience, threshold, load_best
        Of early stopping, which is on when ``fit`` gets ``validation``; see
        :class:`planetoid.training.callbacks.EarlyStopping`.
    checkpoint : path, optional
        Folder to write checkpoints to, every ``checkpoint_every`` seconds; the
        same call goes on from there if it was interrupted.
    callbacks : list of Callback, optional
    device : {"cpu", "cuda", "auto"}
    random_state : int
    n_jobs : int
        Threads for contexts; the result does not depend on it.
    verbose : int

    Attributes
    ----------
    embedding_, context_ : float32 arrays of shape (n_nodes, dimension)
        The embeddings e and the context parameters w.
    head_ : torch module
        The classifier p(y | x, e).
    history_ : list of dict
        One record a piece of pre-training and one an evaluation.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(n_nodes=300, seed=0)
    >>> split = data.split("random", per_class=10, n_val=50, n_test=100, seed=0)
    >>> model = pl.PlanetoidT(dimension=16, steps=20)
    >>> model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph).embedding_.shape
    (300, 16)
    """

    uses_features = "required"
    decay_strength = 1.0

    context_: npt.NDArray[np.float32]

    def __init__(
        self,
        *,
        dimension: int = 128,
        layers_x: int = 1,
        layers_e: int = 0,
        width: int | None = 64,
        activation: str = "relu",
        auxiliary_losses: bool = False,
        dropout: float = 0.0,
        normalize_embedding: bool = True,
        row_normalize: str | None = "l2",
        r1: float = 1 / 6,
        r2: float | str = "auto",
        q: int = 10,
        d: int = 4,
        self_pairs: bool = False,
        pretrain: float = 20,
        context_rate: float = 0.025,
        joint_rate: float = 0.005,
        steps: int = 160,
        T1: float = 1.0,
        T2: float = 0.1,
        N1: int = 200,
        N2: int = 200,
        lambda_: float | None = None,
        optimizer: str = "adam",
        learning_rate: float = 0.035,
        weight_decay: float | str = "auto",
        embedding_rate: float = 0.02,
        evaluate_every: int = 10,
        monitor: str = "val_accuracy",
        patience: int = 10,
        threshold: float = 0.0,
        load_best: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 30.0,
        callbacks: Iterable[Callback] | None = None,
        device: str = "auto",
        random_state: int = 0,
        n_jobs: int | None = 1,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.layers_x = layers_x
        self.layers_e = layers_e
        self.width = width
        self.activation = activation
        self.auxiliary_losses = auxiliary_losses
        self.dropout = dropout
        self.normalize_embedding = normalize_embedding
        self.row_normalize = row_normalize
        self.r1 = r1
        self.r2 = r2
        self.q = q
        self.d = d
        self.self_pairs = self_pairs
        self.pretrain = pretrain
        self.context_rate = context_rate
        self.joint_rate = joint_rate
        self.steps = steps
        self.T1 = T1
        self.T2 = T2
        self.N1 = N1
        self.N2 = N2
        self.lambda_ = lambda_
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.embedding_rate = embedding_rate
        self.evaluate_every = evaluate_every
        self.monitor = monitor
        self.patience = patience
        self.threshold = threshold
        self.load_best = load_best
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        self._check()
        from planetoid.training import one_thread

        with one_thread():
            return self._learn(data)

    def _learn(self, data: Dataset) -> Probabilities:
        import torch

        from planetoid.training import FeatureRows, StepRandom
        from planetoid.training.losses import LabelledNodes, TableEmbedding
        from planetoid.training.optimizers import Optimizers

        device = choose_device(self.device)
        tables = new_tables(data.n_nodes, self.dimension, self.random_state)
        tables[0][~data.graph.connected()] = 0.0  # without a context the random start would only be noise
        e, w = (torch.from_numpy(table).to(device) for table in tables)
        features = None if data.X is None else FeatureRows(self._scaled(data.X), device)
        random = StepRandom(self.random_state, device)
        head = self.head_ = self._head(random, features is not None and features.is_sparse)
        optimizers = Optimizers(self.optimizer, (head.parameters(), self.learning_rate), weight_decay=self._decay(data))
        embed = TableEmbedding(e, self.embedding_rate)
        supervised = LabelledNodes(data, features, head, embed, optimizers, self.N1, random, head)
        training = self._training(supervised, self._context(data, e, w), data)
        training.run()
        supervised.calibrate()
        self.history_ = training.history
        self.embedding_, self.context_ = e.cpu().numpy(), w.cpu().numpy()
        probabilities = supervised.probabilities(data.n_nodes)
        if features is None:
            probabilities[~data.graph.connected()] = 0.0  # an embedding that was never trained says nothing
        return probabilities

    def _head(self, random: Any, sparse_features: bool = False) -> Any:
        """Return a new classifier p(y | x, e)."""
        from planetoid.training.network import Head

        return Head(
            getattr(self, "n_features_in_", 0),
            self.dimension,
            len(self.classes_),
            layers_x=getattr(self, "layers_x", 0),
            layers_e=self.layers_e,
            width=self.width,
            activation=self.activation,
            dropout=self.dropout,
            auxiliary_losses=self.auxiliary_losses,
            normalize_embedding=self.normalize_embedding,
            random=random,
            sparse_features=sparse_features,
        )

    def fold_in(self, graph: Any, X: Any = None) -> Any:
        """Return a model that also covers nodes which were added to the graph.

        Nodes that were fitted keep their embedding, context parameters and
        distribution, and the classifier stays as it is; the embeddings of new
        nodes are learned by context steps (``pretrain`` passes over walks in the
        new graph) with all of that frozen. The model itself is not changed.

        Parameters
        ----------
        graph : Graph, or anything that ``Graph.of`` understands
            All nodes, those that were fitted and the new ones.
        X : array, sparse matrix or DataFrame
            One row a node of ``graph``; rows of fitted nodes are not looked at.
            Not for :class:`PlanetoidG`.
        """
        check_is_fitted(self, "label_distributions_")
        from planetoid.models.folding import fold_in

        return fold_in(self, graph, X)

    def _tensors(self) -> Tensors:
        return module_tensors(self.head_)

    def _take_tensors(self, tensors: Tensors) -> None:
        from planetoid.training import StepRandom

        self.head_ = self._head(StepRandom(self.random_state, choose_device(self.device)))
        take_module_tensors(self.head_, tensors)

    def _context(self, data: Dataset, e: Any, w: Any) -> Any:
        """Return L_u over the tables: the engine on the CPU, in the same memory; torch elsewhere."""
        from planetoid.engine.on_device import DeviceSkipGram
        from planetoid.engine.skipgram import SkipGram
        from planetoid.training.losses import EngineContext

        sampler = self._sampler(data)
        if sampler is None:
            return None
        on_cpu = e.device.type == "cpu"
        kind: Any = SkipGram if on_cpu else DeviceSkipGram
        tables = (e.numpy(), w.numpy()) if on_cpu else (e, w)
        falling = kind(sampler, *tables, learning_rate=self.context_rate, n_jobs=self.n_jobs)
        constant = kind(sampler, *tables, learning_rate=self.joint_rate, final_rate=self.joint_rate, n_jobs=self.n_jobs)
        return EngineContext(falling, constant, e, w, self.pretrain, self.N2)


class PlanetoidG(PlanetoidT):
    """Planetoid-G: p(y | e) from free embeddings alone, for graphs without features.

    All parameters are those of :class:`PlanetoidT`, but for ``layers_x`` and
    ``row_normalize``, which concern features; some defaults differ.
    """

    uses_features = "never"
    decay_strength = 0.25

    def __init__(
        self,
        *,
        dimension: int = 128,
        layers_e: int = 1,
        width: int | None = None,
        activation: str = "softmax",
        auxiliary_losses: bool = True,
        dropout: float = 0.5,
        normalize_embedding: bool = True,
        r1: float = 1 / 6,
        r2: float | str = "auto",
        q: int = 10,
        d: int = 4,
        self_pairs: bool = False,
        pretrain: float = 20,
        context_rate: float = 0.025,
        joint_rate: float = 0.005,
        steps: int = 200,
        T1: float = 1.0,
        T2: float = 0.1,
        N1: int = 200,
        N2: int = 200,
        lambda_: float | None = None,
        optimizer: str = "adam",
        learning_rate: float = 0.05,
        weight_decay: float | str = "auto",
        embedding_rate: float = 0.1,
        evaluate_every: int = 10,
        monitor: str = "val_accuracy",
        patience: int = 10,
        threshold: float = 0.0,
        load_best: bool = True,
        checkpoint: str | Path | None = None,
        checkpoint_every: float = 30.0,
        callbacks: Iterable[Callback] | None = None,
        device: str = "auto",
        random_state: int = 0,
        n_jobs: int | None = 1,
        verbose: int = 0,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__(**settings)
        del self.layers_x, self.row_normalize  # there is no x
