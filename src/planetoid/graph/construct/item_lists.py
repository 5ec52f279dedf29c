"""Coordinate lists: "fever, cough and headache" connects its items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, Fix
from planetoid.graph import EdgeList, Graph
from planetoid.graph.construct.factorize import Column, Factors, as_list, factorize, is_arrow
from planetoid.ids import NodeIds

__all__ = ["bipartite_graph", "from_lists"]


def from_lists(
    lists: Mapping[Hashable, Iterable[Hashable]] | Iterable[Iterable[Hashable]] | Column,
    items: Column | None = None,
    *,
    list_prefix: str | None = None,
) -> Graph:
    """Build the bipartite graph of lists and their items.

    Lists come first, then items, both in order of first occurrence.

    Parameters
    ----------
    lists : dict, sequence of sequences, or column
        ``{list id: [items]}``; or the items of each list, whose ids are then ``"list:0"``, ``"list:1"``, ...; or,
        together with ``items``, the list id of each occurrence.
    items : column, optional
        The item of each occurrence.
    list_prefix : str, optional
        Prepended to every list id, so that no list has the id of an item.

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
        if isinstance(lists, Mapping):
            list_factors, item_factors = _factorize_lists(list(lists), list(lists.values()))
        else:
            contents = list(lists)
            list_factors, item_factors = _factorize_lists(list(range(len(contents))), contents)
            list_prefix = "list:" if list_prefix is None else list_prefix
    else:
        list_factors, item_factors = factorize(lists, "lists"), factorize(items, "items")
        if len(list_factors.codes) != len(item_factors.codes):
            raise DataError(f"{len(list_factors.codes):,} list ids for {len(item_factors.codes):,} items")
    list_ids = list_factors.values
    if list_prefix is not None:
        list_ids = [f"{list_prefix}{name}" for name in as_list(list_ids)]
    ids = _all_ids(list_ids, item_factors.values)
    return bipartite_graph(list_factors.codes, item_factors.codes, ids, len(list_ids))


def bipartite_graph(
    list_rows: npt.NDArray[np.integer], item_rows: npt.NDArray[np.integer], ids: NodeIds | int, n_lists: int
) -> Graph:
    """Build the graph from numbered occurrences; item k is node ``n_lists + k``."""
    nodes = ids if isinstance(ids, NodeIds) else NodeIds(ids)
    index_type = np.int32 if len(nodes) < 2**31 else np.int64
    edges = EdgeList(list_rows.astype(index_type, copy=False), (item_rows + n_lists).astype(index_type, copy=False))
    return Graph.from_rows(edges, nodes)


def _factorize_lists(names: list[Hashable], contents: Sequence[object]) -> tuple[Factors, Factors]:
    lists: list[list[Hashable]] = []
    for name, content in zip(names, contents, strict=True):
        if isinstance(content, (str, bytes)) or not isinstance(content, Iterable):
            raise DataError(f"list {name!r} must be an iterable of items, got {content!r}")
        lists.append(list(content))
    list_rows = np.repeat(np.arange(len(lists)), [len(items) for items in lists]).astype(np.int64)
    return Factors(list_rows, names), factorize([item for items in lists for item in items], "items")


def _all_ids(list_ids: Column, item_ids: Column) -> NodeIds:
    if is_arrow(list_ids) and is_arrow(item_ids):
        import pyarrow as pa
        import pyarrow.compute as pc

        both = as_list(pc.filter(item_ids, pc.is_in(item_ids, value_set=list_ids)))
        if not both:
            return NodeIds(pa.concat_arrays([list_ids, item_ids]))
    else:
        both = sorted(set(as_list(list_ids)).intersection(as_list(item_ids)), key=str)
        if not both:
            return NodeIds([*as_list(list_ids), *as_list(item_ids)])
    raise DataError(
        f"{both[0]!r} is the id of a list and of an item", fix=Fix("list_prefix", "list:", "to distinguish them")
    )
