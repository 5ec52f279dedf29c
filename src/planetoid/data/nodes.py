"""Which nodes there are: those with an edge and those with features."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.errors import DataError, Fix, PlanetoidWarning, warn
from planetoid.ids import NodeIds
from planetoid.io.encode import integers_if_canonical
from planetoid.io.id_hints import why_ids_differ
from planetoid.io.node_order import sorted_ids

if TYPE_CHECKING:
    from planetoid.data.node_table import NodeTable
    from planetoid.io.feature_table import FeatureBlocks

    Described: TypeAlias = FeatureBlocks | NodeTable  # what has one row per node

__all__ = ["NodeUnion", "unite_nodes"]


class NodeUnion(NamedTuple):
    """All nodes of a dataset in natural order.

    Attributes
    ----------
    ids : NodeIds
    edge_rows : int array
        The row of each id that occurs in the edges.
    n_without_edge : int
        Nodes that have features but do not occur in the edges.
    """

    ids: NodeIds
    edge_rows: npt.NDArray[np.integer]
    n_without_edge: int


def unite_nodes(edge_ids: NodeIds | None, features: Described | None, edges_path: Path | None) -> NodeUnion:
    """Return the nodes with an edge and the nodes with features, in natural order.

    Ids of two files are compared as integers where all of them are written as integers, else as strings.
    """
    if edge_ids is None:
        assert features is not None
        return NodeUnion(sorted_ids(features.ids.to_arrow())[0], np.empty(0, dtype=np.int64), 0)
    if features is None:
        ids, rows = sorted_ids(edge_ids.to_arrow())
        return NodeUnion(ids, rows, 0)
    known, described = _same_type(edge_ids.to_arrow(), features.ids.to_arrow())
    new = described.filter(pc.invert(pc.is_in(described, value_set=known)))
    ids, rows = sorted_ids(pa.concat_arrays([known, new]))
    if not features.has_ids:
        _check_row_numbers(features, ids, edges_path)
    _check_overlap(features, known, described, new)
    return NodeUnion(ids, rows[: len(edge_ids)], len(new))


def _check_overlap(features: Described, known: pa.Array, described: pa.Array, new: pa.Array) -> None:
    """Warn of features of nodes without an edge; a file of them alone must have other ids than the edges."""
    if not len(new):
        return
    first = new[0].as_py()
    reason = why_ids_differ(new, known) if features.has_ids else None
    if len(new) == len(described):
        raise DataError(
            f"no row has the id of a node with an edge: the first id is {first!r}, ids of edges look like "
            f"{known[0].as_py()!r}" + (f"; {reason[0]}" if reason else ""),
            path=features.path,
            hint=reason[1] if reason else "check that this is the right file and the right id column",
            fix=Fix("id_column") if features.has_ids and not reason else (),
        )
    warn(
        PlanetoidWarning(
            f"{len(new):,} of {len(described):,} rows belong to nodes without an edge, the first to {first!r}"
            + (f"; {reason[0]}" if reason else ""),
            path=features.path,
            hint=reason[1] if reason else None,
        )
    )


def _check_row_numbers(features: Described, ids: NodeIds, edges_path: Path | None) -> None:
    """Rows without ids are the nodes 0 to n - 1; the edges may have no others."""
    n_rows = len(features.ids)
    if ids.kind != "range" or len(ids) != n_rows:
        raise DataError(
            f"the file has no ids, so its {n_rows:,} rows are the nodes 0 to {n_rows - 1:,}, but {edges_path} has "
            f"others, such as {ids[len(ids) - 1]!r}",
            path=features.path,
        )


def _same_type(first: pa.Array, second: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Bring ids of two files to one type: integers if all are, or are written so, else strings."""
    pair = [_integers_or_strings(first), _integers_or_strings(second)]
    if pair[0].type != pair[1].type:
        pair = [part if pa.types.is_integer(part.type) else integers_if_canonical(part) for part in pair]
    if pair[0].type != pair[1].type:
        pair = [part.cast(pa.large_string()) for part in pair]
    return pair[0], pair[1]


def _integers_or_strings(values: pa.Array) -> pa.Array:
    return values.cast(pa.int64() if pa.types.is_integer(values.type) else pa.large_string())
