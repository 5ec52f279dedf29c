"""What the generators plant can be found again."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.datasets import make_citation, make_coordinate_lists
from planetoid.errors import ParameterError


def same_class(data):
    source = np.repeat(np.arange(data.n_nodes), np.diff(data.graph.indptr))
    return (data.y[source] == data.y[data.graph.indices]).mean()


@pytest.mark.parametrize("homophily", [0.0, 0.25, 0.8, 1.0])
@pytest.mark.parametrize("exponent", [None, 3.0])
def test_homophily_is_planted(homophily, exponent):
    data = make_citation(3000, 4, 100, homophily=homophily, mean_degree=6, degree_exponent=exponent, seed=1)
    spread = 4 * np.sqrt(max(homophily * (1 - homophily), 1e-9) / data.graph.n_edges)
    # merging repeated edges takes a little more from where edges are dense, within classes
    assert same_class(data) == pytest.approx(homophily, abs=spread + 0.01 * homophily * (homophily < 1))


def test_edges_are_exact_and_distinct():
    data = make_citation(1000, 3, 60, mean_degree=5)
    assert data.graph.n_edges == data.graph.summary.entries == 2500


def test_degrees_are_heavy_tailed_or_not():
    heavy = make_citation(5000, 5, 50, mean_degree=6, degree_exponent=2.5).graph.degrees
    even = make_citation(5000, 5, 50, mean_degree=6, degree_exponent=None).graph.degrees
    assert heavy.max() > 60
    assert even.max() < 25  # Poisson with mean 6


def test_isolated_share():
    data = make_citation(1000, 3, 60, mean_degree=20, isolated=0.25)
    assert (data.graph.degrees == 0).sum() == 250


def test_classes_are_even_and_words_are_of_the_class():
    data = make_citation(2000, 4, 400, informative=1.0, words_per_node=10)
    assert np.bincount(data.y).tolist() == [500] * 4
    row, column = data.X.nonzero()
    assert (column // 100 == data.y[row]).all()
    assert set(data.X.data.tolist()) == {1.0}
    assert (np.diff(data.X.indptr) >= 1).all()


def test_words_per_node_and_informative_share():
    data = make_citation(4000, 4, 4000, informative=0.4, words_per_node=12)
    row, column = data.X.nonzero()
    assert data.X.nnz / 4000 == pytest.approx(12, abs=0.3)  # a few repeats are merged
    assert (column // 1000 == data.y[row]).mean() == pytest.approx(0.4 + 0.6 / 4, abs=0.01)


def test_label_rate_makes_the_public_split():
    data = make_citation(1000, 5, 100, label_rate=0.03)
    assert np.bincount(data.y[data.public.train]).tolist() == [6] * 5
    assert len(data.public.test) == 970


def test_seeds():
    one, again, other = (make_citation(300, 3, 30, seed=seed) for seed in (5, 5, 6))
    assert one.graph == again.graph
    assert (one.X != again.X).nnz == 0
    assert one.graph != other.graph


@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")  # isolated nodes get the prior
def test_methods_find_the_planted_classes_as_the_knobs_say():
    def accuracy(**knobs):
        data = make_citation(1200, 3, 300, mean_degree=8, seed=2, **knobs)
        y, test = pl.mask_labels(data.y, data.public.train), data.public.test
        lp = pl.LabelPropagation().fit(y=y, graph=data.graph).predict()[test]
        feat = pl.Feat().fit(data.X, y).predict()[test]
        return (lp == data.y[test]).mean(), (feat == data.y[test]).mean()

    graph_only = accuracy(homophily=0.95, informative=0.0)
    words_only = accuracy(homophily=1 / 3, informative=0.8)
    assert graph_only[0] > 0.85
    assert graph_only[1] < 0.45
    assert words_only[0] < 0.45
    assert words_only[1] > 0.85


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("homophily", {"homophily": 1.5}),
        ("n_classes", {"n_classes": 1}),
        ("n_features", {"n_features": 2}),
        ("degree_exponent", {"degree_exponent": 2}),
        ("mean_degree", {"mean_degree": -1}),
        ("distinct edges", {"n_nodes": 10, "mean_degree": 20}),
        ("distinct edges", {"isolated": 1.0}),
        ("rate", {"label_rate": 0}),
    ],
)
def test_impossible_knobs_are_named(name, knobs):
    with pytest.raises(ParameterError, match=name):
        make_citation(**{"n_nodes": 100, "n_classes": 4, "n_features": 20, **knobs})


@pytest.fixture(scope="module")
def lists():
    return make_coordinate_lists(0.01, seed=3)


def test_size_is_diels_to_scale(lists):
    assert lists.n_nodes == round(4_373_008 * 0.01)
    assert lists.graph.n_edges == round(4_464_261 * 0.01)
    assert lists.n_features == round(1_233_598 * 0.01)
    assert lists.k == 2_400
    assert lists.n_classes == 4


def test_lists_and_items_are_two_sides(lists):
    graph, n = lists.graph, lists.n_lists
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    assert ((source < n) != (graph.indices < n)).all()
    assert (graph.degrees > 0).all()


def test_features_are_binary_and_of_lists(lists):
    assert set(lists.X.data.tolist()) == {1.0}
    counts = np.diff(lists.X.indptr)
    assert (counts[: lists.n_lists] >= 1).all()
    assert (counts[lists.n_lists :] == 0).all()
    assert lists.X.has_canonical_format


def test_upper_bound_is_the_coverage(lists):
    assert lists.upper_bound == pytest.approx(0.617, abs=1e-3)
    found = lists.truth_rows[lists.truth_rows >= 0]
    assert (found >= lists.n_lists).all()
    assert len(np.unique(found)) == len(found)
    perfect = np.zeros((lists.n_items, 4))
    perfect[found - lists.n_lists, lists.truth_categories[lists.truth_rows >= 0]] = 1
    assert lists.recall_at_k(perfect) == pytest.approx(lists.upper_bound)


def true_kind(data):
    kind = np.full(data.n_nodes, -1)
    found = data.truth_rows >= 0
    kind[data.truth_rows[found]] = data.truth_categories[found]
    return kind


def test_distant_labels_are_of_lists_and_noisy(lists):
    labelled = np.flatnonzero(lists.y >= 0)
    assert (labelled < lists.n_lists).all()
    assert len(labelled) > 100
    # without noise and with pure lists, a label says what every item of the list is
    clean = make_coordinate_lists(0.01, purity=1.0, seed_noise=0.0, seed=3)
    for data, low, high in ((clean, 1.0, 1.0), (lists, 0.5, 0.99)):
        kind, adjacency = true_kind(data), data.graph.to_scipy()
        rows = np.flatnonzero(data.y >= 0)
        source, item = adjacency[rows].nonzero()
        in_truth = kind[item] >= 0  # seeds are not
        share = (kind[item] == data.y[rows][source])[in_truth].mean()
        assert low <= share <= high


def test_seeds_are_not_to_be_found(lists):
    """A list is labelled because it contains a seed, so not all items of labelled lists are in the truth."""
    clean = make_coordinate_lists(0.01, purity=1.0, seed_noise=0.0, seed=3)
    kind, adjacency = true_kind(clean), clean.graph.to_scipy()
    for row in np.flatnonzero(clean.y >= 0)[:200]:
        assert (kind[adjacency[[row]].indices] == -1).any()


def test_lists_that_mention_an_item_share_features():
    data = make_coordinate_lists(0.01, informative=1.0, purity=0.0, seed=3)  # topics of lists say nothing about items
    adjacency, lists = data.graph.to_scipy(), data.n_lists
    degree = np.diff(adjacency.indptr)
    popular = lists + np.argsort(-degree[lists:])[:30]
    rng = np.random.default_rng(0)

    def overlap(rows):
        rows = rows[:20]
        products = (data.X[rows] @ data.X[rows].T).toarray()
        return products[~np.eye(len(rows), dtype=bool)].mean()

    together = np.mean([overlap(adjacency[[item]].indices) for item in popular])
    apart = np.mean([overlap(rng.choice(lists, 20, replace=False)) for _ in popular])
    assert together > 3 * apart


def test_topics_are_communities_within_a_category(lists):
    """Two lists of one item share more features than two lists of the category."""
    kind, adjacency = true_kind(lists), lists.graph.to_scipy()
    items = np.flatnonzero(kind == 0)
    pairs = [adjacency[[item]].indices[:2] for item in items if adjacency[[item]].nnz >= 2][:200]
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    together = lists.X[one].multiply(lists.X[other]).sum()
    assert together > 1.3 * lists.X[one].multiply(lists.X[np.roll(other, 1)]).sum()


def test_chance_is_far_below_a_method(lists):
    chance = lists.recall_at_k(np.zeros((lists.n_items, 4)))
    assert chance == pytest.approx(lists.upper_bound * lists.k / (4 * lists.n_items), rel=0.01)
    model = pl.Feat().fit(lists.X, lists.y)
    recall = lists.recall_at_k(lists.item_scores(model.predict_proba()))
    assert 5 * chance < recall < lists.upper_bound


def test_lists_seeds_and_knobs():
    one, again, other = (make_coordinate_lists(0.002, seed=seed) for seed in (1, 1, 2))
    assert one.graph == again.graph
    assert (one.X != again.X).nnz == 0
    assert np.array_equal(one.y, again.y)
    assert one.graph != other.graph
    for name, value in (("scale", 0), ("purity", 2), ("coverage", 0), ("features_per_list", 0)):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            make_coordinate_lists(**{"scale": 0.001, name: value})


def test_rows_tell_nothing_about_categories(lists):
    """Neither lists nor items are sorted by kind."""
    kind = true_kind(lists)[lists.n_lists :]
    first, second = kind[: len(kind) // 2], kind[len(kind) // 2 :]
    for category in range(4):
        assert (first == category).sum() == pytest.approx((second == category).sum(), rel=0.25)


class TestMultilabel:
    def test_groups_and_edges_are_as_asked_for(self):
        data = pl.datasets.make_multilabel(500, 8, labels_per_node=1.6, mean_degree=12, seed=2)
        assert data.Y.nnz == 800
        assert np.diff(data.Y.indptr).min() >= 1
        assert data.graph.n_edges == 3000
        again = pl.datasets.make_multilabel(500, 8, labels_per_node=1.6, mean_degree=12, seed=2)
        assert (again.Y != data.Y).nnz == 0
        np.testing.assert_array_equal(again.graph.indices, data.graph.indices)

    def test_contacts_share_a_group_as_often_as_asked_for(self):
        from planetoid.data.summary import count

        alone = count(pl.datasets.make_multilabel(600, 10, within=0.0, seed=1)).edge_homophily
        together = count(pl.datasets.make_multilabel(600, 10, within=0.6, seed=1)).edge_homophily
        assert together == pytest.approx(0.6 + 0.4 * alone, abs=0.05)

    def test_words_tell_groups(self):
        data = pl.datasets.make_multilabel(300, 5, n_features=50, informative=1.0, seed=0)
        words = data.X.toarray().reshape(300, 5, 10).any(axis=2)
        assert not (words & ~data.Y.toarray()).any()
