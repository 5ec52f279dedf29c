"""Planetoid-I: embeddings are a function of the features, so new rows can be labelled."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.io.model_files import Tensors
from planetoid.models.base import PlanetoidBase, choose_device, module_tensors, take_module_tensors

if TYPE_CHECKING:
    from torch import nn

    from planetoid.training.callbacks import Callback

__all__ = ["PlanetoidI"]

SPARSE_TABLE_FROM = 5_000  # rows of w from which its gradient is sparse


class PlanetoidI(PlanetoidBase, InductiveClassifier):
    """Planetoid-I: p(y | x) with e = h^{l1}(x), trained to predict contexts too (inductive).

    Parameters
    ----------
    dimension : int
        Width of the embedding e = h^{l1}(x).
    layers_x, layers_1, layers_2 : int
        k layers on x, l1 layers from x to e, l2 layers on e; with k = l2 = 0 the softmax sees x and e themselves.
    hidden : int
        Width of the layers between x and e, where l1 > 1.
    encoder : torch module or callable, optional
        Takes the place of the l1 layers: a module, or a factory called with the
        number of features, that maps a batch of rows to embeddings (n,
        dimension). A batch is a dense float32 tensor, or for sparse X a
        :class:`planetoid.training.SparseBatch`, of the rows as they were given. The
        classifier then sees e alone: ``layers_x``, ``layers_1``, ``hidden``,
        ``embedding_activation`` and ``row_normalize`` are of the built-in
        layers. A module is copied, not changed. A model with an encoder can be
        saved, and is loaded by giving the encoder again.
    width, activation, auxiliary_losses, dropout, normalize_embedding, row_normalize
        Of the classifier, as in :class:`PlanetoidT`; ``normalize_embedding``
        scales e to length 1 for the classifier alone.
    embedding_activation : {"tanh", "relu", "linear"}
        Of the layers from x to e.
    r1, r2, q, d, self_pairs
        Of Algorithm 1. Nodes without features (zero rows) are passed through
        by walks and used as contexts, never as i.
    pretrain : float
        Passes of pre-training on L_u: walks that start at each node.
    steps, T1, T2, N1, N2, lambda_
        Of Algorithm 2; N2 counts walks.
    optimizer, learning_rate, weight_decay
        Of L_s.
    embedding_rate : float
        Learning rate of the layers from x to e in L_s. A small one keeps what the contexts taught; at 0, L_s leaves
        these layers alone.
    context_optimizer, context_rate
        Of L_u.
    evaluate_every, monitor, patience, threshold, load_best
        Of early stopping, which is on when ``fit`` gets ``validation``.
    checkpoint, checkpoint_every, callbacks, device, random_state, verbose
        As in :class:`PlanetoidT`.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, dimension)
        h^{l1}(x) of the fitted nodes.
    network_ : torch module
        Encoder and classifier.
    history_ : list of dict
        One record a piece of pre-training and one an evaluation.
    """

    needed_to_load = ("encoder",)
    decay_strength = 0.5

    def __init__(
        self,
        *,
        dimension: int = 128,
        layers_x: int = 0,
        layers_1: int = 1,
        layers_2: int = 0,
        hidden: int = 256,
        encoder: nn.Module | Callable[[int], nn.Module] | None = None,
        width: int | None = None,
        activation: str = "softmax",
        embedding_activation: str = "relu",
        auxiliary_losses: bool = False,
        dropout: float = 0.0,
        normalize_embedding: bool = True,
        row_normalize: str | None = "l2",
        r1: float = 1 / 2,
        r2: float | str = "auto",
        q: int = 10,
        d: int = 4,
        self_pairs: bool = True,
        pretrain: float = 5,
        steps: int = 200,
        T1: float = 1.0,
        T2: float = 0.5,
        N1: int = 200,
        N2: int = 50,
        lambda_: float | None = None,
        optimizer: str = "adam",
        learning_rate: float = 0.01,
        weight_decay: float | str = "auto",
        embedding_rate: float = 0.001,
        context_optimizer: str = "adam",
        context_rate: float = 0.01,
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
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.layers_x = layers_x
        self.layers_1 = layers_1
        self.layers_2 = layers_2
        self.hidden = hidden
        self.encoder = encoder
        self.width = width
        self.activation = activation
        self.embedding_activation = embedding_activation
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
        self.context_optimizer = context_optimizer
        self.context_rate = context_rate
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
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        self._check()
        if self.encoder is None and (not isinstance(self.layers_1, (int, np.integer)) or self.layers_1 < 1):
            raise ParameterError(f"layers_1={self.layers_1!r}; the embedding needs one layer at least")
        from planetoid.training import one_thread

        with one_thread():
            return self._learn(data)

    def _learn(self, data: Dataset) -> Probabilities:
        from planetoid.training import FeatureRows, StepRandom
        from planetoid.training.losses import LabelledNodes
        from planetoid.training.optimizers import Optimizers

        device = choose_device(self.device)
        rows = self._usable(data)
        features = FeatureRows(self._scaled(data.X), device)
        random = StepRandom(self.random_state, device)
        self.network_ = self._build(random, features.is_sparse)
        network = self.network_
        optimizers = Optimizers(
            self.optimizer,
            (network.encoder.parameters(), self.embedding_rate),
            (network.head.parameters(), self.learning_rate),
            weight_decay=self._decay(data),
        )
        supervised = LabelledNodes(
            data, features, network.head, network.embed_rows, optimizers, self.N1, random, network, rows
        )
        training = self._training(supervised, self._context(data, features, random), data)
        training.run()
        supervised.calibrate()
        self.history_ = training.history
        del training  # and with it the table of w, which may be larger than all that follows
        self.embedding_ = self._embed_new(data.X)
        probabilities = supervised.probabilities(data.n_nodes)
        probabilities[~data.has_features] = 0.0
        return probabilities

    def _usable(self, data: Dataset) -> npt.NDArray[np.int64]:
        """Return the labelled nodes that have features to learn from."""
        labelled = data.labelled
        usable = labelled[data.has_features[labelled]]
        if len(usable) == 0:
            raise DataError("PlanetoidI: none of the labelled nodes has features, so there is nothing to learn from")
        if len(usable) < len(labelled):
            warnings.warn(
                f"PlanetoidI: {len(labelled) - len(usable):,} of {len(labelled):,} labelled nodes have no features; "
                "their labels are not used",
                PlanetoidWarning,
                stacklevel=5,
            )
        return usable

    def _scaled(self, X: Features) -> Features:
        return X if self.encoder is not None else super()._scaled(X)

    def _tensors(self) -> Tensors:
        return module_tensors(self.network_)

    def _take_tensors(self, tensors: Tensors) -> None:
        from planetoid.training import StepRandom

        self.network_ = self._build(StepRandom(self.random_state, choose_device(self.device)))
        take_module_tensors(self.network_, tensors)

    def _build(self, random: Any, sparse_features: bool = False) -> Any:
        from planetoid.models.inductive_network import InductiveNetwork

        return InductiveNetwork(
            self.n_features_in_,
            len(self.classes_),
            encoder=self.encoder,
            dimension=self.dimension,
            hidden=self.hidden,
            layers_1=self.layers_1,
            embedding_activation=self.embedding_activation,
            head={
                "layers_x": self.layers_x,
                "layers_e": self.layers_2,
                "width": self.width,
                "activation": self.activation,
                "dropout": self.dropout,
                "auxiliary_losses": self.auxiliary_losses,
                "normalize_embedding": self.normalize_embedding,
            },
            random=random,
            sparse_features=sparse_features,
        )

    def _context(self, data: Dataset, features: Any, random: Any) -> Any:
        import torch
        from torch import nn

        from planetoid.training.losses import NetworkContext
        from planetoid.training.optimizers import Optimizers

        sampler = self._sampler(data)
        if sampler is None:
            return None
        w = nn.Parameter(torch.zeros(data.n_nodes, self.dimension, device=random.generator.device))
        if data.n_nodes >= SPARSE_TABLE_FROM:
            w.sparse_gradient = True  # type: ignore[attr-defined]
        of_network, of_contexts = (
            Optimizers(self.context_optimizer, (trained, self.context_rate))
            for trained in (self.network_.encoder.parameters(), [w])
        )
        steps = int(np.ceil(self.pretrain * data.n_nodes / self.N2))
        return NetworkContext(
            sampler,
            features,
            data.has_features,
            self.network_.embed_rows,
            w,
            of_network,
            of_contexts,
            steps,
            self.N2,
            random,
        )

    def _predict_rows(self, X: Features) -> Probabilities:
        return self._in_pieces(X, lambda network, batch: network.probabilities(batch))

    def _embed_new(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the embeddings h^{l1}(x) of rows, seen or not."""
        return self._in_pieces(self._check_new(X), lambda network, batch: network.encode(batch, None))

    def _in_pieces(self, X: Features, function: Callable[[Any, Any], Any]) -> npt.NDArray[np.float32]:
        import torch

        from planetoid.training import FeatureRows
        from planetoid.training.losses import PREDICT_ROWS

        device = next(self.network_.parameters()).device
        rows = FeatureRows(self._scaled(X), device)
        if len(rows) == 0:
            raise DataError("X has no rows")
        whole: npt.NDArray[np.float32] | None = None
        with torch.no_grad():
            for first in range(0, len(rows), PREDICT_ROWS):
                part = slice(first, min(len(rows), first + PREDICT_ROWS))
                piece = function(self.network_, rows.batch(part)).cpu().numpy()
                if whole is None:  # pieces that are put together at the end would need twice the room
                    whole = np.empty((len(rows), piece.shape[1]), dtype=piece.dtype)
                whole[part] = piece
        assert whole is not None
        return whole
