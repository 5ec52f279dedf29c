"""The one order of nodes: natural order, for files, arrays and the command line alike.

Random initial values go by row, so the same data must give the same rows, however it is read and whether its ids are
``paper_17`` or 17.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.ids import NodeIds

__all__ = ["SortedIds", "natural_order", "sorted_ids"]

WORD_AND_NUMBER = r"^(?P<word>[^0-9]*)(?P<number>[0-9]{1,18})$"


class SortedIds(NamedTuple):
    """Ids in natural order, and the position there of each value they were made from."""

    ids: NodeIds
    position: npt.NDArray[np.integer]


def sorted_ids(values: pa.Array) -> SortedIds:
    """Return distinct ids in natural order, and the position of each value there.

    >>> sorted_ids(pa.array(["paper_10", "paper_9"]))
    SortedIds(ids=NodeIds(['paper_9', 'paper_10'], n=2), position=array([1, 0], dtype=int32))
    """
    order = natural_order(values)
    position = np.empty(len(order), dtype=np.int32 if len(order) < 2**31 else np.int64)
    position[order] = np.arange(len(order), dtype=position.dtype)
    return SortedIds(NodeIds.distinct(values.take(pa.array(order))), position)


def natural_order(values: pa.Array) -> npt.NDArray[np.int64]:
    """Return the rows in the order in which people count: ``paper_9`` before ``paper_10``, as 9 before 10.

    This holds if every id is a word, perhaps empty, and a number after it. Other strings are sorted by code point.

    >>> natural_order(pa.array(["p10", "p9", "p1"])).tolist()
    [2, 1, 0]
    """
    if pa.types.is_integer(values.type) or not _may_be_counted(values):
        return np.asarray(pc.array_sort_indices(values), dtype=np.int64)
    parts = pc.extract_regex(values, WORD_AND_NUMBER)
    if parts.null_count:
        return np.asarray(pc.array_sort_indices(values), dtype=np.int64)
    columns = {
        "word": pc.struct_field(parts, "word"),
        "number": pc.struct_field(parts, "number").cast(pa.int64()),
        "id": values,
    }
    keys = [(name, "ascending") for name in columns]
    return np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys), dtype=np.int64)


def _may_be_counted(values: pa.Array) -> bool:
    """Look at the first id alone: most sets of ids that are not counted show it there."""
    return len(values) > 0 and re.fullmatch(WORD_AND_NUMBER, values[0].as_py()) is not None
