"""``Loss``: one term of an objective, as :mod:`planetoid.training.trainer` optimises it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING

from planetoid.training.callbacks import Record

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

__all__ = ["Loss", "Tensors", "copy_of", "with_prefix", "without_prefix"]

Tensors: TypeAlias = "dict[str, torch.Tensor]"  # or NumPy arrays, of losses that do not use torch


class Loss(ABC):
    """One term of the objective, with the optimizers of the parameters that it owns.

    The trainer alternates between the losses, each of which takes whole steps (:meth:`step`), or takes one step on
    their weighted sum: :meth:`zero_grad` of every loss, :meth:`add_gradient` of every loss, :meth:`apply` of every
    loss. A new loss is a subclass with these three methods, or :meth:`step` where it is never summed with another, and
    :meth:`state` and :meth:`restore`.

    Attributes
    ----------
    name : str
        Its key in ``history_``.
    n_pretrain : int
        Number of batches that :meth:`pretrain` takes before the joint training; 0 if there is no pre-training.
    pairs_per_batch, pairs_per_step : float
        Context pairs per pre-training batch and per step, for the progress bar.
    has_validation : bool
        Whether :meth:`evaluate` measures something on validation labels.
    """

    name: str = "loss"
    n_pretrain: int = 0
    pairs_per_batch: float = 0.0
    pairs_per_step: float = 0.0
    has_validation: bool = False

    def zero_grad(self) -> None:
        """Clear the gradients of the last step."""
        raise NotImplementedError

    def add_gradient(self, number: int, weight: float) -> float:
        """Add ``weight`` times the gradient of batch ``number`` to what is there; return the unweighted loss."""
        raise NotImplementedError

    def apply(self) -> None:
        """Take the gradient step of the parameters that this loss owns."""
        raise NotImplementedError

    def step(self, number: int) -> float:
        """Take one step on this loss alone, on batch ``number``; return the loss before it."""
        self.zero_grad()
        value = self.add_gradient(number, 1.0)
        self.apply()
        return value

    def pretrain(self, first: int, last: int) -> float:
        """Take the pre-training batches ``first`` to ``last - 1``; return the mean loss."""
        raise NotImplementedError

    def evaluate(self) -> Record:
        """Return metrics on the validation labels; empty without any."""
        return {}

    @abstractmethod
    def state(self) -> Tensors:
        """Return every tensor that training changes, without copying."""

    @abstractmethod
    def restore(self, state: Tensors) -> None:
        """Load tensors of :meth:`state`, in place."""


def copy_of(value: torch.Tensor) -> torch.Tensor:
    """Return a copy of a tensor or of a NumPy array."""
    return value.clone() if hasattr(value, "clone") else copy(value)


def with_prefix(prefix: str, state: Tensors) -> Tensors:
    """Return the state with a prefix before each name."""
    return {prefix + name: value for name, value in state.items()}


def without_prefix(prefix: str, state: Tensors) -> Tensors:
    """Return the part of the state whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
