"""p(y | x, e): layers on the features, layers on the embedding, and a softmax over both."""

from __future__ import annotations

from typing import cast

import torch
from torch import nn
from torch.nn import functional

from planetoid.training import Branch, InputLinear, StepRandom
from planetoid.training.batches import Batch

__all__ = ["Head"]

LEAST_LENGTH = 0.01  # of an embedding that is scaled to 1; below, as for a node without context, it stays small


class Head(nn.Module):
    """The supervised network of Equations 5 and 6.

    ``[h^k(x), h^l(e)]`` are concatenated and fed to a softmax; the weights of
    the concatenation are kept as two matrices, so that sparse x may come in
    without a layer (k = 0).

    Parameters
    ----------
    n_features, dimension : int
        Width of x and of e; 0 leaves that side out.
    sparse_features : bool
        Whether x comes as sparse batches in training.
    """

    def __init__(
        self,
        n_features: int,
        dimension: int,
        n_classes: int,
        *,
        layers_x: int,
        layers_e: int,
        width: int | None,
        activation: str,
        dropout: float,
        auxiliary_losses: bool,
        normalize_embedding: bool,
        random: StepRandom,
        sparse_features: bool = False,
    ) -> None:
        super().__init__()
        hidden = n_classes if width is None else width
        self.normalize_embedding = normalize_embedding
        self.branches = nn.ModuleDict()
        self.outputs = nn.ModuleDict()
        self.auxiliary = nn.ModuleDict()
        for name, size, layers in (("x", n_features, layers_x), ("e", dimension, layers_e)):
            if size == 0:
                continue
            thin = name == "x" and sparse_features
            branch = Branch(size, layers, hidden, activation, dropout, random, thin)
            self.branches[name] = branch
            # One bias is enough for the softmax.
            bias = name == "x" or n_features == 0
            self.outputs[name] = InputLinear(branch.n_outputs, n_classes, random, bias, thin and layers == 0)
            if auxiliary_losses and layers:
                # A softmax as wide as the classes is a prediction already; any other layer gets one on top.
                direct = activation == "softmax" and hidden == n_classes
                self.auxiliary[name] = nn.ModuleList(
                    nn.Identity() if direct else InputLinear(hidden, n_classes, random) for _ in range(layers)
                )
        self.direct = activation == "softmax" and hidden == n_classes
        self.temperature: torch.Tensor
        self.register_buffer("temperature", torch.ones(()))  # of the softmax in predictions; see calibration

    def forward(
        self, x: Batch | None, e: torch.Tensor | None, random: StepRandom | None = None
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return the logits, and the log-probabilities of the auxiliary predictions."""
        if e is not None and self.normalize_embedding:
            e = functional.normalize(e, dim=1, eps=LEAST_LENGTH)
        logits: torch.Tensor | None = None
        extra: list[torch.Tensor] = []
        for name, rows in (("x", x), ("e", e)):
            if name not in self.branches or rows is None:
                continue
            last, hidden = self.branches[name](rows, random)
            part = self.outputs[name](last)
            logits = part if logits is None else logits + part
            if name in self.auxiliary:
                heads = cast("nn.ModuleList", self.auxiliary[name])
                for head, h in zip(heads, hidden, strict=True):
                    extra.append(torch.log(h + 1e-12) if self.direct else torch.log_softmax(head(h), dim=1))
        assert logits is not None
        return logits, extra

    def log_probabilities(self, x: Batch | None, e: torch.Tensor | None) -> torch.Tensor:
        """Return log p(y | x, e), as it is told to users: softened or sharpened by the temperature."""
        return torch.log_softmax(self(x, e)[0] / self.temperature, dim=1)

    def loss(self, x: Batch | None, e: torch.Tensor | None, y: torch.Tensor, random: StepRandom | None) -> torch.Tensor:
        """Return L_s, the mean negative log-likelihood, plus the auxiliary ones."""
        logits, extra = self(x, e, random)
        total = functional.cross_entropy(logits, y)
        for log_probabilities in extra:
            total = total + functional.nll_loss(log_probabilities, y)
        return total
