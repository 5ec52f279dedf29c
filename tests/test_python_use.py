"""What people do with a fitted model in Python: pandas, score, logging, warnings."""

import numpy as np
import pandas as pd
import pytest

import planetoid as pl

EDGES = [("a", "b"), ("b", "c"), ("x", "y"), ("y", "z")]


@pytest.fixture
def model():
    return pl.LabelPropagation(calibrate=False).fit(y={"a": "red", "z": "blue"}, graph=EDGES)


def test_node_ids_are_the_index_of_a_pandas_series(model):
    series = pd.Series(model.predict(), index=model.node_ids_)
    assert series["c"] == "red"
    assert series["x"] == "blue"
    frame = pd.DataFrame(model.predict_proba(), index=model.node_ids_, columns=model.classes_)
    assert frame.loc["c", "red"] == 1
    numbered = pl.LabelPropagation().fit(y={1: "red", 30: "blue"}, graph=[(1, 2), (2, 30)])
    assert pd.Series(numbered.predict(), index=numbered.node_ids_).index.tolist() == [1, 2, 30]
    assert list(numbered.node_ids_) == [1, 2, 30]
    assert np.asarray(numbered.node_ids_, dtype=float).tolist() == [1.0, 2.0, 30.0]


def test_score_of_a_transductive_model(model):
    assert model.score(y={"b": "red", "c": "red", "y": "red"}) == pytest.approx(2 / 3)
    assert model.score(y=["blue", "red", "blue"], nodes=["y", "b", "c"]) == pytest.approx(2 / 3)
    assert model.score(y=["blue", "red"], nodes=["y", "c"], sample_weight=[1, 3]) == 1
    in_order = pd.Series({"b": "blue", "c": "red"}).reindex(list(model.node_ids_))
    assert model.score(y=in_order.tolist()) == 0.5
    assert model.score(y=pd.Series({"c": "red", "y": "red"})) == 0.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "score requires y"),
        ({"y": ["red"], "nodes": ["a", "b"]}, "1 labels for 2 predictions"),
        ({"y": {"b": None}}, "y has no labels"),
    ],
)
def test_score_of_what_cannot_be_scored(model, arguments, words):
    with pytest.raises(pl.DataError, match=words):
        model.score(**arguments)


def test_score_of_new_rows_as_in_scikit_learn():
    X = np.repeat(np.eye(2), 10, axis=0)
    y = np.repeat(["even", "odd"], 10)
    model = pl.Feat().fit(X, y)
    assert model.score(X, y) == 1
    assert model.score(np.eye(2), ["odd", "odd"]) == 0.5
    assert pl.LabelPropagation.fit.__annotations__["return"] == "Self"


def test_a_fit_is_logged(caplog):
    caplog.set_level("INFO", "planetoid")
    pl.LabelPropagation().fit(y={"a": "red", "z": "blue"}, graph=EDGES)
    assert caplog.messages[0] == "fitting LabelPropagation: 6 nodes, 4 edges, 2 labels of 2 classes"
    assert caplog.messages[1].startswith("fitted LabelPropagation in ")
    assert {record.name for record in caplog.records} == {"planetoid.estimator.classifier"}


def test_warnings_are_collected_on_the_model_and_saved_with_it(tmp_path):
    with pytest.warns(pl.PlanetoidWarning, match="can say nothing about 2 of 5 nodes"):
        model = pl.LabelPropagation().fit(y={"a": "red", "c": "blue"}, graph=[("a", "b"), ("b", "c"), ("d", "e")])
    assert [text.split(" (")[0] for text in model.warnings_] == ["LabelPropagation can say nothing about 2 of 5 nodes"]
    model.save(tmp_path / "model")
    assert pl.load(tmp_path / "model").warnings_ == model.warnings_
    assert pl.LabelPropagation().fit(y={"a": "red", "c": "blue"}, graph=[("a", "b"), ("b", "c")]).warnings_ == []


def test_warnings_of_the_files_are_collected_too(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    (tmp_path / "labels.csv").write_text("id,label\na,red\nc,blue\nc,blue\n")
    with pytest.warns(pl.PlanetoidWarning, match="repeat an earlier record"):
        data = pl.read_dataset(tmp_path / "edges.csv", labels=tmp_path / "labels.csv")
    model = pl.LabelPropagation().fit(data)
    assert model.warnings_ == list(data.warnings)
    assert "1 labels repeat an earlier record" in model.warnings_[0]


def test_a_model_that_is_fitted_inside_another_keeps_its_warnings_to_itself():
    data = pl.datasets.make_citation(120, 2, 30, seed=0)
    model = pl.Planetoid().set_params(training__steps=5)
    assert model.fit(data).warnings_ == []
