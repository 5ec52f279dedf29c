"""The network of Planetoid-I (Equation 5): x to e, and both to the class."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from planetoid.errors import ParameterError, PlanetoidError
from planetoid.training.batches import Batch, SparseBatch
from planetoid.training.layers import Branch
from planetoid.training.network import Head
from planetoid.training.randomness import StepRandom
from planetoid.training.settings import Encoder, Network

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["InductiveNetwork"]


class LayersToEmbedding(nn.Module):
    """e = h^{l1}(x): layers on x, the last as wide as the embedding."""

    def __init__(
        self, n_features: int, dimension: int, encoder: Encoder, dropout: float, random: StepRandom, sparse: bool
    ) -> None:
        super().__init__()
        width, activation = encoder.width, encoder.activation
        self.before = Branch(n_features, encoder.l1 - 1, width, activation, dropout, random, sparse)
        self.last = Branch(
            self.before.n_outputs, 1, dimension, activation, 0.0, random, sparse_input=sparse and encoder.l1 == 1
        )

    @property
    def only_layer(self) -> Branch | None:
        """The layer from x to e, if nothing happens before it."""
        return None if self.before.layers or self.before.dropout else self.last

    def forward(self, x: Batch, random: StepRandom | None = None) -> torch.Tensor:
        h, _ = self.before(x, random)
        e, _ = self.last(h)
        return torch.as_tensor(e)

    def write(self, operators: Operators, x: Value) -> Value:
        """Describe :meth:`forward` for an export."""
        return self.last.write(operators, self.before.write(operators, x))


class InductiveNetwork(nn.Module):
    """An encoder (the l1 layers, or a module of the user's) and the classifier on top.

    Parameters
    ----------
    n_features, dimension, n_classes : int
    encoder : Encoder, torch module or factory of one
    network : Network
    random : StepRandom
        Initial weights are drawn from it.
    sparse_features : bool
        Whether x comes as sparse batches in training.
    multi_label : bool
        Whether nodes may have several labels.
    """

    def __init__(
        self,
        n_features: int,
        dimension: int,
        n_classes: int,
        encoder: Encoder | nn.Module | Callable[[int], nn.Module],
        network: Network,
        random: StepRandom,
        sparse_features: bool = False,
        multi_label: bool = False,
    ) -> None:
        super().__init__()
        self.dimension = dimension
        self.built_in = isinstance(encoder, Encoder)
        if isinstance(encoder, Encoder):
            self.encoder: nn.Module = LayersToEmbedding(
                n_features, dimension, encoder, network.dropout, random, sparse_features
            )
        else:
            self.encoder = _users_encoder(encoder, n_features, random)
        n_seen = n_features if self.built_in else 0  # by the classifier, besides e
        self.head = Head(n_seen, dimension, n_classes, network, random, sparse_features, multi_label)

    def encode(self, x: Batch, random: StepRandom | None) -> torch.Tensor:
        """Return the embeddings of a batch; with dropout where ``random`` is given."""
        if self.built_in:
            return torch.as_tensor(self.encoder(x, random))
        self.encoder.train(random is not None)
        with random.for_modules() if random is not None else nullcontext():
            e: object = self.encoder(x)
        n_rows = len(x.offsets if isinstance(x, SparseBatch) else x)
        if not isinstance(e, torch.Tensor) or e.shape != (n_rows, self.dimension):
            got = f"shape {tuple(e.shape)}" if isinstance(e, torch.Tensor) else f"an object of type {type(e).__name__}"
            raise ParameterError(
                f"PlanetoidI: encoder must return a tensor of shape {(n_rows, self.dimension)} for {n_rows} rows and "
                f"dimension={self.dimension}, got {got}",
                parameter="encoder",
            )
        return e

    @property
    def only_layer(self) -> Branch | None:
        """The encoder, if it is one of our layers without dropout."""
        return self.encoder.only_layer if isinstance(self.encoder, LayersToEmbedding) else None

    def write_logits(self, operators: Operators, x: Value) -> Value:
        """Describe the logits for an export; a user's encoder is a program, and cannot be described."""
        if not isinstance(self.encoder, LayersToEmbedding):
            raise PlanetoidError(
                "PlanetoidI cannot be exported with an encoder of your own", hint="use layers: encoder=Encoder()"
            )
        return self.head.write_logits(operators, x, self.encoder.write(operators, x))

    def loss(self, rows: npt.NDArray[np.int64], x: Batch | None, y: torch.Tensor, random: StepRandom) -> torch.Tensor:
        """Return L_s of a batch."""
        assert x is not None
        return self.head.loss(x, self.encode(x, random), y, random)

    def log_probabilities(self, rows: npt.NDArray[np.int64], x: Batch | None) -> torch.Tensor:
        """Return log p(y | x)."""
        assert x is not None
        return self.head.log_probabilities(x, self.encode(x, None))

    def probabilities(self, x: Batch) -> torch.Tensor:
        """Return p(y | x)."""
        return self.head.log_probabilities(x, self.encode(x, None)).exp()


def _users_encoder(encoder: nn.Module | Callable[[int], nn.Module], n_features: int, random: StepRandom) -> nn.Module:
    """Return a copy of a user's module, or a new one from a factory, whose random numbers are ours."""
    if isinstance(encoder, nn.Module):
        module: object = deepcopy(encoder)
    else:
        with random.at(0).for_modules():
            module = encoder(n_features)
    if not isinstance(module, nn.Module):
        raise ParameterError(
            f"PlanetoidI: encoder must return a torch module, got an object of type {type(module).__name__}",
            parameter="encoder",
        )
    return module.to(random.device)
