"""The index that pandas writes beside features and labels: neither, and the ids only if no other column is."""

import numpy as np
import pandas as pd
import pytest

from planetoid import Graph, read_features, read_labels
from planetoid.io.features import iter_features

NODES = Graph.from_edges(["a", "b"], ["b", "c"])
X = pd.DataFrame({"x": [0.5, 0, 3], "y": [1.0, 2, 4]})
IDS = ["a", "b", "c"]
TOPICS = {"a": "ml", "b": "db", "c": "ml"}


def test_row_numbers_are_not_a_feature(tmp_path, with_warning):
    frame = X.assign(id=IDS)
    frame[["id", "x", "y"]].to_csv(tmp_path / "f.csv")
    pd.read_csv(tmp_path / "f.csv").to_csv(tmp_path / "again.csv", index=False)
    frame.set_axis([5, 1, 3]).to_parquet(tmp_path / "f.parquet")
    for name, called in (
        ("f.csv", "which has no name"),
        ("again.csv", "Unnamed: 0"),
        ("f.parquet", "__index_level_0__"),
    ):
        table, warning = with_warning(read_features, tmp_path / name, NODES)
        assert table.names.tolist() == ["x", "y"]
        assert np.array_equal(table.X, X)
        assert str(tmp_path / name) in warning
        assert called in warning
        pieces, _ = with_warning(lambda path: list(iter_features(path)), tmp_path / name)
        assert pieces[0].ids.to_arrow().to_pylist() == IDS
        assert read_features(tmp_path / name, names=["y"]).names.tolist() == ["y"]


def test_row_numbers_are_not_a_feature_beside_ids_that_are_named(tmp_path, with_warning):
    X.assign(paper=IDS)[["x", "paper", "y"]].to_csv(tmp_path / "f.csv")
    table, _ = with_warning(read_features, tmp_path / "f.csv", NODES, id_column="paper")
    assert np.array_equal(table.X, X)
    chosen = read_features(tmp_path / "f.csv", id_column="paper", names=["", "x"])
    assert chosen.X[:, 0].tolist() == [0, 1, 2]


def test_an_index_without_another_id_holds_the_ids(tmp_path, with_warning):
    X.set_axis(IDS).to_csv(tmp_path / "f.csv")
    pd.read_csv(tmp_path / "f.csv").to_csv(tmp_path / "read_back.csv", index=False)
    X.set_axis(IDS).to_parquet(tmp_path / "f.parquet")
    for name in ("f.csv", "read_back.csv", "f.parquet"):
        assert np.array_equal(read_features(tmp_path / name, NODES).X, X)
    pd.read_csv(tmp_path / "f.csv").to_csv(tmp_path / "twice.csv")  # row numbers before the ids
    table, warning = with_warning(read_features, tmp_path / "twice.csv", NODES)
    assert np.array_equal(table.X, X)
    assert "the first column, which has no name, looks" in warning


@pytest.mark.parametrize("names", [("id", "topic"), ("paper", "label"), ("paper", "topic")])
def test_row_numbers_are_neither_labels_nor_their_ids(tmp_path, with_warning, names):
    pd.DataFrame(TOPICS.items(), columns=list(names)).to_csv(tmp_path / "l.csv")
    labels, warning = with_warning(read_labels, tmp_path / "l.csv")
    assert labels == TOPICS
    assert f"{tmp_path / 'l.csv'}: the first column" in warning


def test_labels_with_usual_names_or_named_columns_need_no_warning(tmp_path):
    pd.DataFrame(TOPICS.items(), columns=["id", "label"]).to_csv(tmp_path / "l.csv")
    assert read_labels(tmp_path / "l.csv") == TOPICS
    assert read_labels(tmp_path / "l.csv", id_column=0, label_column="label") == {0: "ml", 1: "db", 2: "ml"}
    assert read_labels(tmp_path / "l.csv", id_column="id", label_column=0) == {"a": 0, "b": 1, "c": 2}


@pytest.mark.parametrize("more", [{}, {"year": [1999, 2000, 2001]}])
def test_an_index_without_another_id_holds_the_ids_of_labels(tmp_path, more):
    frame = pd.DataFrame({"label": TOPICS.values(), **more}, index=list(TOPICS))
    frame.to_csv(tmp_path / "l.csv")
    frame.to_parquet(tmp_path / "l.parquet")
    assert read_labels(tmp_path / "l.csv") == TOPICS
    assert read_labels(tmp_path / "l.parquet") == TOPICS
