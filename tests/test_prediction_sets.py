"""Prediction sets: thresholds, coverage, and what a model without calibration says."""

import itertools

import numpy as np
import pytest
from scipy.special import log_softmax

import planetoid as pl
from planetoid.calibration import Calibration, Sample
from planetoid.errors import DataError, ParameterError
from planetoid.prediction_sets import LEVELS, members, thresholds


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
    sample = Sample.of_reference(probabilities, probabilities, 10_000)
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
