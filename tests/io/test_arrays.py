"""Arrays: which of a file is meant, ids, pairs and adjacency matrices."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from planetoid.errors import DataError
from planetoid.graph import Graph
from planetoid.io import read_features, read_labels


def test_edges_from_pairs_and_from_matrices(tmp_path):
    pairs = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
    expected = Graph.from_edges(pairs[:, 0], pairs[:, 1]).to_scipy().toarray()
    np.save(tmp_path / "pairs.npy", pairs)
    np.save(tmp_path / "edge_index.npy", pairs.T)
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.triu(expected)))
    scipy.io.savemat(tmp_path / "a.mat", {"network": np.triu(expected), "other": np.eye(4), "note": "hello"})
    for name in ("pairs.npy", "edge_index.npy", "a.npz", "a.mat"):
        graph = Graph.of(tmp_path / name)
        assert (graph.to_scipy().toarray() == expected).all(), name
        assert graph.node_ids.tolist() == [0, 1, 2, 3]
    weighted = np.array([[0, 1, 0.5], [1, 2, 2.0]])
    np.save(tmp_path / "weighted.npy", weighted)
    assert Graph.of(tmp_path / "weighted.npy").strengths.tolist() == [0.5, 2.5, 2.0]


def test_features_with_and_without_ids(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    found = read_features(tmp_path / "x.npy")
    assert (found.X == X).all()
    assert not found.has_ids
    np.savez(tmp_path / "e.npz", ids=np.array(["c", "a", "b"]), embedding=X)
    found = read_features(tmp_path / "e.npz")
    assert found.ids.to_numpy().tolist() == ["c", "a", "b"]
    np.savez(tmp_path / "e.npz", ids=np.array([5, 7]), embedding=X)
    with pytest.raises(DataError, match="2 ids, but 'embedding' has 3 rows"):
        read_features(tmp_path / "e.npz")
    X[1, 1] = np.inf
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match=r"row 1, column 1 .*: inf is not a finite number"):
        read_features(tmp_path / "x.npy")


@pytest.mark.filterwarnings("error")  # numpy's, about an overflow
def test_numbers_beyond_float32_are_errors(tmp_path):
    X = np.array([[1.0, 2.0], [0.0, 1e200]])
    np.save(tmp_path / "x.npy", X)
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(X))
    scipy.io.savemat(tmp_path / "x.mat", {"x": sparse.csc_matrix(X)})
    for name in ("x.npy", "x.npz", "x.mat"):
        with pytest.raises(DataError, match=r"row 1, column 1 .*: 1e\+200 is beyond 3\.4e38"):
            read_features(tmp_path / name)


def test_labels_are_one_per_node(tmp_path):
    np.save(tmp_path / "y.npy", np.array([0, 2, -1]))
    assert read_labels(tmp_path / "y.npy") == {0: 0, 1: 2, 2: -1}  # -1 is unlabelled when it is encoded
    np.savez(tmp_path / "y.npz", ids=np.array(["b", "a"]), y=np.array(["x", ""]))
    assert read_labels(tmp_path / "y.npz") == {"b": "x"}


def test_several_arrays_that_fit(tmp_path):
    np.savez(tmp_path / "two.npz", first=np.eye(3), second=np.eye(3))
    with pytest.raises(DataError, match="'first', 'second' fit; save it alone, or under the name 'x'"):
        read_features(tmp_path / "two.npz")
    np.savez(tmp_path / "two.npz", first=np.eye(3), features=2 * np.eye(3))
    assert read_features(tmp_path / "two.npz").X[0, 0] == 2


def test_a_damaged_file_of_matlab_is_an_error_and_no_crash(tmp_path):
    path = tmp_path / "m.mat"
    scipy.io.savemat(path, {"X": sparse.csc_matrix(np.eye(4))})
    assert read_features(path).X.toarray().tolist() == np.eye(4).tolist()
    content = path.read_bytes()
    for at in range(130, len(content), 40):  # in the header of the matrix and in its arrays
        path.write_bytes(content[:at] + b"\xff\xfe\x7f" + content[at + 3 :])
        with suppress(DataError):  # or numbers that are still in range
            read_features(path)


def test_indices_of_a_matlab_matrix_are_checked(tmp_path, monkeypatch):
    broken = sparse.csc_matrix(np.eye(3))
    broken.indices[1] = 50_000_000
    scipy.io.savemat(tmp_path / "m.mat", {"X": broken})
    with pytest.raises(DataError, match="an index must be from 0 to 2, got 50,000,000"):
        read_features(tmp_path / "m.mat")


def test_long_ids_and_archives_that_expand(tmp_path):
    np.savez(tmp_path / "i.npz", ids=np.array(["a" * 20_000, "b"]), x=np.eye(2))
    with pytest.raises(DataError, match="an id or a label of 20,000 bytes is over the limit"):
        read_features(tmp_path / "i.npz")
    np.savez_compressed(tmp_path / "i.npz", x=np.zeros((2**21, 2)))
    with pytest.raises(DataError, match="decompresses to"):
        read_features(tmp_path / "i.npz")
