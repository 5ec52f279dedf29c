"""Explanations as text, HTML and plain data."""

import json

import pytest

from planetoid.explanation import Explanation, Reason, ReasonGroup


@pytest.fixture
def found():
    reasons = (Reason("a<b", 2.5, "x&y"), Reason("itself", 1.0), Reason("c", -0.5, None))
    group = ReasonGroup("neighbours", "what a number means", reasons, 7, 2.75, 0.25)
    features = ReasonGroup("features", "weights", (Reason(3, 1.0), Reason("word", -2.0)), 2, -1.0, None)
    return Explanation("itself", "x&y", "z", 0.9, 0.05, "GCN", 3.0, "log-odds", (group, features), "a <note>")


def test_groups_by_kind(found):
    assert found.neighbours is found.groups[0]
    assert found.features is found.groups[1]
    assert found.labels is None
    assert [reason.name for reason in found.neighbours.supporting] == ["a<b", "itself"]
    assert [reason.name for reason in found.features.opposing] == ["word"]


def test_text(found):
    assert repr(found).splitlines() == [
        "node itself: x&y (90.0%) rather than z (5.0%), by GCN",
        "score 3: log-odds",
        "a <note>",
        "",
        "neighbours: what a number means",
        "        +2.5  a<b              x&y",
        "          +1  itself (itself)",
        "        -0.5  c",
        "  sum 2.75, 3 of 7 shown; the rest of the score, 0.25, has other sources",
        "",
        "features: weights",
        "          +1  column 3",
        "          -2  word",
        "  sum -1",
    ]


def test_html_is_escaped(found):
    page = found._repr_html_()
    for raw in ("a<b", "x&y", "<note>"):
        assert raw not in page
    for escaped in ("a&lt;b", "x&amp;y", "a &lt;note&gt;", "column 3"):
        assert escaped in page


def test_plain_data(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["groups"][0]["reasons"][0] == {"name": "a<b", "contribution": 2.5, "label": "x&y"}
    assert plain["groups"][1]["base"] is None
    assert (plain["node"], plain["score"], plain["note"]) == ("itself", 3.0, "a <note>")
    odd = Reason(("a", 1), 1.0, True)
    assert odd.to_dict() == {"name": "('a', 1)", "contribution": 1.0, "label": "True"}


def test_a_group_without_reasons():
    group = ReasonGroup("labels", "m", (), 0, 0.0, 0.0)
    text = repr(Explanation(1, "a", "b", 0.5, 0.5, "LabelPropagation", 0.0, "score", (group,)))
    assert text.splitlines()[-1] == "  none"
