"""Torch modules of a model: the device that they are on, and their weights as arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from planetoid.errors import DataError, ParameterError
from planetoid.io.model_files import Tensors
from planetoid.parameters import Check

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = ["DEVICE", "choose_device", "load_module_tensors", "module_tensors"]


def _is_numbered(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"cuda:\d+", value) is not None


DEVICE = ("auto", "cpu", "cuda", Check("'cuda:<number>'", _is_numbered))  # constraint of the parameter ``device``


def choose_device(name: str) -> torch.device:
    """Return the torch device of that name; ``"auto"`` is a GPU where there is one."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name != "cpu" and not torch.cuda.is_available():
        raise ParameterError(
            f"device={name!r}, but torch finds no GPU", hint="use device='cpu' or 'auto'", parameter="device"
        )
    if name.startswith("cuda:") and int(name[5:]) >= torch.cuda.device_count():
        raise ParameterError(f"device={name!r}, but torch finds {torch.cuda.device_count()}", parameter="device")
    return torch.device(name)


def module_tensors(module: nn.Module) -> Tensors:
    """Return the parameters and buffers of a module as arrays."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def load_module_tensors(module: nn.Module, tensors: Tensors) -> None:
    """Load arrays of :func:`module_tensors` into a module of the same structure."""
    import torch

    try:
        module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in tensors.items()})
    except RuntimeError as error:
        raise DataError(f"its weights do not fit the network: {error}") from None
