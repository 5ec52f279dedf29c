"""Optimisers by name, and their state as tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from planetoid.errors import ParameterError
from planetoid.training.pair_loss import LazyAdam

__all__ = ["OPTIMIZERS", "Optimizers"]

OPTIMIZERS: dict[str, Any] = {
    "sgd": torch.optim.SGD,
    "momentum": lambda parameters, **options: torch.optim.SGD(parameters, momentum=0.9, **options),
    "adagrad": torch.optim.Adagrad,
    "rmsprop": torch.optim.RMSprop,
    # one pass over the memory of a table instead of ten
    "adam": lambda parameters, **options: torch.optim.Adam(parameters, fused=True, **options),
    "adamw": lambda parameters, **options: torch.optim.AdamW(parameters, fused=True, **options),
}


class Optimizers:
    """One optimiser for ordinary parameters and, where needed, one for those with sparse gradients.

    A parameter has a sparse gradient if it carries the attribute
    ``sparse_gradient``; SGD and Adagrad take them as they are, all others leave
    them to ``LazyAdam`` (``SparseAdam`` on a device). Weight decay does not reach them.

    Parameters
    ----------
    name : str
        One of ``OPTIMIZERS``.
    groups : pairs of parameters and a rate
        The learning rate of each group; at rate 0 a group stays as it is.
    weight_decay : float
    """

    def __init__(self, name: str, *groups: tuple[Iterable[nn.Parameter], float], weight_decay: float = 0.0) -> None:
        if name not in OPTIMIZERS:
            raise ParameterError(f"optimizer={name!r}; it is one of {', '.join(OPTIMIZERS)}")
        dense: list[dict[str, Any]] = []
        thin: list[dict[str, Any]] = []
        for parameters, rate in groups:
            moved = list(parameters) if rate > 0 else []
            for kind, is_thin in ((dense, False), (thin, True)):
                some = [p for p in moved if getattr(p, "sparse_gradient", False) == is_thin]
                if some:
                    kind.append({"params": some, "lr": rate})
        self.members: list[torch.optim.Optimizer] = []
        if dense:
            self.members.append(OPTIMIZERS[name](dense, weight_decay=weight_decay))
        if thin:
            on_cpu = all(p.device.type == "cpu" for group in thin for p in group["params"])
            adam = LazyAdam if on_cpu else torch.optim.SparseAdam
            self.members.append((OPTIMIZERS[name] if name in ("sgd", "adagrad") else adam)(thin))

    def zero_grad(self) -> None:
        for member in self.members:
            member.zero_grad()

    def step(self) -> None:
        for member in self.members:
            member.step()

    def state(self) -> dict[str, torch.Tensor]:
        """Return everything that an optimiser remembers."""
        return {
            f"{number}.{index}.{name}": value if torch.is_tensor(value) else torch.tensor(value)
            for number, member in enumerate(self.members)
            for index, kept in member.state_dict()["state"].items()
            for name, value in kept.items()
            if value is not None
        }

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Take a former :meth:`state` back."""
        for number, member in enumerate(self.members):
            kept: dict[int, dict[str, Any]] = {}
            for place, value in state.items():
                owner, index, name = place.split(".", 2)
                if int(owner) == number:
                    # LazyAdam and SparseAdam count their steps in an int; a tensor would give other bits.
                    counted = name == "step" and not value.is_floating_point()
                    kept.setdefault(int(index), {})[name] = int(value) if counted else value.clone()
            member.load_state_dict({"state": kept, "param_groups": member.state_dict()["param_groups"]})
