"""How sure an accuracy is, and whether one method is better than another."""

import numpy as np
import pytest

from planetoid.evaluation.comparison import accuracy_interval, paired_difference, score_labels, undecided


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
