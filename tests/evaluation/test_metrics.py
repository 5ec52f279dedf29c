"""Metrics against hand-computed values and scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from planetoid.errors import DataError, ParameterError
from planetoid.evaluation import (
    accuracy,
    calibration_bins,
    expected_calibration_error,
    macro_f1,
    multi_label_f1,
    recall_at_k,
)


def test_accuracy_of_labels_of_any_type():
    assert accuracy([0, 1, 2, 2], [0, 1, 1, 2]) == 0.75
    assert accuracy(np.array(["x", "y"], dtype=object), np.array(["y", "y"], dtype=object)) == 0.5


def test_macro_f1_is_the_mean_over_the_true_classes():
    truth, predicted = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2]
    # class 0: 2*2/(3+2) = 0.8; class 1: 2*1/(2+2) = 0.5; class 2: 2*1/(1+2) = 2/3
    assert macro_f1(truth, predicted) == pytest.approx((0.8 + 0.5 + 2 / 3) / 3)
    assert macro_f1(truth, predicted) == pytest.approx(f1_score(truth, predicted, average="macro"))


def test_macro_f1_has_no_term_for_a_class_that_is_never_true():
    # 0: 2*1/(2+1) = 2/3, 1: 1; averaging over the predicted class 7 as well would give 5/9
    assert macro_f1([0, 0, 1], [0, 7, 1]) == pytest.approx((2 / 3 + 1) / 2)


def test_calibration_error_by_hand():
    probabilities = [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]]
    # ten bins: two at 0.9 of which one is right (gap 0.4), two at 0.6 which are both right (gap 0.4)
    assert expected_calibration_error([0, 1, 1, 1], probabilities, [0, 1], n_bins=10) == pytest.approx(0.4)
    # one bin: mean confidence 0.75, accuracy 0.75
    assert expected_calibration_error([0, 1, 1, 1], probabilities, [0, 1], n_bins=1) == pytest.approx(0.0)


def test_calibration_error_of_certain_predictions():
    certain = np.eye(2)[[0, 1, 1]]
    assert expected_calibration_error(["a", "b", "b"], certain, ["a", "b"]) == 0.0
    assert expected_calibration_error(["b", "a", "a"], certain, ["a", "b"]) == 1.0


def test_calibration_error_vanishes_for_calibrated_probabilities():
    rng = np.random.default_rng(0)
    first = rng.random(200_000)
    truth = np.where(rng.random(len(first)) < first, 0, 1)
    error = expected_calibration_error(truth, np.column_stack([first, 1 - first]), [0, 1])
    assert error < 0.01


def test_calibration_bins_by_hand():
    low, high = calibration_bins([True, False, True, True], [0.55, 0.6, 0.6, 0.95], n_bins=10)
    assert (low.low, low.high, low.count) == (0.5, 0.6, 3)  # the upper end belongs to the bin
    assert low.confidence == pytest.approx((0.55 + 0.6 + 0.6) / 3)
    assert low.accuracy == pytest.approx(2 / 3)
    assert (high.low, high.high, high.count, high.confidence, high.accuracy) == (0.9, 1.0, 1, 0.95, 1.0)


def test_calibration_bins_agree_with_the_error():
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(4), size=500)
    truth = rng.integers(0, 4, 500)
    bins = calibration_bins(table.argmax(axis=1) == truth, table.max(axis=1))
    assert sum(one.count for one in bins) == 500
    error = sum(one.count * abs(one.confidence - one.accuracy) for one in bins) / 500
    assert error == pytest.approx(expected_calibration_error(truth, table, range(4)))


def test_recall_by_hand():
    scores = np.array([[5.0, 1.0], [4.0, 3.0], [2.0, 0.0]])
    truth = [[0, 0], [1, 1], [2, 1]]
    assert recall_at_k(scores, truth, k=1) == pytest.approx(1 / 3)
    assert recall_at_k(scores, truth, k=3) == pytest.approx(2 / 3)
    assert recall_at_k(scores, truth, k=100) == 1.0
    assert recall_at_k(scores, truth, k=100, n_true=6) == 0.5


def test_ties_at_rank_k_count_fractionally():
    scores = np.array([[1.0], [0.5], [0.5], [0.5], [0.5]])
    # four pairs tie for rank 2, one of them is true
    assert recall_at_k(scores, [[1, 0]], k=2) == pytest.approx(1 / 4)
    assert recall_at_k(scores[::-1], [[0, 0]], k=2) == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: accuracy([1, 2], [1]), DataError, "one prediction per node"),
        (lambda: macro_f1([], []), DataError, "no nodes"),
        (
            lambda: expected_calibration_error([0], [[1.0]], [0], n_bins=0),
            ParameterError,
            "n_bins must be an integer >= 1, got 0",
        ),
        (lambda: expected_calibration_error([0], [[1.0]], [0, 1]), DataError, "one column per class"),
        (lambda: recall_at_k([[1.0]], [[0, 0]], k=0), ParameterError, "k must be an integer >= 1, got 0"),
        (lambda: recall_at_k([[1.0]], [], k=1), DataError, "n_true must be >= 1"),
        (lambda: recall_at_k([1.0], [[0, 0]], k=1), DataError, "n_items"),
    ],
)
def test_invalid_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


class TestSeveralLabels:
    def test_by_hand(self):
        truth = [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
        predicted = [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
        # hits 2, labels 4, predictions 4; per class 2/3 and 2/4; the third has no label
        found = multi_label_f1(sparse.csr_array(truth), predicted)
        assert found.micro == pytest.approx(0.5)
        assert found.macro == pytest.approx((2 / 3 + 1 / 2) / 2)

    def test_as_scikit_learn(self):
        rng = np.random.default_rng(0)
        truth, predicted = rng.random((2, 50, 6)) < 0.3
        found = multi_label_f1(truth, predicted)
        assert found.micro == pytest.approx(f1_score(truth, predicted, average="micro"))
        assert found.macro == pytest.approx(f1_score(truth, predicted, average="macro"))

    def test_shapes_must_agree(self):
        with pytest.raises(DataError, match="two indicator matrices"):
            multi_label_f1([[1, 0]], [[1]])
