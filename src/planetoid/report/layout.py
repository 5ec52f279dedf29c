"""The map: which nodes are on it, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.utils.threads import one_blas_thread
from planetoid.utils.tsne import MANY, tsne_map

if TYPE_CHECKING:
    from planetoid.report.model_view import ModelView
    from planetoid.report.nodes import ReportNodes

__all__ = ["MapVectors", "map_coordinates", "map_rows", "map_vectors"]

MAX_DIMENSION = 50  # principal components that neighbours are searched in: more cost time and hardly change them
EARLY_EXAGGERATION, ITERATIONS = 125, 275
FEWER = 0.6  # of these iterations for a map of more than 8,000 nodes
THETA, INTERVALS = 0.9, 25  # coarser than t-SNE's usual 0.5 and 50: faster, and no difference is visible


def map_rows(nodes: ReportNodes, max_points: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the rows of the nodes on the map, in random order, so that no class is drawn on top of the others.

    With more than ``max_points`` nodes it is a sample that includes every labelled node.
    """
    order = np.random.default_rng(seed).permutation(nodes.model.n_nodes)
    if len(order) > max_points:
        labelled = nodes.labels[order] >= 0
        room = max(max_points - int(labelled.sum()), 0)
        order = order[labelled | (np.cumsum(~labelled) <= room)]
    return order


class MapVectors(NamedTuple):
    """A vector per node, and what it is: ``"embedding"`` or ``"class probabilities"``."""

    vectors: npt.NDArray[np.float32]
    kind: str


def map_vectors(model: ModelView) -> MapVectors:
    """Return the vectors that the map is computed from.

    These are the embeddings, normalized to unit length. A method without embeddings is mapped by the square roots of
    its class probabilities, whose Euclidean distance is the Hellinger distance.
    """
    if model.embedding is not None:
        embedding = np.asarray(model.embedding, dtype=np.float32)
        lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
        return MapVectors(embedding / np.maximum(lengths, np.float32(1e-12)), "embedding")
    return MapVectors(np.sqrt(np.asarray(model.probabilities, dtype=np.float32)), "class probabilities")


def map_coordinates(
    vectors: npt.NDArray[np.floating[Any]], *, seed: int = 0, n_jobs: int | None = None, verbose: int = 0
) -> npt.NDArray[np.float64]:
    """Return coordinates of shape (n, 2), by t-SNE of the principal components.

    The same seed gives the same map, for any ``n_jobs``.

    >>> corners = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(0, 0.05, (60, 3))
    >>> map_coordinates(corners).shape
    (60, 2)
    """
    with one_blas_thread():
        return _landscape(_coordinates(vectors, seed, n_jobs, verbose))


def _coordinates(
    vectors: npt.NDArray[np.floating[Any]], seed: int, n_jobs: int | None, verbose: int
) -> npt.NDArray[np.float64]:
    share = 1.0 if len(vectors) <= MANY else FEWER
    return tsne_map(
        _principal_components(vectors),
        early_exaggeration_iter=round(share * EARLY_EXAGGERATION),
        n_iter=round(share * ITERATIONS),
        theta=THETA,
        intervals=INTERVALS,
        seed=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def _principal_components(vectors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """Return the vectors reduced to ``MAX_DIMENSION``."""
    if min(vectors.shape) <= MAX_DIMENSION:
        return np.asarray(vectors, dtype=np.float32)
    from sklearn.decomposition import PCA

    reduced = PCA(MAX_DIMENSION, svd_solver="covariance_eigh").fit_transform(vectors)
    return np.ascontiguousarray(reduced, dtype=np.float32)


def _landscape(coordinates: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the map rotated so that its longer side is horizontal."""
    centred = coordinates - coordinates.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return np.asarray(centred @ axes)
