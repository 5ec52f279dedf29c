"""read_labels: labels in the order of the graph, a dictionary, or an error."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from planetoid import Feat, Graph, read_features, read_labels
from planetoid.errors import PlanetoidWarning

GRAPH = Graph.from_edges(["a", "b"], ["b", "c"])
NUMBERED = Graph.from_edges([1, 2], [2, 30])
TRUNCATED = ": the gzip data is truncated or corrupt; download or write it again"
NEEDS_QUOTES = "; a cell that contains the separator ',' needs quotes"
SAVE_AS_UTF8 = "; save the file as UTF-8 (it may be Latin-1)"
ONE_COLUMN = (
    "; separate cells with a comma, a tab, a semicolon, a bar or spaces; pass separator=... for any other separator"
)
ONLY_A_HEADER = ": the file has a header but no records; pass header=False if its only line is not a header"


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


def test_ids_are_read_in_the_kind_of_the_graph(write, text_after_path):
    assert read_labels(write("1,x\na,y\n"), Graph.from_edges(["1"], ["a"])).tolist() == ["x", "y"]
    assert read_labels(write("30,x\n1,y\n"), NUMBERED).tolist() == ["y", None, "x"]
    assert text_after_path(read_labels, write("30,x\nz,y\n"), NUMBERED) == (
        ", line 2, node 'z': the id is not an integer, but the ids of the graph are, such as 1"
    )


def test_parquet_keeps_its_types(tmp_path, text_after_path):
    path = tmp_path / "y.parquet"
    pd.DataFrame({"id": ["a", "b", "c"], "label": ["1", None, ""]}).to_parquet(path)
    assert read_labels(path, GRAPH).tolist() == ["1", None, None]
    pd.DataFrame({"id": [2, 30], "label": [True, False]}).to_parquet(path)
    assert read_labels(path, NUMBERED).tolist() == [None, True, False]
    pd.DataFrame({"id": ["a", "b"], "label": pd.Categorical(["x", "y"])}).to_parquet(path)
    assert read_labels(path) == {"a": "x", "b": "y"}
    pd.DataFrame({"id": ["a", "b"], "label": [0.5, 1.5]}).to_parquet(path)
    assert text_after_path(read_labels, path) == (
        ", row 0, column 'label': labels must be integers or strings, got 0.5"
    )
    pd.DataFrame({"id": ["a", "b"], "label": [["x"], ["y"]]}).to_parquet(path)
    found = text_after_path(read_labels, path)  # pyarrow decides what the items of a list are called
    assert found.startswith(", column 'label': labels must be integers or strings, not list<")


def test_floats_that_are_whole_are_labels_with_gaps(tmp_path):
    path = tmp_path / "y.parquet"
    pd.DataFrame({"id": ["a", "b", "c"], "label": [2.0, float("nan"), 1.0]}).to_parquet(path)
    assert read_labels(path, GRAPH).tolist() == [2, None, 1]


def test_unknown_nodes_are_left_out_and_counted(write, text_after_path):
    with pytest.warns(PlanetoidWarning, match=r"1 of 3 labels belong to no node .* 'q'\) and are ignored") as caught:
        labels = read_labels(write("a,x\nq,y\nb,y\n"), GRAPH)
    assert labels.tolist() == ["x", "y", None]
    assert caught[0].filename == __file__
    assert text_after_path(read_labels, write("p,x\nq,y\n"), GRAPH) == (
        ": no record has the id of a node of the graph: the first id is 'p', ids of the graph look like 'a'; "
        "check that this is the right file and the right id column"
    )


def test_few_labels_are_the_normal_case(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(write("a,x\n"), GRAPH)


def test_a_node_has_one_label(write, text_after_path):
    path = write("id,label\na,x\nb,x\n\na,y\n")
    for graph in (GRAPH, None):
        expected = ", line 5, node 'a': conflicting labels: 'y' here, 'x' in line 2"
        expected += "; pass multi_label=True if nodes may have several labels"
        assert text_after_path(read_labels, path, graph) == expected
    path = write("id,label\na,x\na,\n")
    expected = ", line 3, node 'a': conflicting labels: None here, 'x' in line 2"
    assert text_after_path(read_labels, path, GRAPH) == expected
    with pytest.warns(PlanetoidWarning, match=r"table.csv: 1 labels repeat an earlier record$") as caught:
        assert read_labels(write("id,label\na,x\na,x\n"), GRAPH).tolist() == ["x", None, None]
    assert caught[0].filename == __file__


def test_a_first_line_that_may_be_a_header_is_questioned(write):
    path = write("paper,topic\nann,ml\nbob,db\ncid,ml\ndan,db\n")
    with pytest.warns(PlanetoidWarning) as caught:
        assert len(read_labels(path)) == 5
    assert str(caught[0].message) == (
        f"{path}, line 1: read as the label 'topic' of node 'paper', but no other node has this label; "
        "pass header=True if the line is a header or header=False if it is not"
    )
    assert caught[0].filename == __file__
    assert len(read_labels(path, header=True)) == 4
    assert len(read_labels(path, header=False)) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": the file is empty"),
        ("id,label\n", ONLY_A_HEADER),
        ("a\nb\n", ": the file has only one column; its first line is 'a'" + ONE_COLUMN),
        ("a,\nb,\n", ", column 1 (counted from 0): no label in 2 records: the column is empty"),
        ("a,x,1\nb,y,2\n", ": cannot infer which of 2 columns holds the labels; pass label_column=... to choose it"),
        (
            "key,kind,by\na,x,1\nb,y,2\n",
            ": cannot infer which of 2 columns holds the labels; they are kind, by; pass label_column=... to choose it",
        ),
        ("a,x\n,y\n", ", line 2, column 0 (counted from 0): the id is empty; every record needs one"),
        ("a,x\nb\n", ", line 2: 1 cell, but other lines have 2" + NEEDS_QUOTES),
        (b"a,x\nb,\xff\n", ", line 2: byte 0xff at position 3 is not UTF-8" + SAVE_AS_UTF8),
        (gzip.compress(b"a,x\n" * 1000, mtime=0)[:-12], TRUNCATED),
    ],
)
def test_invalid_files(write, text_after_path, content, message):
    assert text_after_path(read_labels, write(content)) == message


def test_wrong_columns(write, error_of):
    path = write("id,label\na,x\n")
    error = error_of(read_labels, path, label_column="class")
    assert str(error) == f"{path}: there is no column 'class'; the columns are id, label"
    assert error.parameter == "label_column"
    assert str(error_of(read_labels, path, label_column="id")) == (
        f"{path}, column 'id': the column cannot hold both the ids and the labels; "
        "pass id_column=... to choose the column of ids"
    )


def test_features_and_labels_go_straight_into_fit(write):
    features = read_features(write("id,x\nc,0\na,5\nb,1\n", "x.csv"), GRAPH)
    labels = read_labels(write("a,high\nc,low\n", "y.csv"), GRAPH)
    model = Feat().fit(features.X, labels)
    assert model.classes_.tolist() == ["high", "low"]
    assert model.predict().tolist()[0] == "high"
    assert np.isfinite(model.predict_proba()).all()
