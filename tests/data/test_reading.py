"""``read_dataset``: which nodes there are, in which order, how labels are encoded, and what is an error."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return file


@pytest.fixture
def labels(write):
    return write("l.csv", "id,label\na,x\nb,y\n")


def test_nodes_are_those_with_an_edge_and_those_with_features(write):
    edges = write("e.csv", "source,target\nb,a\nc,a\n")
    features = write("f.csv", "id,x,y\na,1,2\nd,3,4\nb,5,6\n")
    labels = write("l.csv", "id,label\na,red\nd,blue\n")
    with pytest.warns(PlanetoidWarning) as caught:
        data = pl.read_dataset(edges, features, labels)
    first, second = (str(entry.message) for entry in caught)
    assert first == f"{features}: 1 of 3 rows belong to nodes without an edge, the first to 'd'"
    assert "1 of 4 nodes have no row" in second
    assert data.node_ids.tolist() == ["a", "b", "c", "d"]
    assert data.X.tolist() == [[1, 2], [5, 6], [0, 0], [3, 4]]
    assert data.labels.tolist() == ["red", None, None, "blue"]
    assert data.graph.degrees.tolist() == [2, 1, 1, 0]
    assert data.has_features.tolist() == [True, True, False, True]
    assert [(file.role, file.path, file.n_without_edge) for file in data.sources] == [
        ("edges", edges, 0),
        ("features", features, 1),
        ("labels", labels, 0),
    ]


def test_the_order_of_rows_and_columns_in_the_files_does_not_matter(write):
    first = pl.read_dataset(
        write("e.csv", "source,target\np10,p9\np9,p1\n"),
        write("f.csv", "id,x,y,z\np1,1,2,3\np9,4,5,6\np10,7,8,9\n"),
        write("l.csv", "id,label\np1,u\np10,v\n"),
    )
    second = pl.read_dataset(
        write("e2.tsv", "p1\tp9\np9\tp10\n"),
        write("f2.csv", "z,x,id,y\n9,7,p10,8\n3,1,p1,2\n6,4,p9,5\n"),
        write("l2.csv", "label,id\nv,p10\nu,p1\n"),
    )
    for data in (first, second):
        assert data.node_ids.tolist() == ["p1", "p9", "p10"]  # natural order
        assert data.feature_names.tolist() == ["x", "y", "z"]
        assert data.X.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert data.y.tolist() == [0, -1, 1]
        assert data.classes.tolist() == ["u", "v"]
    assert first.graph == second.graph


@pytest.mark.parametrize("integers_in", ["edges", "features"])
def test_integers_and_their_digits_are_the_same_ids(tmp_path, write, integers_in):
    """Text does not distinguish them; Parquet does, and one of the two files has strings here."""
    edges, features = pd.DataFrame({"source": [1, 2], "target": [2, 10]}), pd.DataFrame({"id": [10, 2, 1], "x": 1.0})
    if integers_in == "edges":
        features["id"] = features["id"].astype(str)
    else:
        edges = edges.astype(str)
    edges.to_parquet(tmp_path / "e.parquet")
    features.to_parquet(tmp_path / "f.parquet")
    labels = write("l.csv", "id,label\n1,a\n10,b\n")
    data = pl.read_dataset(tmp_path / "e.parquet", tmp_path / "f.parquet", labels)
    assert data.node_ids.tolist() == [1, 2, 10]
    assert data.labels.tolist() == ["a", None, "b"]
    assert data.X.tolist() == [[1], [1], [1]]


def test_integers_beside_strings_become_strings(write):
    edges = write("e.csv", "source,target\n1,2\n2,3\n")
    with pytest.warns(PlanetoidWarning):
        data = pl.read_dataset(edges, write("f.csv", "id,x\n1,1\n2,2\nx7,7\n"), write("l.csv", "id,label\n1,a\n3,b\n"))
    assert data.node_ids.tolist() == ["1", "2", "3", "x7"]
    assert data.X.tolist() == [[1], [2], [0], [7]]
    assert data.labels.tolist() == ["a", None, "b", None]


def test_features_of_other_nodes_are_an_error(write, labels):
    edges, features = write("e.csv", "source,target\na,b\n"), write("f.csv", "id,x\np,1\nq,2\n")
    with pytest.raises(DataError, match="no row has the id of a node with an edge: the first id is 'p'") as caught:
        pl.read_dataset(edges, features, labels)
    assert caught.value.path == features


def test_a_mostly_zero_table_becomes_sparse(tmp_path, write):
    X = np.zeros((30, 20), dtype=np.float32)
    X[np.arange(30), np.arange(30) % 20] = 1
    frame = pd.DataFrame(X[:, ::-1], columns=[f"w{k:02d}" for k in range(20)][::-1])
    frame.insert(5, "id", [f"p{k}" for k in range(30)])
    frame.to_parquet(tmp_path / "f.parquet")
    data = pl.read_dataset(features=tmp_path / "f.parquet", labels=write("l.csv", "id,label\np0,x\np1,y\n"))
    assert sparse.issparse(data.X)
    assert np.array_equal(data.X.toarray(), X)


def test_duplicate_column_names_are_an_error(write, labels):
    features = write("f.csv", "id,x,x\na,1,2\nb,4,5\n")
    with pytest.raises(DataError, match=r"duplicate column name 'x'|two columns called 'x'"):
        pl.read_dataset(features=features, labels=labels)


def test_a_column_can_be_ignored(write, labels):
    features = write("f.csv", "id,title,x\na,On Fruit,1\nb,On Animals,2\n")
    with pytest.raises(DataError, match="'title'"):
        pl.read_dataset(features=features, labels=labels)
    assert pl.read_dataset(features=features, labels=labels, ignore=["title"]).feature_names.tolist() == ["x"]
    with pytest.raises(DataError, match="'titel'"):
        pl.read_dataset(features=features, labels=labels, ignore=["titel"])
    with pytest.raises(ParameterError, match="ignore names columns of features, which must be a table"):
        pl.read_dataset(edges=features, labels=labels, ignore=["title"])


def test_an_id_column_applies_to_the_tables_that_have_it(write, labels):
    features = write("f.csv", "x,paper\n1,a\n2,b\n")
    data = pl.read_dataset(features=features, labels=labels, id_column="paper")
    assert data.node_ids.tolist() == ["a", "b"]
    with pytest.raises(
        DataError, match=r"no column 'papers' in .*f.csv, .*l.csv; the columns of .*f.csv are x, paper; the"
    ):
        pl.read_dataset(features=features, labels=labels, id_column="papers")
    numbered = write("n.csv", "1,a\n2,b\n")
    data = pl.read_dataset(features=numbered, labels=write("m.csv", "x,a\ny,b\n"), id_column=1)
    assert data.X.tolist() == [[1], [2]]
    assert data.labels.tolist() == ["x", "y"]


def test_columns_of_edges_and_direction(write, labels):
    edges = write("e.csv", "kind,to_paper,from_paper,strength\nx,b,a,2\nx,c,a,3\n")
    columns = {"source_column": "from_paper", "target_column": "to_paper", "weight_column": "strength"}
    data = pl.read_dataset(edges, labels=labels, directed=True, **columns)
    assert data.graph.directed
    assert data.graph.degrees.tolist() == [2, 0, 0]
    assert data.graph.weights.tolist() == [2, 3]


def test_headers_are_detected_or_given_by_file(write):
    edges = write("e.csv", "alice,bob\ncarol,dave\nerin,alma\n")
    labels = write("l.csv", "carol,x\ndave,y\n")
    with pytest.warns(PlanetoidWarning, match="read as an edge from .alice. to .bob."):
        assert pl.read_dataset(edges, labels=labels).n_nodes == 6
    assert pl.read_dataset(edges, labels=labels, header=False).n_nodes == 6
    assert pl.read_dataset(edges, labels=labels, header={"edges": False}).n_nodes == 6
    assert pl.read_dataset(edges, labels=labels, header={"edges": True, "labels": False}).n_nodes == 4
    with pytest.raises(ParameterError, match=r"header must be given for some of 'edges', 'features'.*got 'vertices'"):
        pl.read_dataset(edges, header={"vertices": True})
    with pytest.raises(ParameterError, match="is no table and has no header"):
        pl.read_dataset(features=write("w.txt", "a dog\n"), header={"features": True})


def test_rows_without_ids_are_the_nodes_from_zero(tmp_path, write):
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(np.eye(4)))
    labels = write("l.csv", "id,label\n0,x\n3,y\n")
    with pytest.warns(PlanetoidWarning, match="1 of 4 rows belong to nodes without an edge"):
        data = pl.read_dataset(write("e.csv", "source,target\n2,0\n0,1\n"), tmp_path / "f.npz", labels)
    assert data.X.toarray().tolist() == np.eye(4).tolist()
    for wrong in ("source,target\n2,0\n0,4\n", "source,target\na,0\n0,4\n", "source,target\na,b\nb,c\n"):
        with pytest.raises(DataError, match=r"no ids, so its 4 rows are the nodes 0 to 3, but .*w.csv has others"):
            pl.read_dataset(write("w.csv", wrong), tmp_path / "f.npz", labels)


def test_tokens_are_features(write, labels):
    tokens = write("w.txt", "a dog:2 cat\nb emu\n")
    data = pl.read_dataset(features=tokens, labels=labels)
    assert data.feature_names.tolist() == ["cat", "dog", "emu"]
    assert data.X.toarray().tolist() == [[1, 2, 0], [0, 0, 1]]
    with pytest.raises(ParameterError, match=r"(?s)'words'"):
        pl.read_dataset(features=tokens, features_format="words")


def test_a_label_is_for_training_or_for_validation(write):
    edges = write("e.csv", "source,target\na,b\nb,c\n")
    labels, validation = write("l.csv", "id,label\na,x\nb,y\n"), write("v.csv", "id,label\nb,y\nc,x\n")
    message = r"v.csv: 1 validation label is of labelled nodes and ignored; a label is either for training or for val"
    with pytest.warns(PlanetoidWarning, match=message):
        data = pl.read_dataset(edges, labels=labels, validation=validation)
    assert (data.y.tolist(), data.validation.tolist()) == ([0, 1, -1], [-1, -1, 0])
    other = write("o.csv", "id,label\nb,x\nc,x\n")
    with pytest.raises(DataError, match=r"o.csv, node 'b': the validation label is 'x', but the label is 'y'; remove"):
        pl.read_dataset(edges, labels=labels, validation=other)


def test_a_minus_one_in_a_file_that_may_be_a_class_is_questioned(write):
    edges = write("e.csv", "source,target\na,b\nb,c\n")
    with pytest.warns(PlanetoidWarning, match=r"l.csv: the labels are -1, 0 and 1: 1 node with -1 is unlabelled"):
        data = pl.read_dataset(edges, labels=write("l.csv", "id,label\na,-1\nb,0\nc,1\n"))
    assert (data.y.tolist(), data.classes.tolist()) == ([-1, 0, 1], [0, 1])
    with pytest.warns(PlanetoidWarning, match=r"l.csv: the labels are -2, -1 and 2: 1 node with -1 is unlabelled"):
        pl.read_dataset(edges, labels=write("l.csv", "id,label\na,-1\nb,-2\nc,2\n"))


def test_labels_and_validation_have_the_same_classes(write):
    edges = write("e.csv", "source,target\na,b\nb,c\nc,d\n")
    validation = write("v.csv", "id,label\nc,1\nd,2\n")
    data = pl.read_dataset(edges, labels=write("l.csv", "id,label\na,2\nb,1\n"), validation=validation)
    assert data.classes.tolist() == [1, 2]
    assert (data.y.tolist(), data.validation.tolist()) == ([1, 0, -1, -1], [-1, -1, 0, 1])
    # beside a class that is no integer, the digits of the other file are strings as well
    data = pl.read_dataset(
        edges, labels=write("l.csv", "id,label\na,2\nb,1\nd,x\n"), validation=write("v.csv", "c,2\n")
    )
    assert data.classes.tolist() == ["1", "2", "x"]
    assert data.validation.tolist() == [-1, -1, 1, -1]


def test_without_labels(write):
    data = pl.read_dataset(write("e.csv", "source,target\na,b\n"))
    assert data.y.tolist() == [-1, -1]
    assert (data.n_classes, data.validation) == (0, None)


def test_something_to_learn_from_is_required(labels):
    with pytest.raises(ParameterError, match="either edges, features or nodes are required"):
        pl.read_dataset(labels=labels)


def test_sources_have_the_hash_of_the_file(write):
    edges = write("e.csv", "source,target\na,b\n")
    (source,) = pl.read_dataset(edges).sources
    assert source.sha256 == hashlib.sha256(edges.read_bytes()).hexdigest()


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="Linux counts the bytes that a process reads")
def test_each_file_is_read_once(tmp_path, write, labels):
    """Besides the first lines, from which separator and header are detected."""

    def bytes_read():
        return int(Path("/proc/self/io").read_text().split()[1])

    nodes = [f"p{k}" for k in range(3000)]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((3000, 150)), columns=[f"x{k}" for k in range(150)])
    frame.insert(7, "id", rng.permutation(nodes))
    frame.assign(title="On Fruit").to_csv(tmp_path / "f.csv", index=False)
    edges = write("e.csv", "source,target\n" + "".join(f"p{k},p{7 * k % 3000}\n" for k in range(3000)))
    labels = write("l.csv", "id,label\n" + "".join(f"p{k},{k % 3}\n" for k in range(3000)))
    options = {"id_column": "id", "ignore": ["title"]}
    pl.read_dataset(edges, tmp_path / "f.csv", labels, **options)  # imports what it needs
    before = bytes_read()
    pl.read_dataset(edges, tmp_path / "f.csv", labels, **options)
    size = sum(path.stat().st_size for path in (edges, tmp_path / "f.csv", labels))
    assert size > 2**23
    assert bytes_read() - before < 1.6 * size


TABLES = {"nodes": "colour,label\nfoo,red,x\nbar,blue,y\nbaz,red,\n", "labels": "label\nfoo,x\nbar,y\n"}


@pytest.mark.parametrize("role", TABLES)
def test_edges_whose_first_line_names_the_ids_of_another_table_have_a_header(tmp_path, role):
    edges, other = tmp_path / "edges.csv", tmp_path / "other.csv"
    edges.write_text("package,needs\nfoo,bar\nbar,baz\n")
    other.write_text(f"package,{TABLES[role]}")
    data = pl.read_dataset(edges=edges, header={role: True}, **{role: other})
    assert data.node_ids.tolist() == ["bar", "baz", "foo"]
    assert data.graph.n_edges == 2
    other.write_text(f"who,{TABLES[role]}")
    with pytest.warns(PlanetoidWarning) as found:
        assert pl.read_dataset(edges=edges, header={role: True}, **{role: other}).graph.n_edges == 3
    assert any("which occur nowhere else" in str(warning.message) for warning in found)


def test_a_table_that_cannot_be_opened_says_nothing_about_the_edges(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("package,needs\nfoo,bar\nbar,baz\n")
    with pytest.warns(PlanetoidWarning, match="nowhere else"), pytest.raises(DataError, match="missing"):
        pl.read_dataset(edges=edges, labels=tmp_path / "missing.csv")


def test_a_title_above_the_edges_is_an_error(write):
    edges = write("e.csv", "Export vom 1.1.2024\nvon;nach\n1;2\n2;3\n3;4\n")
    with pytest.raises(DataError, match=r"e.csv, line 1: 1 cell, but other lines have 2; delete the line if it is a"):
        pl.read_dataset(edges, labels=write("l.csv", "id;l\n1;x\n4;y\n"))


def test_a_first_line_that_names_the_separator_is_no_record(write):
    """As spreadsheets write it, with a byte order mark."""
    edges = write("e.csv", "\ufeffsep=;\nvon;nach\n1;2\n2;3\n")
    labels = write("l.csv", "sep=;\nid;label\n1;x\n3;y\n")
    features = write("f.csv", "sep=|\nid|a|b\n1|0,5|1\n2|2|0\n3|1|1\n")
    data = pl.read_dataset(edges, features, labels)
    assert (data.node_ids.tolist(), data.graph.n_edges, data.y.tolist()) == ([1, 2, 3], 2, [0, -1, 1])
    assert np.asarray(data.X).tolist() == [[0.5, 1.0], [2.0, 0.0], [1.0, 1.0]]
    nodes = write("n.csv", "sep=:\nid:size:label\n1:5:x\n2:7:\n3:9:y\n")
    data = pl.read_dataset(edges, nodes=nodes, label_column="label")
    assert (data.X.shape, data.y.tolist()) == ((3, 1), [0, -1, 1])
