"""read_labels: labels in the order of the graph, or a dictionary, or one clear sentence."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from planetoid import Feat, Graph, read_features, read_labels
from planetoid.errors import DataError, PlanetoidWarning

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
NUMBERED = Graph.from_edges([1, 2], [2, 30])


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("id,label\nc,ml\na,db\n", "y.csv"),
        ("c,ml\na,db\nb,\n", "y.csv"),  # empty: unlabelled
        ("node\tclass\nc\tml\na\tdb\nb\t \n", "y.tsv"),
        ("# labels\nc ml\na db\n", "y.txt"),
        (gzip.compress(b"label;node_id\nml;c\ndb;a\n", mtime=0), "y.csv.gz"),
        ("year,id,topic,label\n1999,c,x,ml\n2000,a,y,db\n", "y.csv"),
    ],
)
def test_one_labelling_in_many_forms(write, content, name):
    labels = read_labels(write(content, name), GRAPH)
    assert labels.dtype == object
    assert labels.tolist() == ["db", None, "ml"]


def test_without_a_graph_a_dictionary_of_the_labelled(write):
    assert read_labels(write("id,label\nc,ml\na,\nb,db\n")) == {"c": "ml", "b": "db"}
    assert read_labels(write("7,ml\n8,db\n")) == {7: "ml", 8: "db"}
    assert read_labels(write("07,ml\n8,db\n")) == {"07": "ml", "8": "db"}


def test_labels_are_integers_only_if_all_are(write):
    assert read_labels(write("a,3\nb,\nc,10\n"), GRAPH).tolist() == [3, None, 10]
    assert read_labels(write("a,3\nb,x\nc,10\n"), GRAPH).tolist() == ["3", "x", "10"]
    assert read_labels(write("a,03\nb,4\n"), GRAPH).tolist() == ["03", "4", None]
    assert type(read_labels(write("a,3\nb,4\n"))["a"]) is int


def test_columns_by_name_and_number(write):
    path = write("id,topic,year\na,ml,1999\nb,db,2000\n")
    assert read_labels(path, GRAPH, label_column="topic").tolist() == ["ml", "db", None]
    assert read_labels(path, GRAPH, label_column=2).tolist() == [1999, 2000, None]
    assert read_labels(path, id_column="topic", label_column="id") == {"ml": "a", "db": "b"}


def test_ids_are_read_in_the_kind_of_the_graph(write):
    assert read_labels(write("1,x\na,y\n"), Graph.from_edges(["1"], ["a"])).tolist() == ["x", "y"]
    assert read_labels(write("30,x\n1,y\n"), NUMBERED).tolist() == ["y", None, "x"]
    with pytest.raises(DataError, match=r"line 2: the id 'z' is no integer, but those of the graph are, such as 1"):
        read_labels(write("30,x\nz,y\n"), NUMBERED)


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "y.parquet"
    pd.DataFrame({"id": ["a", "b", "c"], "label": ["1", None, ""]}).to_parquet(path)
    assert read_labels(path, GRAPH).tolist() == ["1", None, None]
    pd.DataFrame({"id": [2, 30], "label": [True, False]}).to_parquet(path)
    assert read_labels(path, NUMBERED).tolist() == [None, True, False]
    pd.DataFrame({"id": ["a", "b"], "label": pd.Categorical(["x", "y"])}).to_parquet(path)
    assert read_labels(path) == {"a": "x", "b": "y"}
    pd.DataFrame({"id": ["a", "b"], "label": [0.5, 1.5]}).to_parquet(path)
    with pytest.raises(DataError, match=r"row 0, column 'label': the label 0.5 is neither an integer nor a string"):
        read_labels(path)
    pd.DataFrame({"id": ["a", "b"], "label": [["x"], ["y"]]}).to_parquet(path)
    with pytest.raises(DataError, match=r"column 'label' is list<.*; labels are integers or strings"):
        read_labels(path)


def test_floats_that_are_whole_are_labels_with_gaps(tmp_path):
    path = tmp_path / "y.parquet"
    pd.DataFrame({"id": ["a", "b", "c"], "label": [2.0, float("nan"), 1.0]}).to_parquet(path)
    assert read_labels(path, GRAPH).tolist() == [2, None, 1]


def test_unknown_nodes_are_left_out_and_counted(write):
    with pytest.warns(PlanetoidWarning, match=r"1 of 3 labels belong to no node .* 'q'\) and are ignored") as caught:
        labels = read_labels(write("a,x\nq,y\nb,y\n"), GRAPH)
    assert labels.tolist() == ["x", "y", None]
    assert caught[0].filename == __file__
    with pytest.raises(DataError, match=r"no record has the id of a node of the graph \(the first has 'p'\)"):
        read_labels(write("p,x\nq,y\n"), GRAPH)


def test_few_labels_are_the_normal_case(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(write("a,x\n"), GRAPH)


def test_a_node_has_one_label(write):
    path = write("id,label\na,x\nb,x\n\na,y\n")
    for graph in (GRAPH, None):
        with pytest.raises(DataError, match=r"line 5: the id 'a' has the label 'y', but 'x' in line 2"):
            read_labels(path, graph)
    with pytest.raises(DataError, match=r"the label None, but 'x' in line 2"):
        read_labels(write("id,label\na,x\na,\n"), GRAPH)
    with pytest.warns(PlanetoidWarning, match=r"1 labels repeat what an earlier record says") as caught:
        assert read_labels(write("id,label\na,x\na,x\n"), GRAPH).tolist() == ["x", None, None]
    assert caught[0].filename == __file__


def test_a_first_line_that_may_be_a_header_is_doubted(write):
    path = write("paper,topic\nann,ml\nbob,db\ncid,ml\ndan,db\n")
    with pytest.warns(
        PlanetoidWarning, match=r"line 1: 'paper' and 'topic' were read as an id and its label"
    ) as caught:
        assert len(read_labels(path)) == 5
    assert caught[0].filename == __file__
    assert len(read_labels(path, header=True)) == 4
    assert len(read_labels(path, header=False)) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"is empty"),
        ("id,label\n", r"has a header but no line below it"),
        ("a\nb\n", r"has one column"),
        ("a,\nb,\n", r"has no label: every one of its 2 records is empty there"),
        ("a,x,1\nb,y,2\n", r"which of the 2 other columns is the label\? Say label_column="),
        ("a,x\n,y\n", r"line 2, column 0 .*: the id is empty"),
        ("a,x\nb\n", r"line 2: 1 cell where other lines have 2"),
        (b"a,x\nb,\xff\n", r"line 2: byte 0xff at place 3 is not UTF-8"),
        (gzip.compress(b"a,x\n" * 1000, mtime=0)[:-12], r"cut short or damaged"),
    ],
)
def test_broken_files(write, content, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as caught:
        read_labels(path)
    assert str(path) in str(caught.value)


def test_wrong_columns(write):
    path = write("id,label\na,x\n")
    with pytest.raises(DataError, match=r"table.csv: there is no column 'class'; the columns are id, label"):
        read_labels(path, label_column="class")
    with pytest.raises(DataError, match=r"table.csv: column 'id' is both the id and the label"):
        read_labels(path, label_column="id")


def test_features_and_labels_go_straight_into_fit(write):
    features = read_features(write("id,x\nc,0\na,5\nb,1\n", "x.csv"), GRAPH)
    labels = read_labels(write("a,high\nc,low\n", "y.csv"), GRAPH)
    model = Feat().fit(features.X, labels)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.predict().tolist()[0] == "high"
    assert np.isfinite(model.predict_proba()).all()
