"""Several processes and machines: one training divided among them, and predictions on an existing cluster.

- :func:`join`: fit a model together with the other processes that torchrun has started
- :mod:`planetoid.distributed.launch`: the same on one machine, by ``planetoid fit --processes``
- :func:`store_graph`, :func:`open_graph`: a graph in files that all processes map into memory
- :func:`predict`, :func:`write_predictions`: label the rows of a Dask data frame
- :mod:`planetoid.distributed.spark`: label the rows of a Spark data frame

Importing this package loads neither torch nor dask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.distributed.group import join as join
    from planetoid.distributed.predicting import predict as predict
    from planetoid.distributed.predicting import write_predictions as write_predictions
    from planetoid.distributed.stored_graph import open_graph as open_graph
    from planetoid.distributed.stored_graph import store_graph as store_graph

_WHERE = {
    "join": "planetoid.distributed.group",
    "open_graph": "planetoid.distributed.stored_graph",
    "predict": "planetoid.distributed.predicting",
    "store_graph": "planetoid.distributed.stored_graph",
    "write_predictions": "planetoid.distributed.predicting",
}

__all__ = ["join", "open_graph", "predict", "store_graph", "write_predictions"]
__getattr__, __dir__ = lazy_names(__name__, _WHERE)
