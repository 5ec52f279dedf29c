"""A digest of a fit, by which a checkpoint knows the training that it belongs to."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection

import numpy as np
from sklearn.base import BaseEstimator

from planetoid.data.dataset import Dataset
from planetoid.engine.shards import current_exchange
from planetoid.utils.hashing import sha256_of_arrays

__all__ = ["fingerprint_of"]

NEVER_CHANGE_THE_RESULT = ("callbacks", "n_jobs", "random_state", "verbose")  # but for the seed, which is given


def fingerprint_of(method: BaseEstimator, seed: int, data: Dataset, ignored: Collection[str] = ()) -> str:
    """Return a digest of a method, the data, and every parameter that changes the result of the training.

    Callbacks speak for themselves; ``ignored`` are further parameters that make no difference to the training.

    Tables that are divided among processes are trained by other steps than those of one process alone, but by the same
    for any number of processes.
    """
    engine = "" if current_exchange() is None else " in columns"
    parameters = {
        name: stable_repr(value)
        for name, value in method.get_params(deep=False).items()
        if name not in NEVER_CHANGE_THE_RESULT and name not in ignored
    }
    prefix = f"{type(method).__name__} {seed} {json.dumps(parameters, sort_keys=True)}{engine}"
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
