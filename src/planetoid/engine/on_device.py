"""Equation 3 in torch, for tables and networks that live on a GPU: one loss, and skip-gram steps by its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planetoid.engine.arrays import Pairs
from planetoid.engine.skipgram import BaseSkipGram
from planetoid.engine.steps import MAX_SCORE_STEP
from planetoid.errors import ParameterError

if TYPE_CHECKING:
    import torch

__all__ = ["DeviceSkipGram", "context_loss_on_device", "gradient_step"]


def context_loss_on_device(
    e_rows: torch.Tensor, w_rows: torch.Tensor, gamma: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    """Return the sum of -weight log sigma(gamma w_c . e_i), Equation 3 for a list of pairs.

    Parameters
    ----------
    e_rows, w_rows : tensors of shape (n_pairs, dimension)
        e_i and w_c of each pair.
    gamma, weight : tensors of shape (n_pairs,)
        +1 or -1, and how much a pair counts.
    """
    from torch.nn.functional import logsigmoid

    scores = (e_rows * w_rows).sum(dim=1)
    return -(weight * logsigmoid(gamma * scores)).sum()


class DeviceSkipGram(BaseSkipGram["torch.Tensor"]):
    """:class:`planetoid.engine.SkipGram` with its tables as torch tensors on any device.

    Contexts are drawn on the CPU by the same kernels, so a batch has the same pairs; scores and updates run on the
    device.
    """

    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them."""
        losses = 0.0
        for number in range(first, last):
            rate = self.learning_rate + (self.final_rate - self.learning_rate) * number / total
            losses += gradient_step(self.e, self.w, self.pairs_of(number), rate, self.frozen)
        return losses / max(1, last - first)

    def _checked_table(self, table: torch.Tensor) -> torch.Tensor:
        if len(table) != self.sampler.graph.n_nodes:
            n_nodes = self.sampler.graph.n_nodes
            raise ParameterError(f"a table has {len(table):,} rows, but the graph has {n_nodes:,} nodes")
        return table


def gradient_step(e: torch.Tensor, w: torch.Tensor, pairs: Pairs, rate: float, frozen: int = 0) -> float:
    """Take a step along the gradient of one batch of pairs, in place; return the mean loss before it.

    Where the step of one pair would change its score by more than 1 through w, it is cut to that.
    """
    import torch

    i, c = torch.from_numpy(pairs.i).to(e.device), torch.from_numpy(pairs.c).to(e.device)
    gamma = torch.from_numpy(pairs.gamma.astype(np.float32)).to(e.device)
    weight = torch.from_numpy(pairs.weight).to(e.device)
    centres, contexts = e[i].requires_grad_(), w[c].requires_grad_()
    loss = context_loss_on_device(centres, contexts, gamma, weight)
    of_centres, of_contexts = torch.autograd.grad(loss, (centres, contexts))
    with torch.no_grad():
        change = rate * (of_contexts * centres).sum(dim=1, keepdim=True).abs()
        step = -rate / (change / float(MAX_SCORE_STEP)).clamp(min=1.0)
        e.index_add_(0, i, (step * of_centres).masked_fill_((i < frozen)[:, None], 0))
        w.index_add_(0, c, (step * of_contexts).masked_fill_((c < frozen)[:, None], 0))
    return float(loss.detach() / weight.sum())
