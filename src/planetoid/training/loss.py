"""``Loss``: one term of an objective, as :mod:`planetoid.training.trainer` optimises it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from planetoid.training.callbacks import Record

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

    from planetoid.training.optimizers import Optimizer

__all__ = ["Loss", "NetworkLoss", "Stateful", "Tensors", "copy_of", "with_prefix", "without_prefix"]

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


class Stateful(Protocol):
    """A torch module, or anything else that gives its tensors as one does."""

    def state_dict(self) -> Tensors: ...

    def load_state_dict(self, state_dict: Tensors) -> object: ...


NetworkT = TypeVar("NetworkT", bound=Stateful)


class NetworkLoss(Loss, Generic[NetworkT]):
    """Base of losses that own a network, by all of whose optimizers a step is taken.

    Parameters
    ----------
    network : torch module
    optimizers : list of Optimizer
        Of all parameters that the loss changes.
    """

    def __init__(self, network: NetworkT, optimizers: Sequence[Optimizer]) -> None:
        self.network, self.optimizers = network, list(optimizers)

    def zero_grad(self) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def apply(self) -> None:
        for optimizer in self.optimizers:
            optimizer.step()

    def state(self) -> Tensors:
        state = with_prefix("modules.", self.network.state_dict())
        for number, optimizer in enumerate(self.optimizers):
            state |= with_prefix(f"optimizer{number}.", optimizer.state())
        return state

    def restore(self, state: Tensors) -> None:
        self.network.load_state_dict(without_prefix("modules.", state))
        for number, optimizer in enumerate(self.optimizers):
            optimizer.restore(without_prefix(f"optimizer{number}.", state))


def copy_of(value: torch.Tensor) -> torch.Tensor:
    """Return a copy of a tensor or of a NumPy array."""
    return value.clone() if hasattr(value, "clone") else copy(value)


def with_prefix(prefix: str, state: Tensors) -> Tensors:
    """Return the state with a prefix before each name."""
    return {prefix + name: value for name, value in state.items()}


def without_prefix(prefix: str, state: Tensors) -> Tensors:
    """Return the part of the state whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
