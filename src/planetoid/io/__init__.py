"""Edges, features and labels from files, and models and embeddings to files.

``edges``, ``features`` and ``labels`` read one kind of content each; ``edgelist`` and ``feature_table`` are what they
return. ``embeddings`` and ``model_files`` write.

``formats`` is the registry of file formats, with one module per format: ``text_table`` and ``parquet_table`` (both
are a ``table``), ``tokens`` and ``svmlight`` (both are ``sparse_text``), and ``matrices``. ``dialect`` and ``header``
detect how a text table is written; ``opening`` and ``lines`` read bytes and lines.

``column_roles`` and ``pandas_index`` decide which column is what; ``encode``, ``matching`` and ``node_order`` turn ids
into row numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.io.edges import read_edges as read_edges
    from planetoid.io.feature_table import FeatureTable as FeatureTable
    from planetoid.io.features import iter_features as iter_features
    from planetoid.io.features import read_feature_blocks as read_feature_blocks
    from planetoid.io.features import read_features as read_features
    from planetoid.io.label_sets import read_label_sets as read_label_sets
    from planetoid.io.labels import read_labels as read_labels

_MODULES = {
    "FeatureTable": "planetoid.io.feature_table",
    "iter_features": "planetoid.io.features",
    "read_edges": "planetoid.io.edges",
    "read_feature_blocks": "planetoid.io.features",
    "read_features": "planetoid.io.features",
    "read_label_sets": "planetoid.io.label_sets",
    "read_labels": "planetoid.io.labels",
}

__all__ = [
    "FeatureTable", "iter_features", "read_edges", "read_feature_blocks", "read_features", "read_label_sets",
    "read_labels",
]  # fmt: skip

# Graph needs EdgeList from here, but not pyarrow: that is imported when a file is read.
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
