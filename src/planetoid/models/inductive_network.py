"""The network of Planetoid-I: x to e, and both to the class."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from planetoid.errors import ParameterError
from planetoid.training import Branch, StepRandom
from planetoid.training.batches import Batch, SparseBatch
from planetoid.training.layers import ACTIVATIONS
from planetoid.training.network import Head

__all__ = ["InductiveNetwork"]


class LayersToEmbedding(nn.Module):
    """e = h^{l1}(x): layers on x, the last as wide as the embedding."""

    def __init__(
        self,
        n_features: int,
        dimension: int,
        hidden: int,
        n_layers: int,
        activation: str,
        dropout: float,
        random: StepRandom,
        sparse_features: bool,
    ) -> None:
        super().__init__()
        self.before = Branch(n_features, n_layers - 1, hidden, activation, dropout, random, sparse_features)
        thin = sparse_features and n_layers == 1
        self.last = Branch(self.before.n_outputs, 1, dimension, activation, 0.0, random, thin)

    def forward(self, x: Batch, random: StepRandom | None = None) -> torch.Tensor:
        x, _ = self.before(x, random)
        e, _ = self.last(x)
        return torch.as_tensor(e)


class InductiveNetwork(nn.Module):
    """An encoder (the l1 layers, or a module of the user's) and the classifier on top."""

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        encoder: Any,
        dimension: int,
        hidden: int,
        layers_1: int,
        embedding_activation: str,
        head: dict[str, Any],
        random: StepRandom,
        sparse_features: bool = False,
    ) -> None:
        super().__init__()
        if embedding_activation not in ACTIVATIONS or embedding_activation == "softmax":
            raise ParameterError(f"embedding_activation={embedding_activation!r}; it is 'tanh', 'relu' or 'linear'")
        self.own = encoder is None
        if encoder is None:
            self.encoder: nn.Module = LayersToEmbedding(
                n_features, dimension, hidden, layers_1, embedding_activation, head["dropout"], random, sparse_features
            )
        else:
            self.encoder = _users_encoder(encoder, n_features, random)
        self.dimension = dimension
        seen = n_features if self.own else 0
        self.head = Head(seen, dimension, n_classes, **head, random=random, sparse_features=sparse_features)

    def encode(self, x: Batch, random: StepRandom | None) -> torch.Tensor:
        """Return the embeddings of a batch; dropout where ``random`` is given."""
        if self.own:
            return torch.as_tensor(self.encoder(x, random))
        self.encoder.train(random is not None)
        with random.for_modules() if random is not None else nullcontext():
            e = self.encoder(x)
        n_rows = len(x.offsets if isinstance(x, SparseBatch) else x)
        if not torch.is_tensor(e) or e.shape != (n_rows, self.dimension):
            got = tuple(e.shape) if torch.is_tensor(e) else type(e).__name__
            raise ParameterError(
                f"encoder gave {got} for {n_rows} rows; it must give a tensor of shape {(n_rows, self.dimension)}, "
                f"for dimension={self.dimension}"
            )
        return e

    def embed_rows(self, rows: Any, x: Batch, random: StepRandom | None) -> torch.Tensor:
        """Return the embeddings of a batch that stands for certain rows."""
        return self.encode(x, random)

    def probabilities(self, x: Batch) -> torch.Tensor:
        """Return p(y | x)."""
        return self.head.log_probabilities(x, self.encode(x, None)).exp()


def _users_encoder(encoder: Any, n_features: int, random: StepRandom) -> nn.Module:
    """Return a copy of a user's module, or a new one from a factory, made with numbers of our own."""
    if isinstance(encoder, nn.Module):
        made: Any = deepcopy(encoder)
    else:
        with random.at(0).for_modules():
            made = encoder(n_features)
    if not isinstance(made, nn.Module):
        raise ParameterError(f"encoder gave a {type(made).__name__}; it must be a torch module")
    return made.to(random.generator.device)
