"""Optimizers of torch without its compiler and profiler.

Constructing or stepping a ``torch.optim`` optimizer imports ``torch._dynamo``, and with it sympy and some 400 modules,
only to tell the compiler to leave it alone. That takes longer than most fits, and nothing here is compiled. A step also
reports itself to the profiler, which takes longer than a small step.
"""

from __future__ import annotations

import inspect
from typing import TypeVar

import torch

__all__ = ["without_compiler"]

OptimizerClass = TypeVar("OptimizerClass", bound=type[torch.optim.Optimizer])


def without_compiler(cls: OptimizerClass) -> OptimizerClass:
    """Return a subclass whose methods are those of ``cls`` without the wrappers for compiler and profiler.

    >>> parameter = torch.nn.Parameter(torch.ones(2))
    >>> optimizer = without_compiler(torch.optim.SGD)([parameter], lr=0.5)
    >>> parameter.grad = torch.ones(2)
    >>> optimizer.step()
    >>> parameter.tolist()
    [0.5, 0.5]
    """
    names = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
    methods = {name: inspect.unwrap(getattr(cls, name)) for name in names}
    methods["step"] = step = torch.no_grad()(inspect.unwrap(cls.step))
    step.hooked = True  # torch wraps a step for the profiler unless it says that this was done
    return type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__} | methods)  # type: ignore[return-value]
