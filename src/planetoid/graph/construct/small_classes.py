"""Classes too small to learn or to evaluate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import overload

import numpy as np
import numpy.typing as npt

from planetoid.labels import is_unlabelled
from planetoid.parameters import Integer, check_parameters

__all__ = ["drop_small_classes"]


@overload
def drop_small_classes(labels: Mapping[Hashable, Hashable], min_class_size: int = 10) -> dict[Hashable, Hashable]: ...


@overload
def drop_small_classes(labels: npt.ArrayLike, min_class_size: int = 10) -> npt.NDArray[np.generic]: ...


def drop_small_classes(
    labels: Mapping[Hashable, Hashable] | npt.ArrayLike, min_class_size: int = 10
) -> dict[Hashable, Hashable] | npt.NDArray[np.generic]:
    """Remove the labels of every class with fewer than ``min_class_size`` labelled nodes.

    The paper does so with 10 on NELL. The nodes stay in the graph.

    Parameters
    ----------
    labels : dict or array
        ``{node id: label}``, or one label per node.
    min_class_size : int

    Returns
    -------
    dict or array
        A copy, in which nodes of small classes are missing (dict) or labelled -1 (integers) or ``None`` (other labels).

    Examples
    --------
    >>> drop_small_classes({"paris": "city", "rome": "city", "mars": "planet"}, 2)
    {'paris': 'city', 'rome': 'city'}
    >>> drop_small_classes([0, 0, 1, -1], 2)
    array([ 0,  0, -1, -1])
    """
    check_parameters("drop_small_classes", {"min_class_size": min_class_size}, {"min_class_size": Integer(1)})
    if isinstance(labels, Mapping):
        known = {node: label for node, label in labels.items() if not is_unlabelled(label)}
        sizes = Counter(known.values())
        return {node: label for node, label in known.items() if sizes[label] >= min_class_size}
    kept = np.array(labels)
    if kept.dtype.kind not in "iu":
        kept = kept.astype(object)
    sizes = Counter(kept.tolist())
    small = [not is_unlabelled(label) and sizes[label] < min_class_size for label in kept.tolist()]
    kept[np.array(small, dtype=bool)] = -1 if kept.dtype.kind in "iu" else None
    return kept
