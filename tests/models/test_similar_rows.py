"""Nodes with similar features: how they are found, averaged and joined, and when they count."""

import numpy as np
import pytest
from scipy import sparse
from tests.models.conftest import own_and_similar, planetoid

import planetoid as pl
from planetoid.models import planetoid_steps, similar_rows
from planetoid.models.evidence import neighbours_say_more
from planetoid.models.similar_rows import SimilarRows
from planetoid.models.student import class_probabilities
from planetoid.models.teacher import Teacher, Verdict


def words(n=200, n_words=120, seed=0, share=0.06):
    """Rows of words, the first of which is common, and some of which have none."""
    rng = np.random.default_rng(seed)
    counts = (rng.random((n, n_words)) < share) * rng.integers(1, 4, (n, n_words))
    counts[:, 0] = rng.random(n) < 0.8
    counts[::17] = 0
    return sparse.csr_array(counts, dtype=np.float32)


def test_values_are_averaged_with_those_of_the_rows_nearest_by_rare_columns():
    x, values = words(), np.random.default_rng(1).random((200, 3)).astype(np.float32)
    similar = SimilarRows(x, 0.6)
    expected = own_and_similar(values, values, x, x, 0.6, without_itself=True)
    np.testing.assert_allclose(similar.averaged(values), expected, rtol=1e-4)
    np.testing.assert_array_equal(similar.averaged(values)[::17], values[::17])  # which have no features


def test_values_of_other_rows_are_averaged_with_those_of_fitted_rows():
    x, new = words(), words(40, seed=5)
    weights = np.random.default_rng(1).random((x.shape[1], 3)).astype(np.float32)
    own = np.asarray(new @ weights)
    found = SimilarRows(x, 0.6).averaged_for(new, own, lambda rows: np.asarray(rows @ weights))
    expected = own_and_similar(own, np.asarray(x @ weights), new, x, 0.6)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_of_equally_similar_rows_those_with_lower_numbers_are_nearest():
    x = sparse.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (40, 1)), dtype=np.float32)
    nearest = SimilarRows(x, 0.6).nearest()
    assert nearest[0].tolist() == list(range(2, 62, 2))
    assert nearest[1].tolist() == list(range(3, 63, 2))


def test_a_row_of_negative_products_is_similar_to_none():
    x = sparse.csr_array(np.array([[1.0, 2.0, 0.0], [-1.0, -2.0, 0.0], [0.0, 0.0, 1.0]]), dtype=np.float32)
    assert (SimilarRows(x, 0.6).nearest() < 0).all()


def test_rows_that_are_near_each_other_are_joined():
    x = words()
    nearest = SimilarRows(x, 0.6).nearest()[:, :10]
    ring = sparse.csr_array(np.roll(np.eye(200), 1, axis=0) * 3.0, dtype=np.float32)
    ring = sparse.csr_array(ring + ring.T)
    added = (SimilarRows(x, 0.6).joined(ring) - ring).toarray()
    for one in range(200):
        mutual = [other for other in nearest[one] if other >= 0 and one in nearest[other]]
        assert sorted(np.flatnonzero(added[one])) == sorted(mutual)
    np.testing.assert_allclose(added[added != 0], 0.2 * 3.0, rtol=1e-6)


def test_few_columns_or_too_many_products_are_not_searched(monkeypatch):
    assert SimilarRows.of(words(n_words=120)).share == pytest.approx(0.7)
    assert SimilarRows.of(words(n=1000, n_words=100)).share == pytest.approx(0.7 * 5 * 100 / 941)
    assert SimilarRows.of(words(n=1000, n_words=20, share=0.3)) is None
    monkeypatch.setattr(similar_rows, "MOST_PRODUCTS", 10_000)
    assert SimilarRows.of(words()) is None


def test_they_count_as_far_as_features_are_as_reliable_as_the_graph():
    def rival(of_features, of_graph):
        verdicts = {"features": Verdict(0, 0, of_features), "graph": Verdict(0, 0, of_graph)}
        return Teacher("neighbourhood", None, 0.5, None, verdicts).features_rival_graph(0.5, 1.0)

    assert [rival(0.5, 1.0), rival(0.75, 1.0), rival(2.0, 1.0)] == [0.0, 0.5, 1.0]
    assert [rival(-0.2, 1.0), rival(0.2, -0.1)] == [0.0, 1.0]
    assert Teacher("neighbourhood", None, 0.5, None, {}).features_rival_graph(0.5, 1.0) == 1.0
    similar = SimilarRows(words(), 0.6)
    assert similar.weighted(0.5).share == pytest.approx(0.3)
    assert similar.weighted(0.1) is None


