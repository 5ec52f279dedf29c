"""The same skip-gram steps in torch, for tables that live on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from planetoid.engine.sampler import ContextSampler, Pairs
from planetoid.engine.skipgram import SkipGram
from planetoid.engine.steps import MAX_SCORE_STEP

if TYPE_CHECKING:
    import torch

__all__ = ["DeviceSkipGram", "gradient_step"]


class DeviceSkipGram(SkipGram):
    """:class:`SkipGram` with its tables as torch tensors on any device.

    Contexts are drawn on the CPU by the same kernels, so a batch has the same
    pairs; scores and updates run on the device.
    """

    def __init__(self, sampler: ContextSampler, e: torch.Tensor, w: torch.Tensor, **options: Any) -> None:
        placeholder = np.zeros((sampler.graph.n_nodes, 1), np.float32)
        super().__init__(sampler, placeholder, placeholder, **options)
        self.e, self.w = e, w

    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them."""
        losses = 0.0
        for number in range(first, last):
            rate = self.learning_rate + (self.final_rate - self.learning_rate) * number / total
            losses += gradient_step(self.e, self.w, self.pairs_of(number), rate, self.frozen)
        return losses / max(1, last - first)


def gradient_step(e: torch.Tensor, w: torch.Tensor, pairs: Pairs, rate: float, frozen: int = 0) -> float:
    """Add the gradient of one batch of pairs to the tables in place; return the mean loss before it."""
    import torch

    with torch.no_grad():
        i, c = torch.from_numpy(pairs.i).to(e.device), torch.from_numpy(pairs.c).to(e.device)
        gamma = torch.from_numpy(pairs.gamma.astype(np.float32)).to(e.device)
        weight = torch.from_numpy(pairs.weight).to(e.device)
        centres, contexts = e[i], w[c]
        scores = (centres * contexts).sum(dim=1)
        loss = -(weight * torch.nn.functional.logsigmoid(gamma * scores)).sum() / weight.sum()
        step = rate * weight * torch.sigmoid(-gamma * scores)
        most = float(MAX_SCORE_STEP) / (centres.square().sum(dim=1) + 1e-12)
        factor = (gamma * torch.minimum(step, most)).unsqueeze(1)
        to_centres, to_contexts = factor * contexts, factor * centres
        if frozen:
            to_centres[i < frozen] = 0
            to_contexts[c < frozen] = 0
        e.index_add_(0, i, to_centres)
        w.index_add_(0, c, to_contexts)
    return float(loss)
