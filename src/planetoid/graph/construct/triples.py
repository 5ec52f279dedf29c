"""The paper's graph of a knowledge base (section 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, Fix, PlanetoidWarning, warn
from planetoid.graph import EdgeList, Graph
from planetoid.graph.construct.factorize import Column, as_list, factorize
from planetoid.ids import NodeIds
from planetoid.parameters import check_parameters

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RelationNode", "from_triples"]


class ToPandas(Protocol):
    """A table of Polars or Arrow."""

    def to_pandas(self) -> pd.DataFrame: ...


class RelationNode(NamedTuple):
    """Id of one side of a relation: side 1 is connected to the heads, side 2 to the tails."""

    relation: Hashable
    side: int

    def __str__(self) -> str:
        return f"{self.relation}_{self.side}"


def from_triples(
    heads: Column | pd.DataFrame | ToPandas,
    relations: Column | None = None,
    tails: Column | None = None,
    *,
    drop_relations: Iterable[Hashable] = (),
    entities: Iterable[Hashable] | None = None,
    weights: Literal["count"] | None = None,
    relation_id: Callable[[Hashable, int], Hashable] = RelationNode,
) -> Graph:
    """Build a graph from triples (head, relation, tail).

    Every entity is a node, every relation r is two nodes r_1 and r_2, and a triple (e1, r, e2) gives the edges
    (e1, r_1) and (e2, r_2). Entities come first, in the order of ``entities`` or of first occurrence, then r_1 and r_2
    of each relation.

    Parameters
    ----------
    heads, relations, tails : sequences of ids
        One entry per triple. Or a table alone, with the columns ``head``, ``relation`` and ``tail``, or with these
        three in that order.
    drop_relations : iterable
        Relations to leave out; the paper drops ``generalizations``, ``haswikipediaurl`` and ``atdate``.
    entities : iterable of ids, optional
        All entities, in row order; those without a triple are isolated.
    weights : {None, "count"}
        ``"count"``: the weight of an edge is the number of its triples.
    relation_id : callable
        Returns the node id of a relation and a side (1 or 2). The default is the pair of both;
        ``"{}_{}".format`` gives strings.

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
    check_parameters("from_triples", {"weights": weights}, {"weights": ("count", None)})
    triples = _triples(heads, relations, tails)
    relation = factorize(triples.relations, "relations")
    kept, relation_names = _keep(relation.codes, as_list(relation.values), set(drop_relations))
    rows, ids = _entities(triples, kept, entities)
    n_triples = int((kept >= 0).sum())
    names = [relation_id(name, side) for name in relation_names for side in (1, 2)]
    first = len(ids) + 2 * kept[kept >= 0]
    edges = EdgeList(
        rows,
        np.concatenate([first, first + 1]),
        np.ones(2 * n_triples, dtype=np.float32) if weights == "count" else None,
    )
    return Graph.from_rows(edges, _node_ids(ids, names))


class _Triples(NamedTuple):
    """Three columns of equal length."""

    heads: Column
    relations: Column
    tails: Column


def _triples(heads: Column | pd.DataFrame | ToPandas, relations: Column | None, tails: Column | None) -> _Triples:
    if relations is None and tails is None:
        table = cast("pd.DataFrame", heads.to_pandas() if hasattr(heads, "to_pandas") else heads)
        if not hasattr(table, "columns") or len(table.columns) < 3:
            raise DataError("expected heads, relations and tails, or a table with these three columns")
        names = {str(name).lower(): name for name in table.columns}
        chosen = [names[name] for name in ("head", "relation", "tail") if name in names]
        chosen = chosen if len(chosen) == 3 else list(table.columns[:3])
        return _Triples(*(table[name] for name in chosen))
    if relations is None or tails is None:
        raise DataError("expected all three of heads, relations and tails")
    columns = [
        column if isinstance(column, Sized) else list(column) for column in (cast("Column", heads), relations, tails)
    ]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise DataError("{:,} heads, {:,} relations and {:,} tails; the lengths must be equal".format(*lengths))
    return _Triples(*columns)


def _keep(
    relation: npt.NDArray[np.int64], names: list[Hashable], drop: set[Hashable]
) -> tuple[npt.NDArray[np.int64], list[Hashable]]:
    """Renumber the relations that stay; -1 marks the triples of the others."""
    unknown = drop.difference(names)
    if unknown:
        warn(
            PlanetoidWarning(
                f"{len(unknown)} of the relations to drop occur in no triple, for instance {next(iter(unknown))!r}"
            )
        )
    stays = np.array([name not in drop for name in names], dtype=bool)
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    return number[relation], [name for name, stay in zip(names, stays, strict=True) if stay]


def _entities(
    triples: _Triples, kept: npt.NDArray[np.int64], entities: Iterable[Hashable] | None
) -> tuple[npt.NDArray[np.int64], list[Hashable]]:
    """Return the rows of heads and of tails of the triples that stay, and all entity ids."""
    heads, tails = factorize(triples.heads, "heads"), factorize(triples.tails, "tails")
    merged = factorize(as_list(heads.values) + as_list(tails.values), "entities")
    names = as_list(merged.values)
    head = merged.codes[heads.codes][kept >= 0]
    tail = merged.codes[len(heads.values) + tails.codes][kept >= 0]
    row = np.full(len(names), -1, dtype=np.int64)
    if entities is not None:
        ids = NodeIds(entities)
        used = np.unique(np.concatenate([head, tail]))
        row[used] = ids.known_rows([names[k] for k in used])
        return np.concatenate([row[head], row[tail]]), as_list(ids.to_numpy())
    both = np.stack([head, tail], axis=1).ravel()
    used, first = np.unique(both, return_index=True)
    used = used[np.argsort(first)]
    row[used] = np.arange(len(used))
    return np.concatenate([row[head], row[tail]]), [names[k] for k in used]


def _node_ids(entities: Sequence[Hashable], relations: Sequence[Hashable]) -> NodeIds:
    both = set(entities).intersection(relations)
    if both:
        raise DataError(
            f"{next(iter(both))!r} is the id of an entity and of a relation node",
            fix=Fix("relation_id", purpose="to make other ids of relations"),
        )
    return NodeIds([*entities, *relations])
