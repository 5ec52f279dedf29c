"""Several labels per node in files: several records, several labels in a cell, and what is said without the option."""

import numpy as np
import pandas as pd
import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.io import read_label_sets, read_labels


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def blogcatalog(tmp_path):
    """Files as those of BlogCatalog: integers without a header, an edge or a membership per line."""
    edges = write(tmp_path, "edges.csv", "1,2\n2,3\n3,4\n1,5\n4,5\n")
    groups = write(tmp_path, "group-edges.csv", "1,1\n1,3\n2,1\n4,2\n4,3\n")
    return edges, groups


def test_files_of_the_blogcatalog_kind(blogcatalog):
    edges, groups = blogcatalog
    data = pl.read_dataset(edges=edges, labels=groups, multi_label=True)
    assert data.classes.tolist() == [1, 2, 3]
    assert data.labels.tolist() == [[1, 3], [1], None, [2, 3], None]
    assert data.Y.toarray().astype(int).tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]]
    model = pl.LabelPropagation().fit(data)
    assert model.predict(nodes=[1, 2]).tolist() == [[1, 0, 1], [1, 0, 0]]


def test_without_the_option_the_error_says_how(blogcatalog):
    edges, groups = blogcatalog
    with pytest.raises(DataError, match=r"line 2.*conflicting labels.*pass multi_label=True if nodes may have several"):
        pl.read_dataset(edges=edges, labels=groups)


def test_several_labels_in_a_cell(tmp_path):
    file = write(tmp_path, "l.csv", "id,label\na,x; y\nb,y;;\nc,\nd,NA\n")
    assert read_label_sets(file, label_separator=";", unlabelled=["NA"]) == {"a": ["x", "y"], "b": ["y"]}
    data = pl.read_dataset(
        edges=write(tmp_path, "e.csv", "source,target\na,b\nc,d\n"), labels=file, label_separator=";", unlabelled=["NA"]
    )
    assert data.labels.tolist() == [["x", "y"], ["y"], None, None]


def test_integers_in_cells_are_classes(tmp_path):
    file = write(tmp_path, "l.csv", "id,label\n1,10|2\n2,2\n")
    assert read_label_sets(file, label_separator="|") == {1: [10, 2], 2: [2]}


def test_a_repeated_label_counts_once(tmp_path):
    assert read_label_sets(write(tmp_path, "l.csv", "id,label\na,x\na,x\na,y\n")) == {"a": ["x", "y"]}


def test_tables_in_memory_and_unknown_nodes():
    table = pd.DataFrame({"id": ["a", "a", "q"], "label": ["x", "y", "x"]})
    graph = pl.Graph.from_edges(["a"], ["b"])
    with pytest.warns(PlanetoidWarning, match="q"):
        found = read_label_sets(table, graph)
    assert found.tolist() == [["x", "y"], None]


@pytest.mark.parametrize("separator", [";", "|", ","])
def test_cells_that_look_like_several_labels_are_questioned(tmp_path, separator):
    cells = [["g0"], ["g1"], ["g0", "g1"], ["g1", "g2"], ["g2"], ["g0", "g2"]]
    lines = "".join(f'{k},"{separator.join(cell)}"\n' for k, cell in enumerate(cells))
    file = write(tmp_path, "l.csv", "id,label\n" + lines)
    with pytest.warns(PlanetoidWarning, match="6 classes as they are, and 3 if nodes may have several") as caught:
        read_labels(file)
    (fix,) = caught[0].message.fixes
    assert (fix.parameter, fix.value) == ("label_separator", separator)


@pytest.mark.parametrize("names", [["Art, Music", "Law, Tax", "Tea"], ["a;b"] * 3, ["red", "blue", "red"]])
def test_ordinary_names_are_not(tmp_path, names):
    file = write(tmp_path, "l.csv", "id,label\n" + "".join(f'{k},"{name}"\n' for k, name in enumerate(names)))
    assert len(read_labels(file)) == 3  # a warning would fail the test


def test_validation_labels_of_several(tmp_path, blogcatalog):
    edges, groups = blogcatalog
    validation = write(tmp_path, "v.csv", "3,1\n3,2\n")
    data = pl.read_dataset(edges=edges, labels=groups, validation=validation, multi_label=True)
    assert data.validation_nodes[0].tolist() == [2]
    assert data.labels[2] == [1, 2]
    differing = write(tmp_path, "w.csv", "1,2\n")
    with pytest.raises(DataError, match="validation labels differ"):
        pl.read_dataset(edges=edges, labels=groups, validation=differing, multi_label=True)


def test_labels_in_a_node_table(tmp_path):
    nodes = write(tmp_path, "n.csv", "id,age,label\na,3,x;y\nb,4,\nc,5,y\nd,7,x\n")
    data = pl.read_dataset(nodes=nodes, label_separator=";")
    assert data.labels.tolist() == [["x", "y"], None, ["y"], ["x"]]
    assert data.X.shape[0] == 4


def test_wrong_options(tmp_path, blogcatalog):
    edges, groups = blogcatalog
    with pytest.raises(ParameterError, match="must not be empty"):
        pl.read_dataset(edges=edges, labels=groups, label_separator="")
    with pytest.raises(DataError, match="not text"):
        read_label_sets(pd.DataFrame({"id": [1], "label": [2]}), label_separator=";")


def test_parts_of_a_dataset_are_written_as_they_are_read(tmp_path):
    data = pl.datasets.make_multilabel(50, 4, seed=1)
    entries = data.Y.tocoo()
    file = tmp_path / "l.csv"
    pd.DataFrame({"id": entries.row, "label": data.classes[entries.col]}).to_csv(file, index=False)
    found = read_label_sets(file, data.graph)
    assert [sorted(labels) for labels in found] == [sorted(labels) for labels in data.labels]
    assert np.array_equal([len(labels) for labels in found], np.diff(data.Y.indptr))
