"""How sure an accuracy is, and whether one method is better than another."""

import numpy as np
import pytest

from planetoid.evaluation.comparison import (
    accuracy_interval,
    f1_interval,
    paired_difference,
    score_label_sets,
    score_labels,
    undecided,
)
from planetoid.evaluation.metrics import multi_label_f1


def scores(right):
    return score_labels([np.arange(len(right))], [np.asarray(right, bool)])


def test_an_interval_covers_the_truth_as_often_as_it_says():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(400):
        low, high = accuracy_interval(scores(rng.random(30) < 0.7))
        hits += low <= 0.7 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_repeating_the_same_labels_does_not_narrow_the_interval():
    right = np.arange(20) < 15
    once = accuracy_interval(scores(right))
    often = accuracy_interval(score_labels([np.arange(20)] * 10, [right] * 10))
    assert often == pytest.approx(once)


def test_splits_that_differ_widen_the_interval():
    narrow = accuracy_interval(score_labels([np.arange(100)] * 2, [np.arange(100) < 50] * 2))
    rows = [np.arange(100), np.arange(100)]
    wide = accuracy_interval(score_labels(rows, [np.arange(100) < 20, np.arange(100) < 80]))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_a_paired_difference_is_sharper_than_two_intervals():
    """Ten labels more on a hundred: the intervals overlap, and yet the difference is clear."""
    better, worse = scores(np.arange(100) < 80), scores(np.arange(100) < 70)
    assert accuracy_interval(worse).high > accuracy_interval(better).low
    difference = paired_difference(better, worse)
    assert difference.mean == pytest.approx(0.1)
    assert difference.is_clear


def test_agreement_on_few_labels_proves_nothing():
    same = paired_difference(scores([1] * 5), scores([1] * 5))
    assert same.mean == 0
    assert same.error > 0.1


def test_methods_that_were_tested_on_other_labels_cannot_be_compared():
    other = score_labels([np.arange(100, 110)], [np.zeros(10, bool)])
    assert not paired_difference(scores([1] * 10), other).is_clear


def test_undecided_methods_come_best_first():
    found = undecided({"a": scores(np.arange(50) < 30), "b": scores(np.arange(50) < 32), "c": scores(np.zeros(50))})
    assert found == ["b", "a"]


def label_sets(truth, predicted):
    truth, predicted = np.asarray(truth, bool), np.asarray(predicted, bool)
    found, sizes = (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)
    return score_label_sets([np.arange(len(truth))], [found], [sizes])


def groups(rng, n=60, noise=0.2):
    """Return labels, the better of which are predicted for nodes that are easy."""
    truth = rng.random((n, 4)) < 0.4
    wrong = rng.random((n, 4)) < noise * 2 * rng.random((n, 1))
    return truth, truth ^ wrong


def test_the_mean_score_of_label_sets_is_micro_f1():
    truth, predicted = groups(np.random.default_rng(0))
    found = label_sets(truth, predicted)
    assert found.share.mean() == pytest.approx(multi_label_f1(truth, predicted).micro)
    assert found.by_split == pytest.approx([multi_label_f1(truth, predicted).micro])


def test_one_label_per_node_is_a_special_case():
    truth, one, other = (np.random.default_rng(seed).integers(0, 3, 50) for seed in range(3))
    sets = [label_sets(np.eye(3)[truth], np.eye(3)[codes]) for codes in (one, other)]
    single = [scores(codes == truth) for codes in (one, other)]
    for several, alone in zip(sets, single, strict=True):
        assert several.share == pytest.approx(alone.share)
        assert f1_interval(several) == pytest.approx(accuracy_interval(alone))
    assert paired_difference(*sets) == pytest.approx(paired_difference(*single))


def test_an_interval_of_micro_f1_covers_it_as_often_as_it_says():
    rng, hits = np.random.default_rng(1), 0
    whole = multi_label_f1(*groups(rng, 100_000)).micro
    for _ in range(400):
        low, high = f1_interval(label_sets(*groups(rng)))
        hits += low <= whole <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_the_error_of_a_difference_of_micro_f1_is_that_of_repeated_samples():
    rng, errors, differences = np.random.default_rng(2), [], []
    for _ in range(300):
        truth, predicted = groups(rng, 200)
        other = predicted ^ (rng.random(truth.shape) < 0.05)
        found = paired_difference(label_sets(truth, predicted), label_sets(truth, other))
        differences.append(found.mean)
        errors.append(found.error)
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.15)


def test_perfect_and_hopeless_label_sets_have_intervals():
    truth = np.eye(3)[np.arange(12) % 3]
    assert f1_interval(label_sets(truth, truth)).high == 1.0
    assert f1_interval(label_sets(truth, truth)).low < 0.9
    assert f1_interval(label_sets(truth, np.roll(truth, 1, axis=1))).low == 0.0
    nothing = f1_interval(label_sets(np.zeros((4, 2)), np.zeros((4, 2))))
    assert nothing.low == 0.0


def test_label_sets_of_several_splits_count_every_node_once():
    truth, predicted = groups(np.random.default_rng(3))
    once = label_sets(truth, predicted)
    found, sizes = (truth & predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)
    often = score_label_sets([np.arange(60)] * 5, [found] * 5, [sizes] * 5)
    assert f1_interval(often) == pytest.approx(f1_interval(once))
