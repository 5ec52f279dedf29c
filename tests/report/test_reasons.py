"""Which nodes of a report have reasons, and what the page says about them."""

import json

import numpy as np
import pytest
from tests.report.conftest import data_of

import planetoid as pl
from planetoid.errors import DataError
from planetoid.report import reasons, write_report
from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes


def nodes_of(cited):
    model, record, truth = cited
    return ReportNodes.of(ModelView.of(model), record, truth)


def test_nodes_to_label_next_come_first_then_errors_then_others(cited):
    nodes = nodes_of(cited)
    on_map = np.arange(0, 300, 2)
    first = np.array([10, 11, 4])
    wrong = on_map[nodes.evaluated[on_map] & (nodes.truth[on_map] != nodes.predicted[on_map])]
    assert 0 < len(wrong) < 50
    found = reasons.explained_rows(nodes, first, on_map, 60)
    assert found[:2].tolist() == [10, 4]  # 11 is not on the map
    assert set(wrong) <= set(found)
    assert len(found) == len(set(found)) == 60
    assert set(found) <= set(on_map)
    assert reasons.explained_rows(nodes, first, on_map, 1).tolist() == [10]
    assert len(reasons.explained_rows(nodes, first, on_map, 1000)) == len(on_map)


def test_large_graphs_have_fewer(cited, monkeypatch):
    nodes = nodes_of(cited)
    monkeypatch.setattr(reasons, "MOST_WORK", 7 * (300 + nodes.adjacency.nnz))
    assert len(reasons.explained_rows(nodes, np.array([1]), np.arange(300), 100)) == 7


def test_the_page_has_what_the_model_says(cited, cited_page):
    model, *_ = cited
    data = data_of(cited_page)
    assert len(data["reasons"]["nodes"]) == 100
    point = next(iter(data["reasons"]["nodes"]))
    shown, expected = data["reasons"]["nodes"][point], model.explain(data["ids"][int(point)])
    assert (shown["label"], shown["other"]) == (str(expected.label), str(expected.runner_up))
    assert shown["score"] == pytest.approx(expected.score, rel=1e-3)
    assert data["reasons"]["meanings"][shown["quantity"]] == expected.quantity
    for group, of_model in zip(shown["groups"], expected.groups, strict=True):
        assert data["reasons"]["meanings"][group["meaning"]] == of_model.meaning
        assert len(group["reasons"]) == len(of_model.reasons)
        for (name, value, label), reason in zip(group["reasons"], of_model.reasons, strict=True):
            is_column = of_model.kind == "features"
            assert name == (f"column {reason.name}" if is_column else reason.name)
            assert value == pytest.approx(reason.contribution, rel=1e-3)
            assert label == (None if reason.label is None else str(reason.label))


def test_none_are_computed_if_none_are_asked_for(cited, tmp_path, monkeypatch):
    model, record, _ = cited
    monkeypatch.setattr(type(model), "explain", lambda *_, **__: 1 / 0)
    write_report(tmp_path / "r.html", model, record=record, max_reasons=0)
    assert data_of(tmp_path / "r.html")["reasons"] is None


def test_a_model_that_cannot_explain_itself_is_reported_nevertheless(cited, tmp_path, monkeypatch):
    model, record, _ = cited

    def fail(*_, **__):
        raise DataError("the data is elsewhere", hint="do not show this")

    monkeypatch.setattr(type(model), "explain", fail)
    write_report(tmp_path / "r.html", model, record=record)
    found = data_of(tmp_path / "r.html")["reasons"]
    assert found == {"problem": "the data is elsewhere", "meanings": [], "nodes": {}}


def test_ids_and_classes_are_data_and_never_markup(hostile_page):
    text = hostile_page.read_text(encoding="utf-8")
    inside = text.split('id="report-data">')[1].split("</script>")[0]
    assert "<" not in inside
    assert json.loads(inside)["reasons"]["nodes"]


def test_a_saved_model_is_loaded(tmp_path):
    pl.LabelPropagation().fit(y={"a": "x", "d": "y"}, graph=[("a", "b"), ("b", "c"), ("c", "d")]).save(tmp_path / "m")
    from planetoid.persistence import SavedModel

    write_report(tmp_path / "r.html", SavedModel(tmp_path / "m"))
    assert len(data_of(tmp_path / "r.html")["reasons"]["nodes"]) == 4
