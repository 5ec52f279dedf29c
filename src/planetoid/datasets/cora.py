"""The bundled Cora: in the wheel, no download."""

from __future__ import annotations

from importlib.resources import files as resource_files

import numpy as np
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes

__all__ = ["read_bundled_cora"]


def read_bundled_cora(name: str, description: str, origin: str) -> Dataset:
    """Read ``bundled/cora.npz``; node ids are the LINQS paper ids."""
    path = resource_files("planetoid.datasets").joinpath("bundled/cora.npz")
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        ids = NodeIds(arrays["node_ids"])
        edges = EdgeList(ids.known_rows(arrays["source"]), ids.known_rows(arrays["target"]))
        words = arrays["indices"].astype(np.int32)
        shape = (len(ids), int(arrays["n_features"]))
        ones = np.ones(len(words), dtype=np.float32)
        return Dataset(
            name=name,
            graph=Graph.from_rows(edges, ids),
            X=sparse.csr_array((ones, words, arrays["indptr"].astype(np.int32)), shape=shape),
            y=arrays["y"].astype(np.int32),
            classes=as_classes(tuple(arrays["class_names"].tolist())),
            description=description,
            origin=origin,
        )
