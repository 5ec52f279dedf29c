"""From files to a graph, features and labels: which nodes there are, in which order, and what is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from planetoid.cli.inputs import read_data
from planetoid.io.node_order import natural_order, sorted_ids
from planetoid.cli.sources import Sources
from planetoid.errors import DataError, ParameterError, PlanetoidWarning


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return file


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["p10", "p9", "p1"], ["p1", "p9", "p10"]),
        (["b2", "a10", "a9"], ["a9", "a10", "b2"]),
        (["10", "9"], ["9", "10"]),
        (["p007", "p6", "p7"], ["p6", "p007", "p7"]),
        (["p10", "p9", "x"], ["p10", "p9", "x"]),  # not all have a number: by code point
        (["p1a", "p1", "p02"], ["p02", "p1", "p1a"]),
        ([12, 3, -4], [-4, 3, 12]),
    ],
)
def test_ids_are_ordered_as_people_count(given, expected):
    values = pa.array(given)
    assert values.take(pa.array(natural_order(values))).to_pylist() == expected
    ids, place = sorted_ids(values)
    assert [ids[int(row)] for row in place] == given


def test_nodes_are_those_with_an_edge_and_those_with_features(write):
    edges = write("e.csv", "source,target\nb,a\nc,a\n")
    features = write("f.csv", "id,x,y\na,1,2\nd,3,4\nb,5,6\n")
    labels = write("l.csv", "id,label\na,red\nd,blue\n")
    with pytest.warns(PlanetoidWarning) as caught:
        data = read_data(Sources(edges, features, labels))
    told = [str(entry.message) for entry in caught]
    assert "1 of 3 rows belong to nodes without an edge (the first has the id 'd')" in told[0]
    assert "1 of 4 nodes have no row; their features are zero" in told[1]
    assert data.ids.to_numpy().tolist() == ["a", "b", "c", "d"]
    assert data.X.tolist() == [[1, 2], [5, 6], [0, 0], [3, 4]]
    assert data.labels.tolist() == ["red", None, None, "blue"]
    assert data.graph.degrees.tolist() == [2, 1, 1, 0]
    assert data.described.tolist() == [True, True, False, True]


@pytest.mark.parametrize("integers_in", ["edges", "features"])
def test_integers_and_their_names_are_the_same_ids(tmp_path, write, integers_in):
    """Text tells no difference; Parquet does, and one of the two files has strings here."""
    edges, features = pd.DataFrame({"source": [1, 2], "target": [2, 10]}), pd.DataFrame({"id": [10, 2, 1], "x": 1.0})
    if integers_in == "edges":
        features["id"] = features["id"].astype(str)
    else:
        edges = edges.astype(str)
    edges.to_parquet(tmp_path / "e.parquet")
    features.to_parquet(tmp_path / "f.parquet")
    data = read_data(Sources(tmp_path / "e.parquet", tmp_path / "f.parquet", write("l.csv", "id,label\n1,a\n10,b\n")))
    assert data.ids.to_numpy().tolist() == [1, 2, 10]
    assert data.labels.tolist() == ["a", None, "b"]


def test_integers_beside_names_become_names(write):
    edges = write("e.csv", "source,target\n1,2\n2,3\n")
    with pytest.warns(PlanetoidWarning):
        data = read_data(
            Sources(edges, write("f.csv", "id,x\n1,1\n2,1\nx7,1\n"), write("l.csv", "id,label\n1,a\n3,b\n"))
        )
    assert data.ids.to_numpy().tolist() == ["1", "2", "3", "x7"]


def test_features_of_other_nodes_are_refused(write):
    edges, features = write("e.csv", "source,target\na,b\n"), write("f.csv", "id,x\np,1\nq,2\n")
    with pytest.raises(DataError, match=r"f.csv: no record has the id of a node with an edge \(the first has 'p'"):
        read_data(Sources(edges, features, write("l.csv", "id,label\na,x\nb,y\n")))


def test_columns_are_taken_by_name(write, tmp_path):
    """Whatever their order, and with the id anywhere."""
    labels = write("l.csv", "id,label\na,x\nb,y\n")
    first = read_data(Sources(features=write("f.csv", "id,x,y,z\na,1,2,3\nb,4,5,6\n"), labels=labels))
    second = read_data(Sources(features=write("g.csv", "z,x,id,y\n6,4,b,5\n3,1,a,2\n"), labels=labels))
    assert first.X.tolist() == second.X.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert first.features.names.tolist() == second.features.names.tolist() == ["x", "y", "z"]


def test_a_table_of_zeros_becomes_sparse(tmp_path, write):
    X = np.zeros((30, 20), dtype=np.float32)
    X[np.arange(30), np.arange(30) % 20] = 1
    frame = pd.DataFrame(X[:, ::-1], columns=[f"w{k:02d}" for k in range(20)][::-1])
    frame.insert(5, "id", [f"p{k}" for k in range(30)])
    frame.to_parquet(tmp_path / "f.parquet")
    data = read_data(Sources(features=tmp_path / "f.parquet", labels=write("l.csv", "id,label\np0,x\np1,y\n")))
    assert sparse.issparse(data.X)
    assert np.array_equal(data.X.toarray(), X)


def test_columns_with_the_same_name_are_refused(write):
    features = write("f.csv", "id,x,x\na,1,2\nb,4,5\n")
    with pytest.raises(DataError, match="two columns called 'x'"):
        read_data(Sources(features=features, labels=write("l.csv", "id,label\na,x\nb,y\n")))


def test_a_column_of_words_can_be_ignored(write):
    features = write("f.csv", "id,title,x\na,On Fruit,1\nb,On Animals,2\n")
    labels = write("l.csv", "id,label\na,x\nb,y\n")
    with pytest.raises(DataError, match="column 'title' is not numbers"):
        read_data(Sources(features=features, labels=labels))
    data = read_data(Sources(features=features, labels=labels, ignore=("title",)))
    assert data.features.names.tolist() == ["x"]
    with pytest.raises(DataError, match="no column 'titel' to ignore"):
        read_data(Sources(features=features, labels=labels, ignore=("titel",)))
    with pytest.raises(ParameterError, match="--ignore names columns of --features"):
        Sources(edges=features, labels=labels, ignore=("title",))


def test_an_id_column_is_used_where_there_is_one(write):
    features = write("f.csv", "x,paper\n1,a\n2,b\n")
    labels = write("l.csv", "id,label\na,x\nb,y\n")
    data = read_data(Sources(features=features, labels=labels, id_column="paper"))
    assert data.ids.to_numpy().tolist() == ["a", "b"]
    with pytest.raises(DataError, match=r"there is no column 'papers' in .*f.csv, .*l.csv"):
        read_data(Sources(features=features, labels=labels, id_column="papers"))
    numbered = write("n.csv", "1,a\n2,b\n")
    data = read_data(Sources(features=numbered, labels=write("m.csv", "x,a\ny,b\n"), id_column=1))
    assert data.X.tolist() == [[1], [2]]
    assert data.labels.tolist() == ["x", "y"]


def test_columns_of_edges_and_direction(write):
    edges = write("e.csv", "kind,to_paper,from_paper,strength\nx,b,a,2\nx,c,a,3\n")
    labels = write("l.csv", "id,label\na,x\nb,y\n")
    told = {"source_column": "from_paper", "target_column": "to_paper", "weight_column": "strength"}
    data = read_data(Sources(edges, labels=labels, directed=True, **told))
    assert data.graph.directed
    assert data.graph.degrees.tolist() == [2, 0, 0]
    assert data.graph.weights.tolist() == [2, 3]


def test_a_header_can_be_asserted_and_denied(write):
    edges = write("e.csv", "alice,bob\ncarol,dave\nerin,alma\n")
    labels = write("l.csv", "carol,x\ndave,y\n")
    with pytest.warns(PlanetoidWarning, match="were read as an edge"):
        assert read_data(Sources(edges, labels=labels)).graph.n_nodes == 6
    assert read_data(Sources(edges, labels=labels, no_header=("edges",))).graph.n_nodes == 6
    assert read_data(Sources(edges, labels=labels, header=("edges",))).graph.n_nodes == 4
    with pytest.raises(ParameterError, match="--header vertices: it names one of edges, features"):
        Sources(edges, header=("vertices",))
    with pytest.raises(ParameterError, match="cannot both be right"):
        Sources(edges, header=("edges",), no_header=("edges",))


def test_rows_without_ids_are_the_nodes_from_zero(tmp_path, write):
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(np.eye(4)))
    labels = write("l.csv", "id,label\n0,x\n3,y\n")
    with pytest.warns(PlanetoidWarning, match="1 of 4 rows belong to nodes without an edge"):
        data = read_data(Sources(write("e.csv", "source,target\n2,0\n0,1\n"), tmp_path / "f.npz", labels))
    assert data.X.toarray().tolist() == np.eye(4).tolist()
    for wrong in ("source,target\n2,0\n0,4\n", "source,target\na,0\n0,4\n"):
        with (
            pytest.raises(DataError, match=r"has no ids: its 4 rows are the nodes 0 to 3, but .* has others"),
            pytest.warns(PlanetoidWarning),
        ):
            read_data(Sources(write("w.csv", wrong), tmp_path / "f.npz", labels))


def test_words_are_features(write):
    words = write("w.txt", "a dog:2 cat\nb emu\n")
    data = read_data(Sources(features=words, labels=write("l.csv", "id,label\na,x\nb,y\n")))
    assert data.features.names.tolist() == ["cat", "dog", "emu"]
    assert data.X.toarray().tolist() == [[1, 2, 0], [0, 0, 1]]
    with pytest.raises(ParameterError, match="--features-format words: it is one of table, tokens"):
        read_data(Sources(features=words, features_format="words"))


def test_a_label_is_to_learn_from_or_to_check_against(write):
    edges = write("e.csv", "source,target\na,b\nb,c\n")
    labels, validation = write("l.csv", "id,label\na,x\nb,y\n"), write("v.csv", "id,label\nb,y\nc,x\n")
    with pytest.raises(DataError, match=r"1 node is in .*l.csv and in .*v.csv, such as 'b'"):
        read_data(Sources(edges, labels=labels, validation=validation))


def test_hashes_name_the_files(write):
    sources = Sources(write("e.csv", "abc"), labels=write("l.csv", ""))
    assert [(entry["role"], entry["sha256"][:8]) for entry in sources.hashed()] == [
        ("edges", "ba7816bf"),
        ("labels", "e3b0c442"),
    ]
