"""The paper's graph of a knowledge base (section 5.4)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.graph import EdgeList, Graph
from planetoid.graph.construct.columns import factorize
from planetoid.ids import NodeIds

__all__ = ["RelationNode", "from_triples"]


class RelationNode(NamedTuple):
    """Id of one side of a relation: side 1 meets the heads, side 2 the tails."""

    relation: Hashable
    side: int

    def __str__(self) -> str:
        return f"{self.relation}_{self.side}"


def from_triples(
    heads: Any,
    relations: Any = None,
    tails: Any = None,
    *,
    drop_relations: Iterable[Hashable] = (),
    entities: Iterable[Hashable] | None = None,
    weights: Literal["count"] | None = None,
    relation_id: Callable[[Hashable, int], Hashable] = RelationNode,
) -> Graph:
    """Build a graph from triples (head, relation, tail).

    Every entity is a node, every relation r is two nodes r_1 and r_2, and a
    triple (e1, r, e2) gives the edges (e1, r_1) and (e2, r_2). Entities come
    first, in the order of ``entities`` or as they first occur, then r_1 and r_2
    of each relation.

    Parameters
    ----------
    heads, relations, tails : sequences of ids
        One entry a triple. Or a table alone, with the columns ``head``,
        ``relation`` and ``tail``, or with these three in that order.
    drop_relations : iterable
        Relations to leave out; the paper drops ``generalizations``,
        ``haswikipediaurl`` and ``atdate``.
    entities : iterable of ids, optional
        All entities, in the order that rows shall have; those without a triple are isolated.
    weights : {None, "count"}
        Whether an edge is weighed by the number of triples that gave it.
    relation_id : callable
        Makes the node id of a relation and a side (1 or 2). The default is the
        pair of both; ``"{}_{}".format`` makes strings.

    Returns
    -------
    Graph

    Examples
    --------
    >>> graph = from_triples(["rome", "paris"], ["capital_of", "capital_of"], ["italy", "france"])
    >>> graph
    Graph(n_nodes=6, n_edges=4, undirected, unweighted)
    >>> graph.neighbors(("capital_of", 1)).tolist()
    ['rome', 'paris']
    """
    heads, relations, tails = _columns(heads, relations, tails)
    if weights not in (None, "count"):
        raise ParameterError(f"weights={weights!r}; it is None or 'count'")
    relation, relation_names = factorize(relations, "relations")
    kept, relation_names = _keep(relation, _plain(relation_names), set(drop_relations))
    rows, ids = _entities(heads, tails, kept, entities)
    n_triples = int((kept >= 0).sum())
    names = [relation_id(name, side) for name in relation_names for side in (1, 2)]
    first = len(ids) + 2 * kept[kept >= 0]
    edges = EdgeList(
        rows,
        np.concatenate([first, first + 1]),
        np.ones(2 * n_triples, dtype=np.float32) if weights == "count" else None,
    )
    return Graph.from_rows(edges, _node_ids(ids, names))


def _columns(heads: Any, relations: Any, tails: Any) -> tuple[Any, Any, Any]:
    if relations is None and tails is None:
        table = heads.to_pandas() if hasattr(heads, "to_pandas") else heads
        if not hasattr(table, "columns") or len(table.columns) < 3:
            raise DataError("give heads, relations and tails, or a table with these three columns")
        names = {str(name).lower(): name for name in table.columns}
        chosen = [names[name] for name in ("head", "relation", "tail") if name in names]
        chosen = chosen if len(chosen) == 3 else list(table.columns[:3])
        return tuple(table[name] for name in chosen)
    if relations is None or tails is None:
        raise DataError("give heads, relations and tails, all three")
    heads, relations, tails = (
        column if hasattr(column, "__len__") else list(column) for column in (heads, relations, tails)
    )
    if not len(heads) == len(relations) == len(tails):
        raise DataError(
            f"{len(heads):,} heads, {len(relations):,} relations and {len(tails):,} tails; a triple has one each"
        )
    return heads, relations, tails


def _keep(
    relation: npt.NDArray[np.int64], names: list[Any], drop: set[Hashable]
) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Renumber the relations that stay; -1 marks the triples of the others."""
    unknown = drop.difference(names)
    if unknown:
        warnings.warn(
            f"{len(unknown)} of the relations to drop occur in no triple, for instance {next(iter(unknown))!r}",
            PlanetoidWarning,
            stacklevel=3,
        )
    stays = np.array([name not in drop for name in names], dtype=bool)
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    return number[relation], [name for name, stay in zip(names, stays, strict=True) if stay]


def _entities(heads: Any, tails: Any, kept: Any, entities: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Return the rows of heads and of tails of the triples that stay, and all entity ids."""
    head, head_names = factorize(heads, "heads")
    tail, tail_names = factorize(tails, "tails")
    together, names = factorize(_plain(head_names) + _plain(tail_names), "entities")
    head, tail = together[head], together[len(head_names) + tail]
    head, tail = head[kept >= 0], tail[kept >= 0]
    if entities is not None:
        ids = NodeIds(entities)
        used = np.unique(np.concatenate([head, tail]))
        place = np.full(len(names), -1, dtype=np.int64)
        place[used] = ids.known_rows([names[k] for k in used])
        return np.concatenate([place[head], place[tail]]), _plain(ids.to_numpy())
    both = np.stack([head, tail], axis=1).ravel()
    used, first = np.unique(both, return_index=True)
    used = used[np.argsort(first)]
    place = np.full(len(names), -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    return np.concatenate([place[head], place[tail]]), [names[k] for k in used]


def _node_ids(entities: list[Any], relations: list[Any]) -> NodeIds:
    both = set(entities).intersection(relations)
    if both:
        raise DataError(
            f"{next(iter(both))!r} is an entity and the id of a relation node; let relation_id make other ids"
        )
    return NodeIds([*entities, *relations])


def _plain(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)
