"""Maps of vectors in the plane by t-SNE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from planetoid.utils.neighbours import nearest_rows
from planetoid.utils.progress import progress
from planetoid.utils.threads import one_blas_thread

if TYPE_CHECKING:
    from openTSNE.nearest_neighbors import KNNIndex

__all__ = ["MANY", "tsne_map"]

PERPLEXITY = 30.0
MANY = 8_000  # rows; above, neighbours are approximate and fewer, and forces are interpolated on a grid (FIt-SNE)
PERPLEXITY_OF_MANY = 10.0
USUAL_INTERVALS, COARSE = 50, 6  # of the grid, at least; units of the map per interval of a coarse one
ITERATIONS_PER_UPDATE = 25  # of the progress bar


def tsne_map(
    vectors: npt.NDArray[np.floating[Any]],
    *,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    early_exaggeration_iter: int = 250,
    n_iter: int = 500,
    theta: float = 0.5,
    intervals: int = 50,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> npt.NDArray[np.float64]:
    """Return coordinates of shape (n, 2) for n vectors, by t-SNE with perplexity 30, or less if they are few or many.

    The same seed gives the same map, for any ``n_jobs``.

    Parameters
    ----------
    vectors : array of shape (n, dimension)
    metric : {"euclidean", "cosine"}
    early_exaggeration_iter, n_iter : int
        Iterations with and without exaggerated attraction.
    theta : float
        Accuracy of the repulsive forces where they are summed by a tree, up to 8,000 vectors; 0 is exact.
    intervals : int
        The same where they are interpolated on a grid: its least number of intervals in each direction. Below 50, the
        grid is not refined as the map grows.
    seed : int
    n_jobs : int
        Threads; -1 uses all cores.
    verbose : int
        Whether to show a progress bar on a terminal.

    Examples
    --------
    >>> corners = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).normal(0, 0.05, (60, 3))
    >>> tsne_map(corners).shape
    (60, 2)
    """
    n, threads = len(vectors), 1 if n_jobs is None else n_jobs
    if n < 4 or not np.ptp(vectors, axis=0).any():
        return _circle(n)
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN

    with one_blas_thread(), progress("map", early_exaggeration_iter + n_iter, verbose) as advance:
        advance(0, f"nearest neighbours of {n:,} nodes")
        perplexity = min(PERPLEXITY if n <= MANY else PERPLEXITY_OF_MANY, (n - 1) / 3)
        start = _start(vectors, seed)
        index = _neighbour_index(vectors, metric, int(3 * perplexity), seed, threads)
        affinities = PerplexityBasedNN(knn_index=index, perplexity=perplexity, n_jobs=threads)
        advance(0, "iterations of t-SNE")
        layout = TSNE(
            early_exaggeration_iter=early_exaggeration_iter,
            n_iter=n_iter,
            initialization=start,
            negative_gradient_method="bh" if n <= MANY else "fft",
            theta=theta,
            min_num_intervals=intervals,
            ints_in_interval=1 if intervals >= USUAL_INTERVALS else COARSE,
            random_state=seed,
            n_jobs=threads,
            callbacks=[lambda *_: advance(ITERATIONS_PER_UPDATE, "iterations of t-SNE")] if verbose else None,
            callbacks_every_iters=ITERATIONS_PER_UPDATE,
        ).fit(affinities=affinities)
    return np.asarray(layout, dtype=np.float64)


def _start(vectors: npt.NDArray[np.floating[Any]], seed: int) -> npt.NDArray[np.float64]:
    """Return the two principal components, scaled down, with a little noise that separates duplicates."""
    from openTSNE.initialization import pca

    if vectors.shape[1] < 2:
        vectors = np.column_stack([vectors, np.zeros(len(vectors), dtype=vectors.dtype)])
    return np.asarray(pca(vectors, random_state=seed), dtype=np.float64)


def _neighbour_index(
    vectors: npt.NDArray[np.floating[Any]], metric: str, count: int, seed: int, threads: int
) -> KNNIndex:
    from openTSNE.nearest_neighbors import PrecomputedNeighbors, Sklearn

    if len(vectors) <= MANY:
        return Sklearn(vectors, count, metric, n_jobs=threads, random_state=seed, knn_kwargs={"algorithm": "brute"})
    if metric == "cosine":  # for rows of length 1 the Euclidean distance gives the same order as the cosine
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return PrecomputedNeighbors(*nearest_rows(vectors, count, seed=seed))


def _circle(n: int) -> npt.NDArray[np.float64]:
    """Return coordinates for vectors that are all the same."""
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.column_stack([np.cos(angle), np.sin(angle)])
