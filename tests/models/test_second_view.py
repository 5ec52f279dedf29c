"""The other view of the graph, where it is almost as reliable as the one that predictions are made from."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.explanation.contributions import LOG_ODDS, Answer, Contributions
from planetoid.models import second_view
from planetoid.models.second_view import SecondView, embedding_opinion, regression_beside, second_share
from planetoid.models.teacher import Verdict
from planetoid.training.softmax_regression import fit_softmax

TABLE = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]], np.float32)


def verdicts(neighbourhood: float, graph: float) -> dict[str, Verdict]:
    return {"neighbourhood": Verdict(0, 0, neighbourhood), "graph": Verdict(0, 0, graph), "features": Verdict(0, 0, 9)}


def test_the_share_falls_with_the_reliability_of_the_other_view():
    shares = [second_share(verdicts(2.0, graph), "neighbourhood", 100) for graph in (2.4, 2.0, 1.9, 1.7, 1.0, 0.0)]
    assert shares[0] == shares[1] == 0.5
    assert sorted(shares, reverse=True) == shares
    assert shares[2] > shares[3] > 0.1
    assert shares[4] == shares[5] == 0.0


def test_a_second_network_needs_labels_and_a_view_that_says_something():
    few, many = (second_share(verdicts(2.0, 2.0), "graph", n_labels) for n_labels in (10, 1000))
    assert few < 0.1 < 0.45 < many
    assert second_share(verdicts(0.04, 0.04), "graph", 1000) == 0.0  # both are chance
    assert second_share({}, "graph", 1000) == second_share(verdicts(2.0, 2.0), "features", 1000) == 0.0


def test_an_opinion_is_as_confident_as_what_it_is_pooled_with():
    timid = np.array([[0.36, 0.33, 0.31], [0.32, 0.36, 0.32]], np.float32)
    second = SecondView.beside(TABLE, timid, 0.5)
    assert np.exp(second.log_probabilities).max(axis=1).mean() == pytest.approx(0.6, abs=1e-3)
    np.testing.assert_array_equal(second.log_probabilities.argmax(axis=1), timid.argmax(axis=1))


def test_log_odds_are_weighted_means_and_so_are_reasons():
    second = SecondView(np.log(TABLE[::-1].copy()), 0.25)
    contrast = np.array([1.0, -1.0, 0.0])
    before, after = (np.log(table[0]) @ contrast for table in (TABLE, second.pooled_with(TABLE)))
    assert after == pytest.approx(0.75 * before + 0.25 * np.log(0.2 / 0.5), abs=1e-6)
    nodes = Contributions("neighbours", np.array([0, 1]), np.array([1.0, before - 1.5]), "", 0.5)
    labels = Contributions("labels", np.array([0]), np.array([2.0]), "")
    answer = second.added_to(Answer(before, LOG_ODDS, [nodes, labels]), 0, contrast)
    assert answer.score == pytest.approx(after, abs=1e-6)
    assert answer.parts[0].base + answer.parts[0].values.sum() == pytest.approx(after, abs=1e-6)
    assert answer.parts[1].base is None
    np.testing.assert_allclose(answer.parts[1].values, [1.5])


def test_an_embedding_is_averaged_around_each_node():
    """Two cliques: a node whose own embedding is that of the other clique has the label of its neighbours."""
    adjacency = sparse.csr_array(np.kron(np.eye(2), 1 - np.eye(8)).astype(np.float32))
    embedding = np.repeat(np.eye(2, dtype=np.float32), 8, axis=0)
    embedding[7] = [0, 1]
    labelled = np.array([0, 1, 8, 9])
    opinion = embedding_opinion(
        sparse.csr_array(embedding), adjacency, labelled, np.array([0, 0, 1, 1]), 2, seed=0, n_threads=1
    )
    np.testing.assert_array_equal(opinion.argmax(axis=1), np.repeat([0, 1], 8))


@pytest.fixture(scope="module")
def citation():
    """A graph whose features and edges say about as much."""
    data = pl.datasets.make_citation(400, seed=1)
    return data, pl.mask_labels(data.y, data.split("random", per_class=10, n_val=0, n_test=200, seed=0).train)


def fitted(citation, reliability, monkeypatch, **parameters):
    """Fit a model that believes its views to be so reliable."""
    from planetoid.models import planetoid as module

    ask = module.Planetoid._ask

    def believed(self, *arguments):
        teacher = ask(self, *arguments)
        return teacher._replace(verdicts=reliability) if teacher.verdicts else teacher

    monkeypatch.setattr(module.Planetoid, "_ask", believed)
    data, y = citation
    training = pl.Consistency(steps=20)
    return pl.Planetoid(training=training, calibrate=False, **parameters).fit(data.X, y, graph=data.graph)


def test_both_views_are_pooled_where_both_are_reliable(citation, monkeypatch):
    with_second = fitted(citation, verdicts(2.0, 1.9), monkeypatch, student=False)
    without = fitted(citation, verdicts(2.0, 0.5), monkeypatch, student=False)
    assert with_second.view_ == "neighbourhood"
    assert without._second_view is None
    expected = with_second._second_view.pooled_with(without.predict_proba())
    np.testing.assert_allclose(with_second.predict_proba(), expected, atol=1e-5)
    y, unlabelled = citation[0].y, citation[1] < 0
    opinion = with_second._second_view.log_probabilities.argmax(axis=1)
    assert (opinion == y)[unlabelled].mean() > 0.6  # by the graph alone


def test_beside_a_network_on_the_graph_another_learns_from_features(citation, monkeypatch):
    class Count(pl.Callback):
        started = 0

        def on_train_begin(self, trainer):
            self.started += 1

    count = Count()
    monkeypatch.setattr("planetoid.models.evidence._most_reliable", lambda reliable, otherwise: list(reliable)[-1])
    model = fitted(citation, verdicts(1.9, 2.0), monkeypatch, student=False, callbacks=[count])
    assert model.view_ == "graph"
    assert 0.1 < model._second_view.share < 0.5
    y, unlabelled = citation[0].y, citation[1] < 0
    assert (model._second_view.log_probabilities.argmax(axis=1) == y)[unlabelled].mean() > 0.6
    assert count.started == 1  # the second network would overwrite checkpoints of the first


def test_saved_models_keep_it(citation, monkeypatch, tmp_path):
    model = fitted(citation, verdicts(2.0, 1.9), monkeypatch)
    model.save(tmp_path / "model")
    again = pl.load(tmp_path / "model")
    np.testing.assert_array_equal(again._second_view.log_probabilities, model._second_view.log_probabilities)
    assert again._second_view.share == model._second_view.share


def test_a_regression_is_that_of_graph_embedding():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 8)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    codes, labelled = np.arange(20) % 4, np.arange(20)
    probabilities = rng.dirichlet(np.ones(4), 60).astype(np.float32)
    second = regression_beside(probabilities, sparse.csr_array(x), labelled, codes)
    expected = fit_softmax(x[labelled], codes, 4, 3 * 4**2 / 20).probabilities(x)
    np.testing.assert_array_equal(second.log_probabilities.argmax(axis=1), expected.argmax(axis=1))
    assert second.share == second_view.REGRESSION_SHARE
    confidence = np.exp(second.log_probabilities).max(axis=1).mean()
    assert confidence == pytest.approx(probabilities.max(axis=1).mean(), abs=1e-3)
    assert regression_beside(probabilities, sparse.csr_array(x), labelled[:4], codes[:4]) is None  # a label per class
    few = regression_beside(probabilities, sparse.csr_array(x), labelled[:6], codes[:6])  # one and a half
    assert few.share == pytest.approx(second_view.REGRESSION_SHARE / 2)


@pytest.mark.parametrize(("least", "share"), [(5, second_view.REGRESSION_SHARE), (6, 0.0)])
def test_many_classes_without_features_are_pooled_with_a_regression(citation, monkeypatch, least, share):
    monkeypatch.setattr("planetoid.models.planetoid_steps.MANY_CLASSES", least)
    data, y = citation
    assert data.n_classes == 5
    model = pl.Planetoid(training=pl.Consistency(steps=20), calibrate=False).fit(None, y, graph=data.graph)
    assert model.second_share_ == share
    if share:
        monkeypatch.setattr("planetoid.models.planetoid_steps.MANY_CLASSES", 6)
        alone = pl.Planetoid(training=pl.Consistency(steps=20), calibrate=False).fit(None, y, graph=data.graph)
        expected = model._second_view.pooled_with(alone.predict_proba())
        np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-5)
