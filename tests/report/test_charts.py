"""Charts and colours."""

import itertools
import math
import re
from xml.etree import ElementTree

import pytest

from planetoid.evaluation import CalibrationBin
from planetoid.report.colours import _oklab, class_colours
from planetoid.report.curves import training_charts
from planetoid.report.drawing import Curve, line_chart, reliability_chart, ticks


def test_colours_are_distinct_and_fit_the_theme():
    for dark in (False, True):
        colours = class_colours(105, dark=dark)
        assert len(set(colours)) == 105
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    assert all(_oklab(colour)[0] > 0.55 for colour in class_colours(105, dark=True))
    assert all(_oklab(colour)[0] < 0.85 for colour in class_colours(105))


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_colours_are_far_apart(dark):
    colours = [_oklab(colour) for colour in class_colours(8, dark=dark)]
    assert (
        min(math.dist(one, two) for one, two in itertools.combinations(colours, 2)) > 0.06
    )  # about three just noticeable steps


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.62, 0.81), (-3, 12_000), (5, 5), (0, 0), (1e-9, 3e-9)])
def test_ticks_cover_the_range(low, high):
    marks = ticks(low, high, 5)
    assert marks[0] <= low
    assert marks[-1] >= high
    assert 2 <= len(marks) <= 10


def test_a_chart_is_well_formed_and_has_every_point_inside():
    chart = line_chart("a <b> & c", [Curve("one", [1, 2, 3], [0.5, 0.9, 0.7])], "iteration", mark_best=True)
    tree = ElementTree.fromstring(chart)
    assert "best 0.9 at iteration 2" in "".join(tree.itertext())
    (points,) = (node.get("points") for node in tree.iter("polyline"))
    for x, y in (map(float, pair.split(",")) for pair in points.split()):
        assert 0 <= x <= 360
        assert 0 <= y <= 210


def test_long_curves_are_averaged():
    chart = line_chart("long", [Curve("one", range(100_000), [1.0] * 50_000 + [3.0] * 50_000)], "iteration")
    assert len(chart) < 10_000


def test_training_charts_of_planetoid(cited):
    charts = training_charts(cited[0].history_)
    titles = [re.search("<figcaption>([^<]*)", chart).group(1) for chart in charts]
    assert titles == ["Pre-training: context loss", "Loss", "Context loss", "Validation accuracy"]


@pytest.mark.parametrize("history", [None, [], [0.5], "text", [{"step": 1, "loss": None}], [{"step": 1, "loss": 2.0}]])
def test_nothing_to_draw(history):
    assert training_charts(history) == []


def test_missing_and_infinite_values_are_left_out():
    history = [{"step": k, "loss": value} for k, value in enumerate([1.0, None, math.nan, math.inf, 0.5])]
    (chart,) = training_charts(history)
    assert len(ElementTree.fromstring(chart).find(".//polyline").get("points").split()) == 2


def test_reliability_of_two_bins():
    bins = [CalibrationBin(0.4, 0.5, 30, 0.5, 0.25), CalibrationBin(0.8, 0.9, 10, 0.9, 1.0)]
    chart = ElementTree.fromstring(reliability_chart(bins, "calibration"))
    assert [node.text for node in chart.iter("title")][::2] == [
        "30 nodes: confidence 50 %, accuracy 25 %",
        "10 nodes: confidence 90 %, accuracy 100 %",
    ]
    first, second = chart.iter("circle")
    assert float(first.get("r")) > float(second.get("r"))
    assert float(first.get("cy")) > float(second.get("cy"))
