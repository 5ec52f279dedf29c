"""A graph from distances between feature vectors, the paper's closing remark."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds

__all__ = ["knn_graph"]


def knn_graph(
    X: Any,
    k: int = 10,
    *,
    metric: Literal["cosine", "euclidean"] = "cosine",
    mode: Literal["union", "mutual"] = "union",
    weights: Literal["similarity", "heat"] | None = None,
    bandwidth: float | None = None,
    nodes: Iterable[Hashable] | None = None,
    n_jobs: int | None = None,
) -> Graph:
    """Join each row of ``X`` with its ``k`` nearest.

    Sparse rows stay sparse, and distances are taken in pieces of bounded
    size: memory is that of ``X`` and of n x k neighbours.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
        One row a node. A DataFrame's index gives the node ids.
    k : int
        Nearest rows, the row itself not counted.
    metric : {"cosine", "euclidean"}
        By cosine, rows at a right angle or more have nothing in common and are
        never joined; a row of zeros stays isolated, with a warning.
    mode : {"union", "mutual"}
        Join two rows if one of them, or both, count the other among its nearest.
    weights : {None, "similarity", "heat"}
        ``"similarity"``: the cosine, or 1 / (1 + distance).
        ``"heat"``: exp(-distance^2 / (2 bandwidth^2)), where the distance of
        the cosine metric is that of the rows at length 1.
    bandwidth : float, optional
        For ``"heat"``; the median distance to the k-th neighbour if not given.
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
    for name, value, allowed in (
        ("metric", metric, ("cosine", "euclidean")),
        ("mode", mode, ("union", "mutual")),
        ("weights", weights, (None, "similarity", "heat")),
    ):
        if value not in allowed:
            raise ParameterError(f"{name}={value!r}; it is one of {', '.join(map(repr, allowed))}")
    if bandwidth is not None and (weights != "heat" or not bandwidth > 0):
        raise ParameterError(f"bandwidth={bandwidth!r}; it is a positive number, for weights='heat' alone")
    if nodes is None and hasattr(X, "columns"):
        nodes = X.index.to_numpy()
    rows = _checked(X)
    ids = NodeIds(rows.shape[0] if nodes is None else nodes)
    if len(ids) != rows.shape[0]:
        raise DataError(f"{len(ids):,} node ids for {rows.shape[0]:,} rows")
    if not 1 <= k < rows.shape[0]:
        raise ParameterError(f"k={k}; it is at least 1 and below the number of rows, {rows.shape[0]:,}")
    source, target, distance = _neighbours(rows, k, metric, n_jobs)
    weight = _weights(source, distance, metric, weights, bandwidth)
    return _join(source, target, weight, mode, ids)


def _checked(X: Any) -> Any:
    from sklearn.utils import check_array

    try:
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    except (ValueError, TypeError) as error:
        raise DataError(f"X does not do: {' '.join(str(error).split())}") from None


def _neighbours(
    rows: Any, k: int, metric: str, n_jobs: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return both ends and the length of each row's links, shortest first."""
    from sklearn import config_context
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import normalize

    kept = np.arange(rows.shape[0])
    if metric == "cosine":  # at length 1 the Euclidean distance orders rows as the cosine does
        rows = normalize(rows)
        kept = np.flatnonzero(np.diff(rows.indptr) if sparse.issparse(rows) else rows.any(axis=1))
        empty = rows.shape[0] - len(kept)
        if empty:
            warnings.warn(
                f"{empty:,} rows of zeros have no direction; they stay isolated", PlanetoidWarning, stacklevel=3
            )
            rows = rows[kept]
    k = min(k, len(kept) - 1)
    if k < 1:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, np.empty(0)
    with config_context(working_memory=64):  # megabytes of distances at a time
        search = NearestNeighbors(n_neighbors=k, metric="euclidean", n_jobs=n_jobs).fit(rows)
        distance, target = search.kneighbors()
    source = np.repeat(kept, k)
    target, distance = kept[target.ravel()], distance.ravel().astype(np.float64)
    if metric == "cosine":
        near = distance < np.sqrt(2) * (1 - 1e-6)
        source, target, distance = source[near], target[near], distance[near]
    return source, target, distance


def _weights(
    source: npt.NDArray[np.int64],
    distance: npt.NDArray[np.float64],
    metric: str,
    weights: str | None,
    bandwidth: float | None,
) -> npt.NDArray[np.float32] | None:
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


def _join(source: Any, target: Any, weight: Any, mode: str, ids: NodeIds) -> Graph:
    if mode == "mutual":
        n = len(ids)
        pairs = source * n + target
        back = np.isin(target * n + source, pairs, assume_unique=True)
        source, target = source[back], target[back]
        weight = None if weight is None else weight[back]
    return Graph.from_rows(EdgeList(source, target, weight), ids)
