"""L_u of a batch of pairs as one node of torch's graph, and Adam for a table of which a batch touches few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from planetoid.engine.pair_kernels import adam_on_rows, loss_of_pairs

__all__ = ["LazyAdam", "pair_loss"]


class _PairLoss(torch.autograd.Function):
    """Loss and gradients in one compiled pass over the pairs; on the CPU."""

    @staticmethod
    def forward(ctx: Any, e: Any, w: Any, place: Any, c: Any, gamma: Any, share: Any, sparse: bool) -> torch.Tensor:
        rows, slot = np.unique(c, return_inverse=True)
        gradient_e = torch.zeros_like(e)
        gradient_w = torch.zeros(len(rows), w.shape[1], dtype=w.dtype)
        loss = loss_of_pairs(
            e.detach().numpy(), place, w.detach().numpy(), c, slot, gamma, share, gradient_e.numpy(), gradient_w.numpy()
        )
        ctx.save_for_backward(gradient_e, gradient_w, torch.from_numpy(rows))
        ctx.shape, ctx.sparse = w.shape, sparse
        return torch.tensor(loss, dtype=e.dtype)

    @staticmethod
    def backward(ctx: Any, factor: torch.Tensor) -> Any:
        gradient_e, gradient_w, rows = ctx.saved_tensors
        of_w = torch.sparse_coo_tensor(
            rows[None], gradient_w * factor, ctx.shape, is_coalesced=True, check_invariants=False
        )
        return gradient_e * factor, of_w if ctx.sparse else of_w.to_dense(), None, None, None, None, None


def pair_loss(
    e: torch.Tensor, w: torch.Tensor, place: Any, c: Any, gamma: Any, share: Any, *, sparse: bool
) -> torch.Tensor:
    """Return the sum of -share log sigma(gamma w_c . e_place); the gradient of w is sparse if asked for."""
    loss: torch.Tensor = _PairLoss.apply(e.contiguous(), w, place, c, gamma, share, sparse)  # type: ignore[no-untyped-call]
    return loss


class LazyAdam(torch.optim.Optimizer):
    """Adam that moves only the rows that a sparse gradient has, like ``SparseAdam``, in one compiled pass."""

    def __init__(
        self, parameters: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is None:
                    continue
                gradient, state = table.grad.coalesce(), self.state[table]
                if not state:
                    state.update(step=0, exp_avg=torch.zeros_like(table), exp_avg_sq=torch.zeros_like(table))
                state["step"] += 1
                adam_on_rows(
                    table.detach().numpy(), state["exp_avg"].numpy(), state["exp_avg_sq"].numpy(),
                    gradient.indices()[0].numpy(), gradient.values().numpy(),
                    group["lr"], group["betas"][0], group["betas"][1], group["eps"], state["step"],
                )  # fmt: skip
