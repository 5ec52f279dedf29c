"""Metrics of a report by hand."""

import numpy as np
import pytest

from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes
from planetoid.report.quality import measure_quality, wilson_interval


def test_metrics_agree_with_each_other(cited):
    model, record, truth = cited
    quality = measure_quality(ReportNodes.of(ModelView.of(model), record, truth))
    assert sum(one.count for one in quality.bins) == quality.n == 100
    error = sum(one.count * abs(one.confidence - one.accuracy) for one in quality.bins) / quality.n
    assert error == pytest.approx(quality.calibration_error, abs=1e-6)
    assert quality.confusion.sum() == 100
    assert quality.confusion.trace() / 100 == quality.accuracy
    assert quality.interval.low < quality.accuracy < quality.interval.high
    mean_confidence = sum(one.count * one.confidence for one in quality.bins) / 100
    assert quality.overconfidence == pytest.approx(mean_confidence - quality.accuracy)


def test_wilson_interval_at_its_ends():
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(10, 10) == pytest.approx((0.7225, 1), abs=1e-4)
    assert np.mean(wilson_interval(5, 10)) == pytest.approx(0.5)
