"""The gradient of L_u through one layer on sparse rows, by compiled code in the place of autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from planetoid.engine.encoder_kernels import LINEAR, RELU, TANH, Numbering, back_through_layer, encode_rows
from planetoid.engine.pair_kernels import add_transposed_product, loss_of_pairs
from planetoid.training.batches import SparseBatch
from planetoid.training.layers import ACTIVATIONS, Branch, InputLinear, SparseParameter

if TYPE_CHECKING:
    from planetoid.engine.arrays import Integers, Table
    from planetoid.training.context_loss import PairBatch

__all__ = ["LayerGradient"]

CODES = {ACTIVATIONS["linear"]: LINEAR, ACTIVATIONS["relu"]: RELU, ACTIVATIONS["tanh"]: TANH}


class LayerGradient:
    """Sets the gradients of L_u for an encoder of one layer, on the CPU and in float32.

    Parameters
    ----------
    layer : Branch
        Of one layer, without dropout.
    w : parameter of shape (n_nodes, dimension)
    sparse : bool
        Whether all gradients hold only the rows that occurred, which plain SGD takes; otherwise those of a
        :class:`SparseParameter` do.
    """

    def __init__(self, layer: Branch, w: nn.Parameter, *, sparse: bool) -> None:
        (linear,) = layer.layers
        assert isinstance(linear, InputLinear)
        assert linear.bias is not None
        self.weight, self.bias, self.w, self.sparse = linear.weight, linear.bias, w, sparse
        self.activation = CODES[layer.activation]
        self._columns = Numbering(len(linear.weight))

    def set(self, batch: PairBatch) -> float:
        """Set the gradients of weight, bias and w, which have been cleared; return the loss."""
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
        distinct, slots = self._columns(columns)
        of_weight = np.zeros((len(distinct), weight.shape[1]), np.float32)
        add_transposed_product(slots, starts, values, of_e, of_weight)
        self.bias.grad = torch.from_numpy(of_bias)
        self._set_rows(self.weight, distinct, of_weight)
        self._set_rows(self.w, batch.contexts, of_w)
        return float(loss)

    def _set_rows(self, parameter: nn.Parameter, rows: Integers, gradient: Table) -> None:
        """Set the gradient of a parameter, of which only some rows are not zero."""
        indices, values = torch.from_numpy(rows), torch.from_numpy(gradient)
        if self.sparse or isinstance(parameter, SparseParameter):
            parameter.grad = torch.sparse_coo_tensor(
                indices[None], values, parameter.shape, is_coalesced=True, check_invariants=False
            )
        else:
            cleared = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = cleared.index_copy_(0, indices, values)
