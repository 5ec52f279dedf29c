"""p(y | x, e): layers on the features, layers on the embedding, and a softmax over both (Equations 4 and 5)."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, cast

import torch
from torch import nn
from torch.nn import functional

from planetoid.training.batches import Batch
from planetoid.training.layers import Branch, InputLinear
from planetoid.training.randomness import StepRandom
from planetoid.training.settings import Network

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Head"]

MIN_LENGTH = 0.01  # an embedding shorter than this, as of a node without context, is not scaled to length 1


class Head(nn.Module):
    """The classifier of Equation 4 and, with e = h^{l1}(x), of Equation 5.

    ``[h^k(x), h^l(e)]`` are concatenated and fed to a softmax; the weights of the concatenation are kept as two
    matrices, so that sparse x may come in without a layer (k = 0).

    Parameters
    ----------
    n_features, dimension : int
        Width of x and of e; 0 leaves that side out.
    n_classes : int
    network : Network
    random : StepRandom
        Initial weights are drawn from it.
    sparse_features : bool
        Whether x comes as sparse batches in training.
    multi_label : bool
        Whether nodes may have several labels: each class then has a sigmoid of its own in the place of the softmax, y
        is a matrix of 0 and 1, and softmax layers as wide as the classes are left out.
    """

    def __init__(
        self,
        n_features: int,
        dimension: int,
        n_classes: int,
        network: Network,
        random: StepRandom,
        sparse_features: bool = False,
        multi_label: bool = False,
    ) -> None:
        super().__init__()
        self.multi_label = multi_label
        width = n_classes if network.width is None else network.width
        self.normalize_embedding = network.normalize_embedding
        self.branches = nn.ModuleDict()
        self.outputs = nn.ModuleDict()
        self.auxiliary = nn.ModuleDict()
        # A softmax layer as wide as the classes is a prediction already; any other layer gets one on top. It predicts
        # one class, so that it is left out where nodes may have several.
        self.layers_predict = network.activation == "softmax" and width == n_classes
        left_out = multi_label and self.layers_predict
        for name, size, given in (("x", n_features, network.k), ("e", dimension, network.l)):
            if size == 0:
                continue
            layers = 0 if left_out else given
            sparse = name == "x" and sparse_features
            branch = Branch(size, layers, width, network.activation, network.dropout, random, sparse)
            self.branches[name] = branch
            bias = name == "x" or n_features == 0  # one bias is enough for the softmax
            self.outputs[name] = InputLinear(branch.n_outputs, n_classes, random, bias, sparse and layers == 0)
            if network.auxiliary_losses and layers:
                self.auxiliary[name] = nn.ModuleList(
                    nn.Identity() if self.layers_predict else InputLinear(width, n_classes, random)
                    for _ in range(layers)
                )

    def forward(
        self, x: Batch | None, e: torch.Tensor | None, random: StepRandom | None = None
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return the logits, and the log-probabilities (the logits, for several labels) of auxiliary predictions."""
        if e is not None and self.normalize_embedding:
            e = functional.normalize(e, dim=1, eps=MIN_LENGTH)
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
                    if self.multi_label:
                        extra.append(head(h))
                        continue
                    extra.append(torch.log(h + 1e-12) if self.layers_predict else torch.log_softmax(head(h), dim=1))
        assert logits is not None
        return logits, extra

    def write_logits(self, operators: Operators, x: Value, e: Value) -> Value:
        """Describe the logits of :meth:`forward` for an export."""
        if self.normalize_embedding:
            e = operators.unit_length(e, MIN_LENGTH)
        parts = []
        for name, value in (("x", x), ("e", e)):
            if name in self.branches:
                last = cast("Branch", self.branches[name]).write(operators, value)
                parts.append(cast("InputLinear", self.outputs[name]).write(operators, last))
        return reduce(operators.sum, parts)

    def log_probabilities(self, x: Batch | None, e: torch.Tensor | None) -> torch.Tensor:
        """Return log p(y | x, e)."""
        logits = self(x, e)[0]
        return functional.logsigmoid(logits) if self.multi_label else torch.log_softmax(logits, dim=1)

    def loss(self, x: Batch | None, e: torch.Tensor | None, y: torch.Tensor, random: StepRandom | None) -> torch.Tensor:
        """Return L_s, the mean negative log-likelihood, plus the auxiliary ones."""
        logits, extra = self(x, e, random)
        if self.multi_label:
            return torch.stack([_independent_loss(one, y) for one in (logits, *extra)]).sum()
        total = functional.cross_entropy(logits, y)
        for log_probabilities in extra:
            total = total + functional.nll_loss(log_probabilities, y)
        return total


def _independent_loss(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the mean over nodes of the negative log-likelihood of all classes, each of which a node has or not."""
    return functional.binary_cross_entropy_with_logits(logits, y, reduction="sum") / len(y)
