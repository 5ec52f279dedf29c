"""Which nodes are on the map, and where."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.report.layout import map_places, map_rows, what_is_mapped
from planetoid.report.nodes import node_table


def test_a_sample_keeps_every_labelled_node(cited):
    model, record, _ = cited
    nodes = node_table(model, record)
    labelled = set(np.flatnonzero(nodes.given >= 0).tolist())
    rows = map_rows(nodes, len(labelled) + 20, seed=0)
    assert len(rows) == len(set(rows.tolist())) == len(labelled) + 20
    assert labelled <= set(rows.tolist())
    assert set(map_rows(nodes, 1, seed=0).tolist()) == labelled
    assert sorted(map_rows(nodes, 300, seed=0).tolist()) == list(range(300))
    assert map_rows(nodes, 300, seed=0).tolist() != map_rows(nodes, 300, seed=1).tolist()


def clusters(n_each, n_clusters=4, dimension=8, seed=0):
    generator = np.random.default_rng(seed)
    return np.repeat(3 * np.eye(n_clusters, dimension), n_each, axis=0) + generator.normal(
        0, 0.1, (n_each * n_clusters, dimension)
    )


def test_what_is_close_stays_close():
    places = map_places(clusters(40))
    middles = np.array([part.mean(axis=0) for part in np.split(places, 4)])
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).argmin(axis=1)
    assert (nearest == np.repeat(np.arange(4), 40)).mean() > 0.95


def test_the_same_seed_gives_the_same_map_for_any_number_of_threads():
    vectors = clusters(30)
    first = map_places(vectors, seed=3)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert np.array_equal(first, map_places(vectors, seed=3, n_jobs=2))
    assert not np.array_equal(first, map_places(vectors, seed=4))
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
    ids=["one", "three", "all equal", "five", "two places", "on a line", "mostly zero"],
)
def test_every_input_gives_finite_places(vectors):
    places = map_places(vectors)
    assert places.shape == (len(vectors), 2)
    assert np.isfinite(places).all()


def test_the_grid_is_used_for_many_rows(monkeypatch):
    for name, value in (("BY_TREE_UP_TO", 100), ("EXACT_UP_TO", 100), ("EXAGGERATED", 75), ("PLAIN", 25)):
        monkeypatch.setattr(f"planetoid.report.layout.{name}", value)
    vectors = clusters(60)
    places = map_places(vectors)
    assert np.array_equal(places, map_places(vectors, n_jobs=2))
    middles = np.array([part.mean(axis=0) for part in np.split(places, 4)])
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).argmin(axis=1)
    assert (nearest == np.repeat(np.arange(4), 60)).mean() > 0.95


def test_the_map_lies_on_its_longer_side():
    x, y = map_places(clusters(40, n_clusters=2)).T
    assert x.std() >= y.std()


def test_a_model_without_embedding_is_mapped_by_its_probabilities(cited):
    model, _, _ = cited
    vectors, told = what_is_mapped(model)
    assert told == "embedding"
    assert np.linalg.norm(vectors, axis=1).max() == pytest.approx(1)
    plain = pl.LabelPropagation().fit(y={0: "x", 2: "y"}, graph=[(0, 1), (1, 2)])
    vectors, told = what_is_mapped(plain)
    assert told == "class probabilities"
    assert (vectors**2).sum(axis=1) == pytest.approx(np.ones(3))
