"""Classes too small to learn or to measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from planetoid.errors import ParameterError
from planetoid.labels import is_unlabelled

__all__ = ["drop_small_classes"]


def drop_small_classes(labels: Any, min_class_size: int = 10) -> Any:
    """Unlabel the nodes of every class with fewer than ``min_class_size`` of them.

    The paper does so with 10 on NELL. The nodes stay in the graph.

    Parameters
    ----------
    labels : dict or array
        ``{node id: label}``, from which the entries go, or one label a node,
        of which a copy with -1 (integers) or ``None`` in their place is returned.
    min_class_size : int

    Examples
    --------
    >>> drop_small_classes({"paris": "city", "rome": "city", "mars": "planet"}, 2)
    {'paris': 'city', 'rome': 'city'}
    >>> drop_small_classes([0, 0, 1, -1], 2)
    array([ 0,  0, -1, -1])
    """
    if min_class_size < 1:
        raise ParameterError(f"min_class_size={min_class_size}; it is a number of nodes, at least 1")
    if isinstance(labels, Mapping):
        known: dict[Hashable, Any] = {node: label for node, label in labels.items() if not is_unlabelled(label)}
        sizes = Counter(known.values())
        return {node: label for node, label in known.items() if sizes[label] >= min_class_size}
    kept = np.array(labels)
    if kept.dtype.kind not in "iu":
        kept = kept.astype(object)
    sizes = Counter(kept.tolist())
    small = [not is_unlabelled(label) and sizes[label] < min_class_size for label in kept.tolist()]
    kept[np.array(small, dtype=bool)] = -1 if kept.dtype.kind in "iu" else None
    return kept
