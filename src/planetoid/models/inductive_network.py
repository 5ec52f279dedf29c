"""The network of Planetoid-I: x to e, and both to the class."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from planetoid.errors import ParameterError
from planetoid.models.network import Head
from planetoid.nn import Branch, StepRandom
from planetoid.nn.layers import ACTIVATIONS
from planetoid.nn.rows import Batch

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
    ) -> None:
        super().__init__()
        self.before = Branch(n_features, n_layers - 1, hidden, activation, dropout, random)
        self.last = Branch(self.before.n_outputs, 1, dimension, activation, 0.0, random)

    def forward(self, x: Batch, random: StepRandom | None = None) -> torch.Tensor:
        if not len(self.before.layers):
            x = self.before.dropped(x, random)
        else:
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
    ) -> None:
        super().__init__()
        if embedding_activation not in ACTIVATIONS or embedding_activation == "softmax":
            raise ParameterError(f"embedding_activation={embedding_activation!r}; it is 'tanh', 'relu' or 'linear'")
        self.own = encoder is None
        if encoder is None:
            self.encoder: nn.Module = LayersToEmbedding(
                n_features, dimension, hidden, layers_1, embedding_activation, head["dropout"], random
            )
        else:
            self.encoder = encoder if isinstance(encoder, nn.Module) else encoder(n_features)
            if not isinstance(self.encoder, nn.Module):
                raise ParameterError(f"encoder gave a {type(self.encoder).__name__}; it must be a torch module")
        self.head = Head(n_features, dimension, n_classes, **head, random=random)

    def encode(self, x: Batch, random: StepRandom | None) -> torch.Tensor:
        """Return the embeddings of a batch; dropout where ``random`` is given."""
        e = self.encoder(x, random) if self.own else self.encoder(x)
        return torch.as_tensor(e)

    def embed_rows(self, rows: Any, x: Batch, random: StepRandom | None) -> torch.Tensor:
        """Return the embeddings of a batch that stands for certain rows."""
        return self.encode(x, random)

    def probabilities(self, x: Batch) -> torch.Tensor:
        """Return p(y | x)."""
        logits, _ = self.head(x, self.encode(x, None))
        return torch.softmax(logits, dim=1)
