"""Coordinate lists: "fever, cough and headache" ties its items together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.graph import EdgeList, Graph
from planetoid.graph.construct.columns import factorize
from planetoid.ids import NodeIds

__all__ = ["bipartite_graph", "from_lists"]


def from_lists(lists: Any, items: Any = None, *, list_prefix: str | None = None) -> Graph:
    """Build the bipartite graph of lists and the items that stand in them.

    Lists come first, then items, both as they first occur.

    Parameters
    ----------
    lists : dict, sequence of sequences, or column
        ``{list id: [items]}``; or the items of each list, whose ids are then
        ``"list:0"``, ``"list:1"``, ...; or, beside ``items``, the list id of
        each occurrence.
    items : column, optional
        The item of each occurrence.
    list_prefix : str, optional
        Put before every list id, so that no list has the id of an item.

    Returns
    -------
    Graph

    Examples
    --------
    >>> graph = from_lists([["fever", "cough"], ["cough", "headache"]])
    >>> graph
    Graph(n_nodes=5, n_edges=4, undirected, unweighted)
    >>> graph.neighbors("cough").tolist()
    ['list:0', 'list:1']
    """
    if items is None:
        if not isinstance(lists, Mapping):
            lists = dict(enumerate(lists))
            list_prefix = "list:" if list_prefix is None else list_prefix
        for name, content in lists.items():
            if isinstance(content, (str, bytes)) or not hasattr(content, "__iter__"):
                raise DataError(f"list {name!r} is {content!r}; a list holds items")
        list_ids: Any = list(lists)
        contents = [list(content) for content in lists.values()]
        list_rows = np.repeat(np.arange(len(contents)), [len(content) for content in contents]).astype(np.int64)
        item_rows, item_ids = factorize([item for content in contents for item in content], "items")
    else:
        list_rows, list_ids = factorize(lists, "lists")
        item_rows, item_ids = factorize(items, "items")
        if len(list_rows) != len(item_rows):
            raise DataError(f"{len(list_rows):,} list ids for {len(item_rows):,} items; give one a piece")
    if list_prefix is not None:
        list_ids = [f"{list_prefix}{name}" for name in _plain(list_ids)]
    return bipartite_graph(list_rows, item_rows, _joined(list_ids, item_ids), len(list_ids))


def bipartite_graph(
    list_rows: npt.NDArray[Any], item_rows: npt.NDArray[Any], ids: NodeIds | int, n_lists: int
) -> Graph:
    """Build the graph from numbered occurrences; item k is node ``n_lists + k``."""
    nodes = ids if isinstance(ids, NodeIds) else NodeIds(ids)
    kind = np.int32 if len(nodes) < 2**31 else np.int64
    edges = EdgeList(list_rows.astype(kind, copy=False), (item_rows + n_lists).astype(kind, copy=False))
    return Graph.from_rows(edges, nodes)


def _joined(list_ids: Any, item_ids: Any) -> NodeIds:
    if all(type(part).__module__.startswith("pyarrow") for part in (list_ids, item_ids)):
        import pyarrow as pa
        import pyarrow.compute as pc

        both = pc.filter(item_ids, pc.is_in(item_ids, value_set=list_ids)).to_pylist()
        joined: Any = pa.concat_arrays([list_ids, item_ids]) if not both else None
    else:
        joined = [*_plain(list_ids), *_plain(item_ids)]
        both = sorted(set(_plain(list_ids)).intersection(_plain(item_ids)), key=str)
    if both:
        raise DataError(f"{both[0]!r} is a list and an item; list_prefix='list:' would tell them apart")
    return NodeIds(joined)


def _plain(values: Any) -> list[Any]:
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)
