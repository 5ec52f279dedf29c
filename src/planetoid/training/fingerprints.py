"""A digest of a fit, by which a checkpoint knows the training that it belongs to."""

from __future__ import annotations

import json
import sys

import numpy as np

from planetoid.data.dataset import Dataset
from planetoid.engine.shards import current_exchange
from planetoid.utils.hashing import sha256_of_arrays

__all__ = ["fingerprint_of", "stable_repr"]


def fingerprint_of(name: str, seed: int, parameters: dict[str, str], data: Dataset) -> str:
    """Return a digest of a method, its parameters and the data.

    Tables that are divided among processes are trained by other steps than those of one process alone, but by the same
    for any number of processes.
    """
    engine = "" if current_exchange() is None else " in columns"
    prefix = f"{name} {seed} {json.dumps(parameters, sort_keys=True)}{engine}"
    arrays = [data.y, data.validation, data.graph.indptr, data.graph.indices, data.graph.weights]
    if data.Y is not None:
        arrays += [data.Y.indptr, data.Y.indices]
    if data.X is not None:
        arrays += [data.X] if isinstance(data.X, np.ndarray) else [data.X.indptr, data.X.indices, data.X.data]
    return sha256_of_arrays(arrays, prefix.encode())


def stable_repr(value: object) -> str:
    """Return a text that is the same in another process: no address, but the weights of a module."""
    torch = sys.modules.get("torch")  # a value of torch has imported it
    if torch is not None and isinstance(value, torch.nn.Module):
        from planetoid.training.modules import module_tensors

        return f"{value!r} {sha256_of_arrays(module_tensors(value).values())}"
    if callable(value):  # a factory, which may be an object without a name
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__name__)}"
    return repr(value)
