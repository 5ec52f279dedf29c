"""A graph of nearest neighbours, from distances between feature vectors (the paper's closing remark)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.errors import DataError, ParameterError, PlanetoidWarning, warn
from planetoid.graph import EdgeList, Graph
from planetoid.ids import IdsLike, NodeIds
from planetoid.parameters import N_JOBS, Constraints, Integer, Real, check_parameters

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas as pd

    Matrix: TypeAlias = npt.NDArray[np.floating] | sparse.csr_array

__all__ = ["knn_graph"]

CONSTRAINTS: Constraints = {
    "metric": ("cosine", "euclidean"),
    "mode": ("union", "mutual"),
    "weights": ("similarity", "heat", None),
    "bandwidth": (Real(0, closed="neither"), None),
    "n_jobs": N_JOBS,
}


def knn_graph(
    X: npt.ArrayLike | sparse.sparray | sparse.spmatrix | pd.DataFrame,
    k: int = 10,
    *,
    metric: Literal["cosine", "euclidean"] = "cosine",
    mode: Literal["union", "mutual"] = "union",
    weights: Literal["similarity", "heat"] | None = None,
    bandwidth: float | None = None,
    nodes: IdsLike | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """Connect each row of ``X`` with its ``k`` nearest neighbours.

    Sparse rows stay sparse, and distances are computed in chunks of bounded size: memory is that of ``X`` and of n x k
    neighbours.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
        One row per node. The index of a DataFrame gives the node ids.
    k : int
        Number of neighbours, without the row itself.
    metric : {"cosine", "euclidean"}
        With ``"cosine"``, rows at a right angle or more are never connected; a row of zeros stays isolated, with a
        warning.
    mode : {"union", "mutual"}
        Connect two rows if one of them, or both, have the other among their nearest neighbours.
    weights : {None, "similarity", "heat"}
        ``"similarity"``: the cosine, or 1 / (1 + distance).
        ``"heat"``: exp(-distance^2 / (2 bandwidth^2)), where the distance of the cosine metric is that of rows scaled
        to length 1.
    bandwidth : float, optional
        For ``"heat"``; by default the median distance to the k-th neighbour.
    nodes : iterable of ids, optional
    n_jobs : int, optional
        As in scikit-learn.

    Returns
    -------
    Graph

    Examples
    --------
    >>> graph = knn_graph([[0.0], [1.0], [3.0], [3.5]], k=1, metric="euclidean")
    >>> [graph.neighbors(node).tolist() for node in range(4)]
    [[1], [0], [3], [2]]
    """
    values = {"metric": metric, "mode": mode, "weights": weights, "bandwidth": bandwidth, "n_jobs": n_jobs}
    check_parameters("knn_graph", values, CONSTRAINTS)
    if bandwidth is not None and weights != "heat":
        raise ParameterError(f"knn_graph: bandwidth requires weights='heat', got {weights!r}", parameter="bandwidth")
    index = getattr(X, "index", None)
    if nodes is None and hasattr(X, "columns") and index is not None:
        nodes = index.to_numpy()
    rows = _checked(X)
    ids = NodeIds(rows.shape[0] if nodes is None else nodes)
    if len(ids) != rows.shape[0]:
        raise DataError(f"{len(ids):,} node ids for {rows.shape[0]:,} rows")
    check_parameters("knn_graph", {"k": k}, {"k": Integer(1, rows.shape[0] - 1)})
    neighbours = _neighbours(rows, k, metric, n_jobs)
    weight = _weights(neighbours, metric, weights, bandwidth)
    return _connect(neighbours, weight, mode, ids)


class _Neighbours(NamedTuple):
    """Row, neighbour and distance of each pair, by row and then by distance."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    distance: npt.NDArray[np.float64]


def _checked(X: npt.ArrayLike | sparse.sparray | sparse.spmatrix | pd.DataFrame) -> Matrix:
    from sklearn.utils import check_array

    try:
        checked: Matrix = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    except (ValueError, TypeError) as error:
        raise DataError(f"invalid X: {' '.join(str(error).split())}", parameter="X") from None
    return checked


def _neighbours(rows: Matrix, k: int, metric: str, n_jobs: int | None) -> _Neighbours:
    from sklearn import config_context
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import normalize

    kept = np.arange(rows.shape[0])
    if metric == "cosine":  # for rows of length 1 the Euclidean distance gives the same order as the cosine
        rows = normalize(rows)
        kept = np.flatnonzero(np.diff(rows.indptr) if sparse.issparse(rows) else rows.any(axis=1))
        empty = rows.shape[0] - len(kept)
        if empty:
            warn(PlanetoidWarning(f"{empty:,} rows of zeros have no direction and stay isolated"))
            rows = rows[kept]
    k = min(k, len(kept) - 1)
    if k < 1:
        nothing = np.empty(0, dtype=np.int64)
        return _Neighbours(nothing, nothing, np.empty(0))
    with config_context(working_memory=64):  # megabytes of distances at a time
        search = NearestNeighbors(n_neighbors=k, metric="euclidean", n_jobs=n_jobs).fit(rows)
        distance, target = search.kneighbors()
    source = np.repeat(kept, k)
    target, distance = kept[target.ravel()], distance.ravel().astype(np.float64)
    if metric == "cosine":
        near = distance < np.sqrt(2) * (1 - 1e-6)
        source, target, distance = source[near], target[near], distance[near]
    return _Neighbours(source, target, distance)


def _weights(
    neighbours: _Neighbours, metric: str, weights: str | None, bandwidth: float | None
) -> npt.NDArray[np.float32] | None:
    source, _, distance = neighbours
    if weights is None:
        return None
    if weights == "similarity":
        similarity = 1 - distance**2 / 2 if metric == "cosine" else 1 / (1 + distance)
        return np.asarray(similarity, dtype=np.float32)
    if bandwidth is None:
        last = np.append(source[1:] != source[:-1], True) if len(source) else np.empty(0, dtype=bool)
        bandwidth = float(np.median(distance[last])) if len(source) else 1.0
    heat = np.exp(-(distance**2) / (2 * (bandwidth or 1.0) ** 2))
    return np.asarray(np.maximum(heat, np.finfo(np.float32).tiny), dtype=np.float32)


def _connect(neighbours: _Neighbours, weight: npt.NDArray[np.float32] | None, mode: str, ids: NodeIds) -> Graph:
    source, target, _ = neighbours
    if mode == "mutual":
        n = len(ids)
        pairs = source * n + target
        mutual = np.isin(target * n + source, pairs, assume_unique=True)
        source, target = source[mutual], target[mutual]
        weight = None if weight is None else weight[mutual]
    return Graph.from_rows(EdgeList(source, target, weight), ids)