@pytest.fixture(scope="module")
def sparse_graph():
    """Few edges, many of them between classes, and words that tell the classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 900)
    chance = np.where(np.arange(240)[None] // 40 == truth[:, None], 0.12, 0.02)
    X = sparse.csr_array(rng.random(chance.shape) < chance, dtype=np.float32)
    source, target = rng.integers(0, 900, (2, 700))
    alike = np.array([rng.choice(np.flatnonzero(truth == truth[one])) for one in source])
    target = np.where(rng.random(700) < 0.4, alike, target)
    labelled = np.concatenate([np.flatnonzero(truth == k)[:20] for k in range(6)])
    return X, truth, labelled, pl.Graph.from_edges(source[source != target], target[source != target], nodes=900)


def test_similar_nodes_are_joined_where_left_out_labels_say_so(sparse_graph):
    X, truth, labelled, graph = sparse_graph
    y = pl.mask_labels(truth, labelled)
    model = pl.Planetoid(view="neighbourhood", student=False).fit(X, y, graph=graph)
    added = model._network.contexts.adjacency.nnz - graph.to_scipy().nnz
    assert added > 900
    test = np.setdiff1d(np.arange(900), labelled)
    found = (model.predict()[test] == truth[test]).mean()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planetoid_steps, "neighbours_say_more", lambda *_: False)
        other = pl.Planetoid(view="neighbourhood", student=False).fit(X, y, graph=graph)
    assert other._network.contexts.adjacency.nnz == graph.to_scipy().nnz
    assert found > (other.predict()[test] == truth[test]).mean() + 0.05


def test_the_graph_says_more_only_if_clearly_more_labels_are_found(sparse_graph):
    X, truth, labelled, graph = sparse_graph
    adjacency = graph.to_scipy().astype(np.float32)
    better = SimilarRows(X, 0.7).joined(adjacency)
    codes = truth[labelled]
    assert neighbours_say_more(X, adjacency, better, labelled, codes, 6)
    assert not neighbours_say_more(X, better, adjacency, labelled, codes, 6)
    assert not neighbours_say_more(X, adjacency, adjacency, labelled, codes, 6)


def test_own_predictions_of_a_model_are_averaged_and_saved(sparse_graph, tmp_path):
    X, truth, labelled, graph = sparse_graph
    model = planetoid(view="neighbourhood").fit(X, pl.mask_labels(truth, labelled), graph=graph)
    predictions = model._context_predictions
    rows = sparse.csr_array(model._inputs.scaled(X))
    alone = class_probabilities(predictions.layers, rows)
    expected = own_and_similar(alone, alone, rows, rows, predictions.similar.share, without_itself=True)
    np.testing.assert_allclose(predictions.own, expected, atol=1e-5)
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    assert loaded._context_predictions.similar.share == predictions.similar.share
    edges = [(900, 3), (900, 8)]
    np.testing.assert_allclose(
        loaded.predict_proba(X[:1], edges=edges), model.predict_proba(X[:1], edges=edges), rtol=1e-5
    )


@pytest.mark.parametrize("rival", [0.0, 0.5, 1.0])
def test_the_student_learns_final_predictions_as_far_as_features_rival_the_graph(sparse_graph, monkeypatch, rival):
    X, truth, labelled, graph = sparse_graph
    monkeypatch.setattr(Teacher, "features_rival_graph", lambda self, least, most: rival)
    learned = []
    distil = planetoid_steps.distil
    monkeypatch.setattr(
        planetoid_steps,
        "distil",
        lambda x, p, *rest, **options: learned.append((p, options)) or distil(x, p, *rest, **options),
    )
    model = planetoid(view="neighbourhood", student=True, calibrate=False)
    model.fit(X, pl.mask_labels(truth, labelled), graph=graph)
    of_contexts, options = learned[0]
    assert options["effort"] == (1.0 if rival == 0 else 0.5)
    if rival == 0:
        assert len(learned) == 1
        assert model._student.layers is model._context_predictions.layers
    else:
        mean = (1 - rival) * np.log(of_contexts) + rival * np.log(model.predict_proba())
        expected = np.exp(mean) / np.exp(mean).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(learned[1][0], expected, atol=1e-4)
        assert learned[1][1]["effort"] == 1.0
