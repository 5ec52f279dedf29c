"""The order of nodes: as people count, whatever the order of the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.ids import NodeIds

__all__ = ["natural_order", "sorted_ids"]


def sorted_ids(values: Any) -> tuple[NodeIds, npt.NDArray[Any]]:
    """Return distinct ids in natural order, and the row of each value there.

    >>> sorted_ids(pa.array(["paper_10", "paper_9"]))
    (NodeIds(['paper_9', 'paper_10'], n=2), array([1, 0], dtype=int32))
    """
    order = natural_order(values)
    row = np.empty(len(order), dtype=np.int32 if len(order) < 2**31 else np.int64)
    row[order] = np.arange(len(order))
    return NodeIds.distinct(values.take(pa.array(order))), row


def natural_order(values: Any) -> npt.NDArray[np.int64]:
    """Return the order in which people count: ``paper_9`` comes before ``paper_10``, as 9 before 10.

    Random initial values go by rows, so that this makes the same data give the same predictions whether its ids are
    ``paper_17`` or 17. Other strings are sorted by code point.

    >>> natural_order(pa.array(["p10", "p9", "p1"])).tolist()
    [2, 1, 0]
    """
    if pa.types.is_integer(values.type):
        return np.asarray(pc.array_sort_indices(values), dtype=np.int64)
    parts = pc.extract_regex(values, r"^(?P<word>[^0-9]*)(?P<number>[0-9]{1,18})$")
    if parts.null_count:
        return np.asarray(pc.array_sort_indices(values), dtype=np.int64)
    columns = {
        "word": pc.struct_field(parts, "word"),
        "number": pc.struct_field(parts, "number").cast(pa.int64()),
        "id": values,
    }
    keys = [(name, "ascending") for name in columns]
    return np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys), dtype=np.int64)
