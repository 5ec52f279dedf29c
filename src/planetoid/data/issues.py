"""What may make results worse than they could be, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.data.summary import DatasetCounts
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from scipy import sparse

    from planetoid.data.dataset import Dataset

__all__ = ["find_issues"]

FEW_LABELS = 5  # per class
MAX_CLASSES_SHOWN = 5
WIDE = 1000.0  # ratio of a column's spread to the median at which it dominates all others
NO_GRAPH = "methods that do not use features predict the class prior there"


def find_issues(data: Dataset, counts: DatasetCounts) -> list[str]:
    """Return sentences about the graph, the labels and the feature columns."""
    return [*_of_graph(data, counts), *_of_features(data, counts), *_of_labels(counts), *_of_columns(data)]


def _of_graph(data: Dataset, counts: DatasetCounts) -> list[str]:
    sentences = []
    features = data.source("features") or data.source("nodes")
    isolated = counts.isolated - (features.n_without_edge if features else 0)  # reading them gave a warning
    if data.source("edges") is not None and isolated > 0:
        sentences.append(f"{_have(isolated)} no edge to another node: {NO_GRAPH}.")
    if counts.unreachable:
        sentences.append(
            f"{pluralize(counts.unreachable, 'node')} cannot be reached from any labelled node: {NO_GRAPH}."
        )
    return sentences


def _of_features(data: Dataset, counts: DatasetCounts) -> list[str]:
    without = counts.nodes - counts.nodes_with_features
    if data.X is None or not without:
        return []
    return [f"{_have(without)} no features: feat, tsvm and planetoid-i predict the same classes for all of them."]


def _of_labels(counts: DatasetCounts) -> list[str]:
    sentences = []
    few = [name for name, size in counts.classes.items() if 1 < size < FEW_LABELS]
    if few:
        shown = _some([f"{name!r} ({counts.classes[name]})" for name in few])
        sentences.append(f"Classes with fewer than {FEW_LABELS} labels: {shown}; expect errors there.")
    single = [name for name, size in counts.classes.items() if size == 1]
    if single:
        sentences.append(
            f"Classes with a single label: {_some([repr(name) for name in single])}; no accuracy can be measured for "
            "them: label more of their nodes, or merge them with another class."
        )
    return sentences


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MAX_CLASSES_SHOWN:,} more" if len(names) > MAX_CLASSES_SHOWN else ""
    return ", ".join(names[:MAX_CLASSES_SHOWN]) + more


def _of_columns(data: Dataset) -> list[str]:
    """Look for constant columns, and for one that dominates all others."""
    if data.X is None:
        return []
    spread = data.X.std(axis=0, dtype=np.float64) if isinstance(data.X, np.ndarray) else sparse_spread(data.X)
    sentences = _dominating(data, spread)
    constant = int((spread == 0).sum())
    if constant:
        sentences.append(f"{pluralize(constant, 'feature column is', 'feature columns are')} constant.")
    return sentences


def sparse_spread(X: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Return the spread of each column of a sparse matrix per stored entry.

    Over all rows a rare word would vary little and every common one would seem to dominate it; over its own entries
    each column of ones has the same spread.
    """
    n_rows, n_columns = X.shape
    values = X.data.astype(np.float64)
    stored = np.bincount(X.indices, minlength=n_columns)
    mean = np.bincount(X.indices, values, n_columns) / max(1, n_rows)
    squares = np.bincount(X.indices, (values - mean[X.indices]) ** 2, n_columns) + (n_rows - stored) * mean**2
    return np.asarray(np.sqrt(squares / np.maximum(stored, 1)))


def _dominating(data: Dataset, spread: npt.NDArray[np.float64]) -> list[str]:
    varying = spread[spread > 0]
    if not len(varying) or spread.max() <= WIDE * np.median(varying):
        return []
    widest = int(spread.argmax())
    name = widest if data.feature_names is None else str(data.feature_names[widest])
    return [
        f"Feature column {name!r} varies {spread.max() / np.median(varying):,.0f} times as much as the median column "
        "and dominates the others: scale the columns."
    ]


def _have(number: int) -> str:
    return pluralize(number, "node has", "nodes have")
