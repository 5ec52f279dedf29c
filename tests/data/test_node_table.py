"""A node table: ids, features of any kind and labels in one file."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.utils.sealed import seal, unseal

PEOPLE = pd.DataFrame(
    {
        "person": [f"p{k}" for k in range(1, 13)],
        "age": [31, 45, None, 22, 58, 39, 27, 64, 51, 33, 48, 29],
        "city": ["Rome", "Oslo", "Rome", "", "Oslo", "Rome"] * 2,
        "role": ["cook", "", "", "poet", "", ""] * 2,
    }
)
EDGES = [(f"p{k}", f"p{k + 1}") for k in range(1, 12)]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    return path


@pytest.fixture
def follows(tmp_path):
    path = tmp_path / "follows.csv"
    pd.DataFrame(EDGES, columns=["source", "target"]).to_csv(path, index=False)
    return path


def test_ids_features_and_labels_from_one_table(people, follows):
    data = pl.read_dataset(follows, nodes=people, label_column="role")
    assert data.node_ids.tolist() == PEOPLE.person.tolist()
    assert data.class_names == ("cook", "poet")
    assert data.labels.tolist() == [role or None for role in PEOPLE.role]
    assert data.graph.n_edges == 11
    assert sorted(data.feature_names) == ["age", "age is missing", "city is missing", "city=Oslo", "city=Rome"]
    assert [file.role for file in data.sources] == ["edges", "nodes"]


def test_the_label_is_never_a_feature(people, follows, tmp_path):
    data = pl.read_dataset(follows, nodes=people, label_column="role")
    assert not any("role" in name for name in data.feature_names)
    renamed = tmp_path / "renamed.csv"
    PEOPLE.rename(columns={"role": "Label"}).to_csv(renamed, index=False)
    data = pl.read_dataset(follows, nodes=renamed)  # found by its name
    assert data.class_names == ("cook", "poet")
    assert not any("Label" in name for name in data.feature_names)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,role\np1,cook\np2,poet\n")
    data = pl.read_dataset(follows, labels=labels, nodes=people, label_column="role")  # in both: the file of labels
    assert data.y.tolist()[:4] == [0, 1, -1, -1]
    assert not any("role" in name for name in data.feature_names)


def test_the_order_of_rows_and_columns_does_not_matter(people, follows, tmp_path):
    first = pl.read_dataset(follows, nodes=people, label_column="role")
    shuffled = PEOPLE.sample(frac=1, random_state=1)[["role", "city", "person", "age"]]
    shuffled.to_csv(tmp_path / "s.csv", index=False)
    second = pl.read_dataset(follows, nodes=tmp_path / "s.csv", label_column="role", id_column="person")
    assert (first.X.toarray() == second.X.toarray()).all()
    assert first.feature_names.tolist() == second.feature_names.tolist()
    assert (first.y == second.y).all()


def test_nodes_without_an_edge_and_edges_without_a_row(follows):
    some = PEOPLE[PEOPLE.person != "p3"].copy()
    some.loc[len(PEOPLE)] = ["alone", 40, "Rome", ""]
    with pytest.warns(PlanetoidWarning) as caught:
        data = pl.read_dataset(follows, nodes=some, label_column="role", id_column="person")
    texts = [str(one.message) for one in caught]
    assert "1 of 12 rows belong to nodes without an edge, the first to 'alone'" in texts[0]
    assert "1 of 13 nodes have no row; their features are zero" in texts[1]
    assert data.n_nodes == 13
    assert data.X.toarray()[data.ids.row("p3")].tolist() == [0.0] * data.n_features


def test_a_table_of_ids_and_labels_alone_has_no_features(follows):
    data = pl.read_dataset(follows, nodes=PEOPLE[["person", "role"]], label_column="role")
    assert data.X is None
    assert len(data.labelled) == 4


@pytest.mark.parametrize("kind", ["pandas", "arrow", "stream", "parquet", "json"])
def test_other_tables_give_the_same_data(people, follows, tmp_path, kind):
    expected = pl.read_dataset(follows, nodes=people, label_column="role")
    table = pa.Table.from_pandas(PEOPLE, preserve_index=False)
    nodes = {"pandas": PEOPLE, "arrow": table, "stream": table.to_reader()}.get(kind)
    if kind == "parquet":
        nodes = tmp_path / "p.parquet"
        PEOPLE.to_parquet(nodes)
    if kind == "json":
        nodes = tmp_path / "p.jsonl"
        PEOPLE.to_json(nodes, orient="records", lines=True)
    edges = pa.table({"source": [s for s, _ in EDGES], "target": [t for _, t in EDGES]})
    data = pl.read_dataset(edges, nodes=nodes, label_column="role")
    assert abs(data.X - expected.X).sum() == 0
    assert data.labels.tolist() == expected.labels.tolist()
    assert data.node_ids.tolist() == expected.node_ids.tolist()


def test_a_model_takes_raw_rows(people, follows, tmp_path):
    data = pl.read_dataset(follows, nodes=people, label_column="role")
    model = pl.Feat().fit(data)
    assert (model.predict_proba(PEOPLE) == model.predict_proba(data.X)).all()
    assert (model.predict_proba(pa.Table.from_pandas(PEOPLE.drop(columns="role"))) == model.predict_proba(data.X)).all()
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    assert loaded.preparation_ == data.preparation
    assert (loaded.predict_proba(PEOPLE) == model.predict_proba(data.X)).all()
    with pytest.raises(DataError, match="no column 'city'"):
        loaded.predict(PEOPLE[["person", "age"]])


def test_a_damaged_preparation_is_named(people, follows, tmp_path):
    pl.Feat().fit(pl.read_dataset(follows, nodes=people, label_column="role")).save(tmp_path / "model")
    document = tmp_path / "model/model.json"
    changed = json.loads(json.dumps(unseal(document.read_bytes())).replace('"median"', '"medium"'))
    document.write_bytes(seal(changed, indent=1))
    with pytest.raises(DataError, match="the model is damaged: its preparation of columns cannot be read"):
        pl.load(tmp_path / "model")


def test_a_method_without_features_keeps_no_preparation(people, follows, tmp_path):
    data = pl.read_dataset(follows, nodes=people, label_column="role")
    model = pl.LabelPropagation().fit(data)
    assert not hasattr(model, "preparation_")
    model = pl.Feat().fit(data)
    model.fit(np.eye(4), [0, 1, 0, 1])
    assert not hasattr(model, "preparation_")  # of the fit before


def test_what_is_refused(people, follows):
    with pytest.raises(ParameterError, match="nodes and features are mutually exclusive"):
        pl.read_dataset(follows, people, nodes=people)
    with pytest.raises(DataError, match="there is no column 'job'"):
        pl.read_dataset(follows, nodes=people, label_column="job")
    with pytest.raises(DataError, match=r"there is no column 'bio'.*the columns are person, age, city, role"):
        pl.read_dataset(follows, nodes=people, text_columns=["bio"])
    with pytest.raises(ParameterError, match="categorical names columns of nodes"):
        pl.read_dataset(follows, categorical=["age"])
    with pytest.raises(DataError, match="cannot hold both the ids and the labels"):
        pl.read_dataset(follows, nodes=people, label_column="person")
    twice = pd.concat([PEOPLE, PEOPLE.head(1)])
    with pytest.raises(DataError, match="node 'p1': duplicate node id, first seen in row 0"):
        pl.read_dataset(follows, nodes=pa.Table.from_pandas(twice, preserve_index=False), label_column="role")


def test_options_override_the_guess(people, follows):
    data = pl.read_dataset(follows, nodes=people, label_column="role", categorical=["age"], ignore=["city"])
    assert {row[0]: row[1] for row in data.preparation.describe()} == {"age": "category"}


def test_cells_that_are_no_numbers_are_counted(follows):
    frame = PEOPLE.loc[PEOPLE.index.repeat(3)].reset_index(drop=True)
    frame["person"] = [f"p{k}" for k in range(1, len(frame) + 1)]
    frame["age"] = [str(k) for k in range(len(frame) - 1)] + ["old"]
    with pytest.warns(
        PlanetoidWarning, match="column 'age': 1 of the missing values are cells that are no numbers, such"
    ):
        pl.read_dataset(nodes=frame, label_column="role")
