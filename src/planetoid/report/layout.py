"""The map: which nodes are on it, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.report.nodes import NodeTable
from planetoid.utils.progress import progress

__all__ = ["map_places", "map_rows", "what_is_mapped"]

PERPLEXITY = 30.0
EXAGGERATED, PLAIN = 125, 275  # iterations: pulled together first, then left to themselves
REPORT_EVERY = 25
MAX_DIMENSION = 50  # of what neighbours are looked for in: more cost time and hardly change them
EXACT_UP_TO = 20_000  # rows whose neighbours are searched for one by one
BY_TREE_UP_TO = 8_000  # rows whose repulsion is quicker summed by a tree than by a grid


def map_rows(nodes: NodeTable, max_points: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the rows to be shown, in a random order, so that no class is drawn on top of all others.

    Above ``max_points`` it is a sample, in which every node with a label stays.
    """
    n = len(nodes.ids)
    order = np.random.default_rng(seed).permutation(n)
    if n > max_points:
        labelled = nodes.given[order] >= 0
        room = max(max_points - int(labelled.sum()), 0)
        kept = labelled | (np.cumsum(~labelled) <= room)
        order = order[kept]
    return order


def what_is_mapped(model: Any) -> tuple[npt.NDArray[Any], str]:
    """Return a vector for each node, and what it is.

    That is the embedding, seen by direction. A method without one has class
    probabilities, whose roots are taken: their distance is Hellinger's.
    """
    from sklearn.preprocessing import normalize

    embedding = getattr(model, "embedding_", None)
    if embedding is not None:
        return normalize(np.asarray(embedding, dtype=np.float32)), "embedding"
    return np.sqrt(np.asarray(model.label_distributions_, dtype=np.float32)), "class probabilities"


def map_places(
    vectors: npt.NDArray[Any], *, seed: int = 0, n_jobs: int = 1, verbose: int = 0
) -> npt.NDArray[np.float64]:
    """Return a place in the plane for each vector, by t-SNE.

    The same seed gives the same map, for any ``n_jobs``.

    Examples
    --------
    >>> corners = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(0, 0.05, (60, 3))
    >>> places = map_places(corners)
    >>> places.shape
    (60, 2)
    """
    n = len(vectors)
    if n < 4 or not np.ptp(vectors, axis=0).any():
        return _on_a_circle(n)
    from openTSNE import TSNE
    from openTSNE.affinity import PrecomputedAffinities, joint_probabilities_nn

    components = _components(vectors, seed)
    perplexity = min(PERPLEXITY, (n - 1) / 3)
    neighbours, distances = _neighbours(components, int(min(n - 1, 3 * perplexity)), seed, n_jobs)
    affinities = PrecomputedAffinities(
        joint_probabilities_nn(neighbours, distances, [perplexity], n_jobs=n_jobs), normalize=False
    )
    with progress("map of the nodes", EXAGGERATED + PLAIN, verbose) as advance:
        layout = TSNE(
            early_exaggeration_iter=EXAGGERATED,
            n_iter=PLAIN,
            initialization=_start(components, seed),
            negative_gradient_method="fft" if n > BY_TREE_UP_TO else "bh",
            theta=0.9,
            random_state=seed,
            n_jobs=n_jobs,
            callbacks=[lambda *_: advance(REPORT_EVERY)],
            callbacks_every_iters=REPORT_EVERY,
        ).fit(affinities=affinities)
    return _turned(np.asarray(layout, dtype=np.float64))


def _components(vectors: npt.NDArray[Any], seed: int) -> npt.NDArray[np.float32]:
    """Return the vectors in the axes along which they differ most."""
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    count = min(MAX_DIMENSION, *vectors.shape)
    with threadpool_limits(1):  # sums in one order, whatever the machine
        turned = PCA(count, svd_solver="covariance_eigh", random_state=seed).fit_transform(vectors)
    return np.ascontiguousarray(turned, dtype=np.float32)


def _neighbours(
    vectors: npt.NDArray[np.float32], count: int, seed: int, n_jobs: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if len(vectors) <= EXACT_UP_TO:
        from sklearn.neighbors import NearestNeighbors

        distances, found = (
            NearestNeighbors(n_neighbors=count, algorithm="brute", n_jobs=n_jobs).fit(vectors).kneighbors()
        )
        return found, distances
    from openTSNE.nearest_neighbors import Annoy

    # One thread: Annoy gives each thread a generator of its own, and another number of them another map.
    index = Annoy(vectors, count, metric="euclidean", n_jobs=1, random_state=seed)
    found, distances = index.build()
    return found, distances


def _start(components: npt.NDArray[np.float32], seed: int) -> npt.NDArray[np.float64]:
    """Return the two main axes, small, with a little noise that takes apart what is equal."""
    start = np.zeros((len(components), 2))
    width = min(2, components.shape[1])
    start[:, :width] = components[:, :width]
    start *= 1e-4 / start[:, 0].std()
    return start + np.random.default_rng(seed).normal(0, 1e-6, start.shape)


def _turned(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the map with its longer side across, as screens are."""
    places = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(places.T @ places)
    axes = axes[:, ::-1]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return np.asarray(places @ axes)


def _on_a_circle(n: int) -> npt.NDArray[np.float64]:
    """Return places for nodes that nothing tells apart."""
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.column_stack([np.cos(angle), np.sin(angle)])
