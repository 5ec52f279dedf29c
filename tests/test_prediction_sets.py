"""Prediction sets: thresholds, coverage, and what a model without calibration says."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

import planetoid as pl
from planetoid.baselines.reference import with_labels_beside
from planetoid.calibration import Calibration, Reference, Sample
from planetoid.errors import DataError, ParameterError
from planetoid.prediction_sets import LEVELS, members, node_sets, thresholds


def drawn(rng, n, n_classes=5):
    """Probabilities, and labels drawn from others: the probabilities are wrong."""
    logits = rng.normal(size=(n, n_classes)) * 2
    true = np.exp(log_softmax(logits * 0.6, axis=1))
    return log_softmax(logits, axis=1), (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_sets_cover_as_often_as_stated_even_if_probabilities_are_wrong(alpha):
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(200):
        scores, codes = drawn(rng, 50)
        levels = thresholds(Sample.of_labels(scores, codes, "validation labels"), Calibration("validation labels"))
        new, truth = drawn(rng, 200)
        covered.append(members(np.exp(new), levels, alpha)[np.arange(200), truth].mean())
    assert 1 - alpha - 0.01 < np.mean(covered) < 1 - alpha + 0.03


def test_probabilities_in_the_place_of_labels_count_by_their_size():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(20_000, 4))
    probabilities = np.exp(log_softmax(logits, axis=1))
    sample = Sample.of_reference(probabilities, Reference(probabilities, probabilities[:0], probabilities[:0], 10_000))
    found = members(probabilities, thresholds(sample, Calibration("reference")), 0.1)
    assert (probabilities * found).sum(axis=1).mean() == pytest.approx(0.9, abs=0.01)


def test_a_smaller_alpha_makes_larger_sets_and_no_set_is_empty():
    rng = np.random.default_rng(2)
    scores, codes = drawn(rng, 100)
    levels = thresholds(Sample.of_labels(scores, codes, "leave-one-out"), Calibration("leave-one-out"))
    assert len(levels) == LEVELS + 1
    assert (np.diff(levels) <= 0).all()
    sets = [members(np.exp(scores), levels, alpha) for alpha in (0.5, 0.1, 0.001)]
    assert all((larger >= smaller).all() for smaller, larger in itertools.pairwise(sets))
    assert sets[0].any(axis=1).all()
    assert sets[-1].all()  # 100 labels cannot support a coverage of 0.999


def test_a_model_predicts_sets_of_fitted_nodes_and_new_rows_also_when_loaded(tmp_path):
    data = pl.datasets.make_citation(n_nodes=600, n_classes=4, n_features=80, seed=3)
    split = data.split("random", per_class=20, n_val=0, n_test=400, seed=0)
    model = pl.Feat().fit(data.X, pl.mask_labels(data.y, split.train))
    sets = model.predict_set(alpha=0.1)
    assert sets.shape == (600, 4)
    assert 0.8 < sets[split.test, data.y[split.test]].mean() <= 1
    np.testing.assert_array_equal(model.predict_set(nodes=[5, 7]), sets[[5, 7]])
    np.testing.assert_array_equal(model.predict_set(data.X[:9]), sets[:9])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_set(), sets)
    with pytest.raises(ParameterError, match=r"alpha must be a number in \(0, 1\), got 1.5"):
        model.predict_set(alpha=1.5)


def test_raw_probabilities_have_no_sets():
    data = pl.datasets.make_citation(n_nodes=200, n_classes=3, seed=1)
    model = pl.Feat(calibrate=False).fit(data.X, data.y)
    with pytest.raises(DataError, match="without the labels that prediction sets are chosen by"):
        model.predict_set()


def reference_of(rng, probabilities, n_labels, *, n_classes):
    """A reference whose hidden labels are drawn from its own probabilities."""
    hidden = probabilities[rng.integers(0, len(probabilities), n_labels)]
    codes = (hidden.cumsum(axis=1) < rng.random((n_labels, 1))).sum(axis=1)
    return Reference(probabilities, hidden, np.eye(n_classes)[codes], n_labels, share=0.6)


def test_sets_of_nodes_cover_as_often_as_stated_if_the_reference_is_right():
    """Also if the method itself says something else."""
    rng = np.random.default_rng(4)
    true = np.exp(log_softmax(rng.normal(size=(4_000, 4)) * 2, axis=1))
    said = np.exp(log_softmax(np.log(true) * 0.3 + rng.normal(size=true.shape), axis=1))
    scores, levels = node_sets(said, reference_of(rng, true, 5_000, n_classes=4), np.ones(4_000, bool))
    for alpha in (0.3, 0.1, 0.03):
        found = members(said, levels, alpha, scores)
        by_score = scores >= levels[round((1 - alpha) * LEVELS)]
        assert (true * by_score).sum(axis=1).mean() == pytest.approx(1 - alpha, abs=0.01)
        assert found[np.arange(4_000), said.argmax(axis=1)].all()  # the predicted class is always there
        assert (found == by_score)[np.arange(4_000), true.argmax(axis=1)].all()


@pytest.mark.parametrize(("n_labels", "alpha", "size"), [(20, 0.2, 1), (20, 0.15, 2), (80, 0.2, 2), (5, 0.15, 1)])
def test_a_level_is_between_what_is_expected_and_what_hidden_labels_ask_for(n_labels, alpha, size):
    """The reference is sure of each node, and right about half of the labels that it was not shown."""
    sure = np.tile([0.9, 0.1], (1_000, 1))
    hidden, labels = np.tile([0.9, 0.1], (100, 1)), np.eye(2)[[0, 1] * 50]
    scores, levels = node_sets(sure, Reference(sure, hidden, labels, n_labels, share=0.6), np.ones(1_000, bool))
    # By the labels, any of these coverages needs the second class (level 1); by the reference, 0.8 and 0.85 do not.
    # 20 labels count half: the levels are 0.9 and 0.925, of which the first class has 0.9; 80 labels make it 0.96 for
    # a coverage of 0.8, and 5 make it 0.88 for one of 0.85.
    assert members(sure, levels, alpha, scores).sum(axis=1).tolist() == [size] * 1_000


def test_sets_by_a_mean_of_two_methods_are_smaller_than_those_of_either():
    """Both see the logits of the labels, each with errors of its own."""
    rng = np.random.default_rng(6)
    logits = rng.normal(size=(20_000, 4)) * 2
    truth = (np.exp(log_softmax(logits, axis=1)).cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    one, other = (np.exp(log_softmax((logits + rng.normal(0, 0.5, logits.shape)) * 0.94, axis=1)) for _ in range(2))
    reference = Reference(other, other[:2_000], np.eye(4)[truth[:2_000]], 2_000)
    scores, levels = node_sets(one, reference, np.ones(20_000, bool))
    rows = np.arange(20_000)
    assert 0.89 < members(one, levels, 0.1, scores)[rows, truth].mean() < 0.93
    sizes = [(said >= np.quantile(said[rows, truth], 0.1)).sum(axis=1).mean() for said in (scores, one, other)]
    assert sizes[0] < 0.99 * min(sizes[1:])  # at the same coverage
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)


def test_a_further_opinion_moves_the_scores():
    said = np.tile([0.5, 0.3, 0.2], (40, 1))
    hidden, labels = said[:10], np.eye(3)[[0] * 10]
    opinion = np.zeros((40, 3), np.float32)
    opinion[20:, 2] = np.log(4)
    reference = Reference(said, hidden, labels, 10, agreement=1.0, opinion=lambda: opinion)
    scores, _ = node_sets(said, reference, np.ones(40, bool))
    np.testing.assert_allclose(scores[:20], said[:20], rtol=1e-6)
    np.testing.assert_allclose(scores[20:], np.tile([0.5, 0.3, 0.8], (20, 1)) / 1.6, rtol=1e-6)
    softer, _ = node_sets(said, reference._replace(agreement=2.0), np.ones(40, bool))
    np.testing.assert_allclose(
        softer[20:], np.sqrt(scores[20:]) / np.sqrt(scores[20:]).sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_methods_agree_only_where_both_say_something():
    said = np.tile([0.7, 0.2, 0.1], (40, 1)).astype(np.float32)
    known = said.copy()
    known[20:] = 0.0
    reference = Reference(known, said, np.tile(np.eye(3)[:1], (40, 1)), 40, agreement=0.5)
    scores, _ = node_sets(said, reference, np.ones(40, bool))
    np.testing.assert_allclose(scores[20:], said[20:], rtol=1e-5)
    np.testing.assert_allclose(scores[:20], said[:20] ** 2 / (said[:20] ** 2).sum(axis=1, keepdims=True), rtol=1e-5)


def test_propagated_labels_have_a_say_in_the_sets_of_propagated_features():
    data = pl.datasets.make_citation(n_nodes=1000, n_classes=4, n_features=80, seed=3)
    y = pl.mask_labels(data.y, data.split("random", per_class=15, n_val=0, n_test=600, seed=0).train)
    model = pl.PropagatedFeatures().fit(data.X, y, graph=data.graph)
    assert model.calibration_.source == "leave-one-out"
    found = model.set_scores_ / model.label_distributions_
    assert np.ptp(found, axis=1).mean() > 0.01  # not by probabilities alone
    alone = pl.PropagatedFeatures().fit(data.X, y, graph=pl.Graph.from_edges([], [], nodes=range(data.n_nodes)))
    assert not hasattr(alone, "set_scores_")  # no edges, no propagated labels


@pytest.mark.parametrize(("n_labels", "expected"), [(10, 1.145), (40, 1.145), (60, 1.045 + 4 / 60), (400, 1.055)])
def test_few_labels_make_the_sets_of_propagated_features_less_certain(n_labels, expected):
    data = pl.datasets.make_citation(n_nodes=1000, n_classes=4, n_features=80, seed=3)
    sample = Sample.of_labels(np.log(np.full((n_labels, 4), 0.25)), np.arange(n_labels) % 4, "leave-one-out")
    beside = with_labels_beside(sample, replace(data, y=pl.mask_labels(data.y, np.arange(n_labels))))
    assert beside.reference.agreement == pytest.approx(expected)


def test_a_method_that_says_little_leaves_the_sets_to_the_reference():
    rng = np.random.default_rng(7)
    true = np.exp(log_softmax(rng.normal(size=(4_000, 4)) * 2, axis=1))
    flat = np.exp(log_softmax(rng.normal(size=(4_000, 4)) * 0.1, axis=1))
    reference = reference_of(rng, true, 5_000, n_classes=4)._replace(share=None)
    scores, levels = node_sets(flat, reference, np.ones(4_000, bool))
    np.testing.assert_allclose(scores, true, atol=0.04)
    assert (true * (scores >= levels[900])).sum(axis=1).mean() == pytest.approx(0.9, abs=0.02)


def test_where_the_reference_knows_nothing_a_method_goes_by_its_own_probabilities():
    rng = np.random.default_rng(5)
    said = np.exp(log_softmax(rng.normal(size=(50, 3)), axis=1))
    known = np.zeros_like(said)
    known[:25] = said[:25]
    scores, levels = node_sets(
        said, reference_of(rng, said, 100, n_classes=3)._replace(probabilities=known), said[:, 0] > 0
    )
    np.testing.assert_allclose(scores, said, rtol=1e-6)
    assert (np.diff(levels) <= 0).all()
    assert members(said, levels, 1e-4, scores).all()


def test_sets_of_fitted_nodes_by_a_reference_are_those_of_a_loaded_model(tmp_path):
    data = pl.datasets.make_citation(n_nodes=600, n_classes=4, n_features=80, seed=3)
    split = data.split("random", per_class=20, n_val=0, n_test=400, seed=0)
    model = pl.ManifoldRegularization().fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert model.calibration_.source == "reference"
    sets = model.predict_set(alpha=0.1)
    assert 0.85 < sets[split.test, data.y[split.test]].mean() < 0.99
    plain = members(model.predict_proba(), model.set_thresholds_, 0.1)
    assert sets[split.test].sum() < plain[split.test].sum()  # the graph makes them smaller
    np.testing.assert_array_equal(model.predict_set(nodes=[5, 7]), sets[[5, 7]])
    np.testing.assert_array_equal(model.predict_set(data.X[:9]), plain[:9])  # new rows have no reference
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_set(), sets)
    saved = pl.persistence.SavedModel(tmp_path / "model")
    np.testing.assert_array_equal(members(saved.probabilities, saved.node_set_thresholds, 0.1, saved.set_scores), sets)
    y = pl.mask_labels(data.y, split.train)
    model.fit(data.X, y, graph=data.graph, validation=pl.mask_labels(data.y, split.test))
    assert not hasattr(model, "set_scores_")  # split-conformal, by validation labels
