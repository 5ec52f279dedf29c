"""Maps keep what is close close, and are the same again."""

import numpy as np
import pytest

from planetoid.utils.tsne import tsne_map

SHORT = {"early_exaggeration_iter": 25, "n_iter": 25}


def clusters(size, n_clusters=4, dimension=8, seed=0):
    noise = np.random.default_rng(seed).normal(0, 0.1, (size * n_clusters, dimension))
    return np.repeat(3 * np.eye(n_clusters, dimension), size, axis=0) + noise


def share_nearest_to_its_own_centre(coordinates, n_clusters):
    size = len(coordinates) // n_clusters
    centres = np.array([part.mean(axis=0) for part in np.split(coordinates, n_clusters)])
    nearest = np.linalg.norm(coordinates[:, None] - centres, axis=2).argmin(axis=1)
    return (nearest == np.repeat(np.arange(n_clusters), size)).mean()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_clusters_stay_together(metric):
    assert share_nearest_to_its_own_centre(tsne_map(clusters(40), metric=metric), 4) > 0.95


def test_cosine_does_not_depend_on_length():
    vectors = clusters(20)
    longer = vectors * np.random.default_rng(0).uniform(1, 9, (len(vectors), 1))
    assert share_nearest_to_its_own_centre(tsne_map(longer, metric="cosine"), 4) > 0.95


def test_the_same_seed_gives_the_same_map_for_any_number_of_threads():
    vectors = clusters(30)
    first = tsne_map(vectors, seed=3, **SHORT)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert np.array_equal(first, tsne_map(vectors, seed=3, n_jobs=2, **SHORT))
    assert not np.array_equal(first, tsne_map(vectors, seed=4, **SHORT))
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize(
    "vectors",
    [
        np.eye(1),
        np.eye(3),
        np.ones((50, 5)),
        np.eye(5),
        np.repeat(np.eye(2), 200, axis=0),
        np.linspace(0, 1, 30)[:, None],
        np.vstack([np.zeros((100, 4)), np.eye(4)]),
    ],
    ids=["one", "three", "all equal", "five", "two positions", "one dimension", "mostly zero"],
)
def test_every_input_gives_finite_coordinates(vectors):
    coordinates = tsne_map(vectors)
    assert coordinates.shape == (len(vectors), 2)
    assert np.isfinite(coordinates).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_neighbours_and_the_grid_for_many_rows(monkeypatch, metric):
    monkeypatch.setattr("planetoid.utils.tsne.MANY", 100)
    vectors = clusters(60)
    iterations = {"early_exaggeration_iter": 40, "n_iter": 10, "metric": metric}
    coordinates = tsne_map(vectors, **iterations)
    assert np.array_equal(coordinates, tsne_map(vectors, **iterations, n_jobs=2))
    assert share_nearest_to_its_own_centre(coordinates, 4) > 0.95
