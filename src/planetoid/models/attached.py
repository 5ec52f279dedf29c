"""New nodes with edges, beside the graph that a model was fitted on, and the contract of methods that label them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from planetoid.data.types import FeaturesLike, Probabilities
from planetoid.errors import DataError
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.graph.adjacency import strengths
from planetoid.ids import NodeIds
from planetoid.multi_label import Top

if TYPE_CHECKING:
    from planetoid.io.table import Table

__all__ = ["Attached", "AttachingClassifier", "Edge"]

SMALLEST = 1e-12

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

    def mean_of_neighbours(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return for each new node the mean of the rows of its fitted neighbours, or zeros if there are none."""
        n = len(values)
        to_fitted = sparse.csr_array(self.adjacency[n:, :n])
        degrees = np.maximum(strengths(to_fitted), SMALLEST)[:, None]
        return np.asarray((to_fitted @ values) / degrees, dtype=np.float32)


class AttachingClassifier(InductiveClassifier):
    """Base class of methods that also label new nodes by their edges; they implement :meth:`_predict_attached`."""

    def _fitted_adjacency(self) -> sparse.csr_array:
        """Return the symmetric adjacency matrix of the fitted nodes."""
        raise NotImplementedError

    def _predict_attached(self, X: FeaturesLike | None, attached: Attached) -> Probabilities:
        """Return class probabilities of new nodes by their place in the graph, with features ``X`` or without."""
        raise NotImplementedError

    def predict_proba(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
    ) -> Probabilities:
        """Return class probabilities: of all fitted nodes, of ``nodes``, or of new nodes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, optional
            Features of new nodes, one row each.
        nodes : iterable of ids, optional
            Fitted nodes.
        edges : iterable of (id, id) or (id, id, weight), or a DataFrame of such columns, optional
            Edges of the new nodes, to fitted ones or to each other. The new nodes are classified by their neighbourhood
            as if they had been in the graph, without being trained on. Without X they have no features of their own,
            and the result has a row for each id that is not fitted, in the order of appearance.
        ids : iterable of ids, optional
            The ids that ``edges`` uses for the rows of X. By default the index of a DataFrame; for an array, the
            integers after those of the fitted nodes, if these are 0, 1, 2, ...
        """
        if edges is None:
            return super().predict_proba(X, nodes=nodes)
        check_is_fitted(self, "label_distributions_")
        if nodes is not None:
            raise DataError("pass either edges (of new nodes) or nodes (fitted nodes), not both")
        if self.multi_label_:
            raise DataError(
                "new nodes with edges are not supported for several labels per node",
                hint="predict from features alone, or fit with these nodes in the graph",
            )
        attached = Attached.of(self.node_ids_, self._fitted_adjacency(), X, _as_edges(edges), ids)
        return self.calibration_.apply(self._predict_attached(X, attached))

    def predict(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
        top: Top | None = None,
    ) -> npt.NDArray[Any]:
        """Return labels; the parameters are those of :meth:`predict_proba`, and ``top`` for several labels per node."""
        return self._labels(self.predict_proba(X, nodes=nodes, edges=edges, ids=ids), top)

    def predict_set(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
        alpha: float = 0.1,
    ) -> npt.NDArray[np.bool_]:
        """Return the classes that contain the true one with probability 1 - alpha.

        A boolean array with a column for each of ``classes_``; the other parameters are those of :meth:`predict_proba`.
        """
        found = self.predict_proba(X, nodes=nodes, edges=edges, ids=ids)
        return self._sets(found, alpha, nodes, fitted=X is None and edges is None)


def _as_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return edges as tuples; a data frame is read as elsewhere."""
    if not hasattr(edges, "columns"):
        return list(edges)
    from planetoid.io import read_edges

    found, ends = read_edges(cast("Table", edges))
    assert ends.source is not None
    assert ends.target is not None
    names = found.to_numpy().tolist()
    weights = np.ones(len(ends.source)) if ends.weight is None else ends.weight
    return [(names[i], names[j], float(w)) for i, j, w in zip(ends.source, ends.target, weights, strict=True)]


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
