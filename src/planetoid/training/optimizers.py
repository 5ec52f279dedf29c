"""Optimizers by name, and their state as tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import nn

from planetoid.engine.pair_kernels import adam_on_rows
from planetoid.training.layers import SparseParameter
from planetoid.training.loss import Tensors
from planetoid.training.plain_optimizers import without_compiler

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["LazyAdam", "NamedOptimizer", "Optimizer"]


# Numbers from which a dense gradient keeps its memory: the system would clear and map new memory in every step, which
# takes longer than the step.
KEPT_FROM = 2**20

Group: TypeAlias = "dict[str, Any]"  # parameters and their learning rate, as torch takes them


class Optimizer(Protocol):
    """What a loss needs of the optimizer of some parameters."""

    def zero_grad(self) -> None: ...

    def step(self) -> None: ...

    def state(self) -> Tensors:
        """Return everything that the optimizer keeps between steps, without copying."""

    def restore(self, state: Tensors) -> None: ...


SGD = without_compiler(torch.optim.SGD)
Adagrad = without_compiler(torch.optim.Adagrad)
RMSprop = without_compiler(torch.optim.RMSprop)
Adam = without_compiler(torch.optim.Adam)
AdamW = without_compiler(torch.optim.AdamW)
SparseAdam = without_compiler(torch.optim.SparseAdam)


def _momentum(groups: list[Group], weight_decay: float = 0.0) -> torch.optim.Optimizer:
    return SGD(groups, momentum=0.9, weight_decay=weight_decay)


def _adam(groups: list[Group], weight_decay: float = 0.0) -> torch.optim.Optimizer:
    return Adam(groups, fused=True, weight_decay=weight_decay)  # one pass over memory instead of ten


def _adamw(groups: list[Group], weight_decay: float = 0.0) -> torch.optim.Optimizer:
    return AdamW(groups, fused=True, weight_decay=weight_decay)


FACTORIES: dict[str, Callable[..., torch.optim.Optimizer]] = {  # named in settings.OPTIMIZERS
    "sgd": SGD,
    "momentum": _momentum,
    "adagrad": Adagrad,
    "rmsprop": RMSprop,
    "adam": _adam,
    "adamw": _adamw,
}


class NamedOptimizer:
    """One torch optimizer for ordinary parameters and, where needed, one for those with sparse gradients.

    SGD and Adagrad take the sparse gradient of a :class:`SparseParameter` as it is; all others leave such parameters
    to :class:`LazyAdam` (``SparseAdam`` on a device). Weight decay does not apply to them.

    Parameters
    ----------
    name : str
        One of ``settings.OPTIMIZERS``.
    groups : pairs of parameters and a learning rate
        At a learning rate of 0 a group stays as it is.
    weight_decay : float
    """

    def __init__(self, name: str, *groups: tuple[Iterable[nn.Parameter], float], weight_decay: float = 0.0) -> None:
        dense: list[Group] = []
        sparse: list[Group] = []
        for parameters, learning_rate in groups:
            moved = list(parameters) if learning_rate > 0 else []
            for kind, is_sparse in ((dense, False), (sparse, True)):
                some = [parameter for parameter in moved if isinstance(parameter, SparseParameter) == is_sparse]
                if some:
                    kind.append({"params": some, "lr": learning_rate})
        self.members: list[torch.optim.Optimizer] = []
        if dense:
            self.members.append(FACTORIES[name](dense, weight_decay=weight_decay))
        if sparse:
            on_cpu = all(parameter.device.type == "cpu" for group in sparse for parameter in group["params"])
            lazy = LazyAdam if on_cpu else SparseAdam
            self.members.append((FACTORIES[name] if name in ("sgd", "adagrad") else lazy)(sparse))

    def zero_grad(self) -> None:
        for member in self.members:
            for group in member.param_groups:
                for parameter in group["params"]:
                    _clear(parameter)

    def step(self) -> None:
        for member in self.members:
            member.step()

    def state(self) -> Tensors:
        """Return everything that the optimizers keep between steps."""
        return {
            f"{number}.{index}.{name}": value if torch.is_tensor(value) else torch.tensor(value)
            for number, member in enumerate(self.members)
            for index, entries in member.state_dict()["state"].items()
            for name, value in entries.items()
            if value is not None
        }

    def restore(self, state: Tensors) -> None:
        """Load a former :meth:`state`."""
        for number, member in enumerate(self.members):
            entries: dict[int, dict[str, torch.Tensor | int]] = {}
            for key, value in state.items():
                owner, index, name = key.split(".", 2)
                if int(owner) == number:
                    # LazyAdam and SparseAdam count their steps in an int; a tensor would give other bits.
                    counted = name == "step" and not value.is_floating_point()
                    entries.setdefault(int(index), {})[name] = int(value) if counted else value.clone()
            member.load_state_dict({"state": entries, "param_groups": member.state_dict()["param_groups"]})


def _clear(parameter: nn.Parameter) -> None:
    """Clear the gradient of a parameter."""
    gradient = parameter.grad
    if gradient is not None and not gradient.is_sparse and gradient.numel() >= KEPT_FROM:
        gradient.zero_()
    else:
        parameter.grad = None


def _coalesced(gradient: torch.Tensor) -> torch.Tensor:
    """Return a gradient with each row once; one whose rows increase is so already, though autograd forgets it."""
    rows = gradient._indices()[0]
    return gradient if bool((rows[1:] > rows[:-1]).all()) else gradient.coalesce()


@without_compiler
class LazyAdam(torch.optim.Optimizer):
    """Adam that moves only the rows that a sparse gradient has, like ``SparseAdam``, in one compiled pass."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter] | list[Group],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is None:
                    continue
                gradient, state = _coalesced(table.grad), self.state[table]
                if not state:
                    state.update(step=0, exp_avg=torch.zeros_like(table), exp_avg_sq=torch.zeros_like(table))
                state["step"] += 1
                adam_on_rows(
                    table.detach().numpy(), state["exp_avg"].numpy(), state["exp_avg_sq"].numpy(),
                    gradient._indices()[0].numpy(), gradient._values().numpy(),
                    float(group["lr"]), group["betas"][0], group["betas"][1], group["eps"], state["step"],
                )  # fmt: skip
