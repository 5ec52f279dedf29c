"""Layers on features and embeddings: h^k = activation(W^k h^{k-1} + b^k)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import torch
from torch import nn
from torch.nn import functional

from planetoid.engine.pair_kernels import add_transposed_product
from planetoid.training.batches import Batch, SparseBatch
from planetoid.training.randomness import StepRandom
from planetoid.utils.memory import BYTES_PER_WEIGHT, require_memory

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

    class _Context(torch.autograd.function.FunctionCtx):
        rows: SparseBatch
        weight: torch.Tensor


__all__ = ["ACTIVATIONS", "Branch", "InputLinear", "SparseParameter"]

# From this number of inputs a dense gradient of the first layer would cost more than the step itself.
SPARSE_GRADIENT_FROM = 50_000


def softmax(h: torch.Tensor) -> torch.Tensor:
    """Softmax over the units of a layer."""
    return torch.softmax(h, dim=1)


def linear(h: torch.Tensor) -> torch.Tensor:
    """No activation."""
    return h


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {  # named in settings.ACTIVATIONS
    "relu": torch.relu,
    "tanh": torch.tanh,
    "softmax": softmax,
    "linear": linear,
}


class SparseParameter(nn.Parameter):
    """A parameter whose gradient holds only the rows that a batch touched."""


def _product(rows: SparseBatch, weight: torch.Tensor, *, sparse: bool = False) -> torch.Tensor:
    return functional.embedding_bag(
        rows.columns, weight, rows.offsets, mode="sum", per_sample_weights=rows.values, sparse=sparse
    )


class _SparseProduct(torch.autograd.Function):
    """A sparse batch times a parameter: ``embedding_bag``, whose own gradient takes five times as long.

    The gradient is added to that of the parameter at once: autograd would want a table that is zero but for a few rows
    for each product, and would add up such tables.
    """

    @staticmethod
    def forward(ctx: _Context, weight: torch.Tensor, rows: SparseBatch) -> torch.Tensor:
        ctx.rows, ctx.weight = rows, weight
        return _product(rows, weight)

    @staticmethod
    def backward(ctx: _Context, *gradients: torch.Tensor) -> tuple[None, None]:
        (gradient,), weight = gradients, ctx.weight
        if weight.grad is None:
            weight.grad = torch.zeros_like(weight)
        elif weight.grad.is_sparse:  # of a step by other code
            weight.grad = weight.grad.to_dense()
        add_transposed_product(
            *(part.numpy() for part in (ctx.rows.columns, ctx.rows.offsets, ctx.rows.values)),
            gradient.contiguous().numpy(), weight.grad.numpy(),
        )  # fmt: skip
        return None, None


class InputLinear(nn.Module):
    """A linear layer that takes dense rows or a :class:`SparseBatch`.

    With ``sparse_input`` it is trained on sparse batches alone; then, if it has many inputs, the gradient of its
    weights holds only the rows of columns that occurred.
    """

    def __init__(
        self, n_inputs: int, n_outputs: int, random: StepRandom, bias: bool = True, sparse_input: bool = False
    ) -> None:
        super().__init__()
        require_memory(BYTES_PER_WEIGHT * n_inputs * n_outputs)
        bound = (6.0 / (n_inputs + n_outputs)) ** 0.5
        weight = torch.rand(n_inputs, n_outputs, generator=random.generator, device=random.device)
        self.sparse_gradient = sparse_input and n_inputs >= SPARSE_GRADIENT_FROM
        kind = SparseParameter if self.sparse_gradient else nn.Parameter
        self.weight = kind(weight.mul_(2 * bound).sub_(bound))
        self.bias = nn.Parameter(torch.zeros(n_outputs, device=weight.device)) if bias else None

    def forward(self, rows: Batch) -> torch.Tensor:
        if not isinstance(rows, SparseBatch):
            out = rows @ self.weight
        elif self.sparse_gradient or rows.values.device.type != "cpu" or self.weight.dtype != torch.float32:
            out = _product(rows, self.weight, sparse=self.sparse_gradient)
        else:
            out = _SparseProduct.apply(self.weight, rows)  # type: ignore[no-untyped-call]
        return out if self.bias is None else out + self.bias

    def write(self, operators: Operators, rows: Value) -> Value:
        """Describe :meth:`forward` for an export."""
        weight, bias = (None if one is None else one.detach().cpu().numpy() for one in (self.weight, self.bias))
        assert weight is not None
        return operators.linear(rows, weight, bias)


class Branch(nn.Module):
    """Several layers in a row; with ``n_layers=0`` the input itself."""

    def __init__(
        self,
        n_inputs: int,
        n_layers: int,
        width: int,
        activation: str,
        dropout: float,
        random: StepRandom,
        sparse_input: bool = False,
    ) -> None:
        super().__init__()
        sizes = [n_inputs] + [width] * n_layers
        self.layers = nn.ModuleList(
            InputLinear(size, following, random, sparse_input=sparse_input and number == 0)
            for number, (size, following) in enumerate(pairwise(sizes))
        )
        self.activation, self.dropout, self.n_outputs = ACTIVATIONS[activation], dropout, sizes[-1]

    def forward(self, rows: Batch, random: StepRandom | None = None) -> tuple[Batch, list[torch.Tensor]]:
        """Return the last layer's output and all hidden ones; with dropout where ``random`` is given."""
        hidden: list[torch.Tensor] = []
        rows = self.drop(rows, random)
        for layer in self.layers:
            h = self.activation(layer(rows))
            hidden.append(h)
            rows = self.drop(h, random)
        return rows, hidden

    def write(self, operators: Operators, rows: Value) -> Value:
        """Describe the last layer's output for an export."""
        (activation,) = (name for name, function in ACTIVATIONS.items() if function is self.activation)
        for layer in self.layers:
            rows = operators.activation(cast("InputLinear", layer).write(operators, rows), activation)
        return rows

    def drop(self, rows: Batch, random: StepRandom | None) -> Batch:
        """Apply dropout; to the stored entries only of a sparse batch."""
        if random is None or self.dropout == 0:
            return rows
        if isinstance(rows, SparseBatch):
            return rows._replace(values=rows.values * random.keep_mask(rows.values.shape, self.dropout))
        return rows * random.keep_mask(rows.shape, self.dropout)
