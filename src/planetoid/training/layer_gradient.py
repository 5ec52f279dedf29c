"""The gradient of L_u through one layer on sparse rows, and its step of plain SGD, by compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from planetoid.engine.encoder_kernels import LINEAR, RELU, TANH, Numbering, add_to_rows, back_through_layer, encode_rows
from planetoid.engine.pair_kernels import add_transposed_product, loss_of_pairs
from planetoid.training.batches import SparseBatch
from planetoid.training.layers import ACTIVATIONS, Branch, InputLinear, SparseParameter

if TYPE_CHECKING:
    from planetoid.engine.arrays import Integers, Row, Table
    from planetoid.training.context_loss import PairBatch

__all__ = ["LayerGradient"]

CODES = {ACTIVATIONS["linear"]: LINEAR, ACTIVATIONS["relu"]: RELU, ACTIVATIONS["tanh"]: TANH}


class LayerGradient:
    """Computes the gradients of L_u for an encoder of one layer, on the CPU and in float32.

    Plain SGD is so simple that its step is taken at once, on the rows that occurred; gradients for other optimizers are
    set as autograd would set them.

    Parameters
    ----------
    layer : Branch
        Of one layer, without dropout.
    w : parameter of shape (n_nodes, dimension)
    sgd_rate : float or None
        The learning rate of plain SGD; None for other optimizers.
    """

    def __init__(self, layer: Branch, w: nn.Parameter, *, sgd_rate: float | None) -> None:
        (linear,) = layer.layers
        assert isinstance(linear, InputLinear)
        assert linear.bias is not None
        self.weight, self.bias, self.w, self.sgd_rate = linear.weight, linear.bias, w, sgd_rate
        self.activation = CODES[layer.activation]
        self._columns = Numbering(len(linear.weight))

    def use(self, batch: PairBatch) -> float:
        """Take the step of plain SGD, or set gradients that have been cleared; return the loss before."""
        assert isinstance(batch.x, SparseBatch)
        columns, starts, values = (part.numpy() for part in batch.x)
        weight, bias, w = (one.detach().numpy() for one in (self.weight, self.bias, self.w))
        e = np.empty((len(starts), weight.shape[1]), np.float32)
        encode_rows(columns, starts, values, weight, bias, self.activation, e)
        of_e, of_w = np.zeros_like(e), np.zeros((len(batch.contexts), w.shape[1]), np.float32)
        loss = loss_of_pairs(
            e, batch.centre, w, batch.pairs.c, batch.context, batch.pairs.gamma, batch.share, of_e, of_w
        )
        of_bias = np.zeros_like(bias)
        back_through_layer(e, self.activation, of_e, of_bias)
        if self.sgd_rate is not None:
            rate = np.float32(self.sgd_rate)
            bias -= rate * of_bias
            add_transposed_product(columns, starts, values, -rate * of_e, weight)
            add_to_rows(of_w, -rate, batch.contexts, w)
        else:
            self.bias.grad = torch.from_numpy(of_bias)
            self._set_gradient_of_weight(columns, starts, values, of_e)
            self._set_gradient_of_rows(self.w, batch.contexts, of_w)
        return float(loss)

    def _set_gradient_of_weight(self, columns: Integers, starts: Integers, values: Row, of_e: Table) -> None:
        if isinstance(self.weight, SparseParameter):
            distinct, columns = self._columns(columns)
            rows = np.zeros((len(distinct), of_e.shape[1]), np.float32)
            add_transposed_product(columns, starts, values, of_e, rows)
            self._set_gradient_of_rows(self.weight, distinct, rows)
        else:
            cleared = torch.zeros_like(self.weight) if self.weight.grad is None else self.weight.grad
            add_transposed_product(columns, starts, values, of_e, cleared.numpy())
            self.weight.grad = cleared

    def _set_gradient_of_rows(self, parameter: nn.Parameter, rows: Integers, gradient: Table) -> None:
        """Set the gradient of a parameter, of which only some rows are not zero."""
        indices, values = torch.from_numpy(rows), torch.from_numpy(gradient)
        if isinstance(parameter, SparseParameter):
            parameter.grad = torch.sparse_coo_tensor(
                indices[None], values, parameter.shape, is_coalesced=True, check_invariants=False
            )
        else:
            cleared = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = cleared.index_copy_(0, indices, values)
