"""New nodes with edges, beside the graph that a model was fitted on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from planetoid.data.types import FeaturesLike
from planetoid.errors import DataError
from planetoid.ids import NodeIds

__all__ = ["Attached", "Edge"]

Edge: TypeAlias = "tuple[Hashable, Hashable] | tuple[Hashable, Hashable, float]"


class Attached(NamedTuple):
    """The graph of the fitted nodes, followed by new ones."""

    adjacency: sparse.csr_array  # symmetric
    n_new: int

    @classmethod
    def of(
        cls,
        fitted: NodeIds,
        adjacency: sparse.csr_array,
        X: FeaturesLike | None,
        edges: list[Edge],
        ids: Iterable[Hashable] | None,
    ) -> Attached:
        """Attach new nodes by their edges; ``ids`` or the index of X name them."""
        n = adjacency.shape[0]
        place = {node: n + k for k, node in enumerate(_new_ids(fitted, X, edges, ids))}
        rows, columns, weights = [], [], []
        for edge in edges:
            if not isinstance(edge, (tuple, list, np.ndarray)) or len(edge) not in (2, 3):
                raise DataError(f"an edge must be a pair of ids, with or without a weight, got {edge!r}")
            source, target = (place[node] if node in place else fitted.row(node) for node in edge[:2])
            if source < n and target < n:
                raise DataError(f"the edge {edge!r} joins two fitted nodes", hint="fit again to add edges to the graph")
            weight = float(edge[2]) if len(edge) == 3 else 1.0
            if not weight > 0 or not np.isfinite(weight):
                raise DataError(f"the weight of an edge must be positive, got {edge!r}")
            rows += [source, target] if source != target else [source]
            columns += [target, source] if source != target else [target]
            weights += [weight, weight] if source != target else [weight]
        total = n + len(place)
        new = sparse.csr_array((np.array(weights, np.float32), (rows, columns)), shape=(total, total))
        parts = adjacency.data, adjacency.indices, np.append(adjacency.indptr, [adjacency.nnz] * len(place))
        return cls(sparse.csr_array(sparse.csr_array(parts, shape=(total, total)) + new), len(place))


def _new_ids(
    fitted: NodeIds, X: FeaturesLike | None, edges: list[Edge], ids: Iterable[Hashable] | None
) -> list[Hashable]:
    if X is None and ids is None:
        named = [node for edge in edges for node in edge[:2] if node not in fitted]
        return list(dict.fromkeys(named))
    n_rows = None if X is None else (X.shape[0] if hasattr(X, "shape") else len(X))  # type: ignore[arg-type]
    if ids is not None:
        new = list(ids)
    elif hasattr(X, "index") and hasattr(X, "columns"):
        new = list(X.index)  # type: ignore[union-attr, arg-type]
    elif fitted.kind == "range":
        assert n_rows is not None
        new = list(range(len(fitted), len(fitted) + n_rows))
    else:
        raise DataError(
            "which ids do the rows of X have in edges?", hint="pass ids=, or X as a DataFrame indexed by id"
        )
    if n_rows is not None and len(new) != n_rows:
        raise DataError(f"there are {len(new):,} ids for {n_rows:,} rows of X")
    if len(set(new)) < len(new):
        raise DataError("the ids of new nodes must differ from each other")
    known = next((node for node in new if node in fitted), None)
    if known is not None:
        raise DataError(f"the node {known!r} is fitted already", hint="use nodes= for fitted nodes")
    return new
