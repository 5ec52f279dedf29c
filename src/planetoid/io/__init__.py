"""Edges, features and labels from files: CSV, TSV, Parquet, gz and the formats of the field."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planetoid.io.edges import read_edges as read_edges
    from planetoid.io.feature_table import read_feature_blocks as read_feature_blocks
    from planetoid.io.features import FeatureTable as FeatureTable
    from planetoid.io.features import iter_features as iter_features
    from planetoid.io.features import read_features as read_features
    from planetoid.io.labels import read_labels as read_labels

_WHERE = {
    "FeatureTable": "planetoid.io.features",
    "iter_features": "planetoid.io.features",
    "read_edges": "planetoid.io.edges",
    "read_feature_blocks": "planetoid.io.feature_table",
    "read_features": "planetoid.io.features",
    "read_labels": "planetoid.io.labels",
}

__all__ = ["FeatureTable", "iter_features", "read_edges", "read_feature_blocks", "read_features", "read_labels"]


def __getattr__(name: str) -> Any:
    # Graph needs EdgeList from here, but not pyarrow: that waits until a file is read.
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'planetoid.io' has no attribute {name!r}")
