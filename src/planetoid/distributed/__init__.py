"""Several processes and machines: one training divided among them, and predictions on an existing cluster.

- :func:`join`: fit a model together with the other processes that torchrun has started
- :mod:`planetoid.distributed.launch`: the same on one machine, by ``planetoid fit --processes``

Importing this package loads neither torch nor dask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.distributed.group import join as join

_WHERE = {"join": "planetoid.distributed.group"}

__all__ = ["join"]
__getattr__, __dir__ = lazy_names(__name__, _WHERE)
