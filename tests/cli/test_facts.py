"""What ``planetoid check`` says about columns of features, dense or sparse."""

import json

import numpy as np
import pytest
from scipy import sparse

from planetoid.cli.facts import _sparse_spread


@pytest.fixture
def doubts(tmp_path, done):
    """Return what is said about a matrix that is kept sparse."""

    def look(X):
        sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(X))
        return " ".join(json.loads(done("check", "--features", tmp_path / "f.npz", "--json").stdout)["doubts"])

    return look


def words(n_rows=400, n_columns=60):
    return (np.random.default_rng(0).random((n_rows, n_columns)) < 0.05).astype(np.float32)


def test_a_column_that_drowns_the_others_of_a_sparse_table(doubts):
    X = words()
    assert "drown" not in doubts(X)
    X[:, 7] *= 1e5
    assert "The feature column 7 varies" in doubts(X)
    X[:, 7] = 1e5 * np.arange(len(X))  # a number in every row, as a count of seconds has
    assert "The feature column 7 varies" in doubts(X)


def test_a_rare_word_does_not_make_a_common_one_wide(doubts):
    X = np.zeros((300_000, 5), dtype=np.float32)
    X[::2, 0] = 1
    X[range(1, 5), range(1, 5)] = 0.2
    assert X[:, 0].std() > 1000 * X[:, 1].std()  # over all rows
    assert "drown" not in doubts(X)


def test_sparse_columns_that_say_nothing(doubts):
    X = words()
    X[:, 3] = 0
    X[:, 4] = 0.1
    assert "2 columns of features have the same value everywhere" in doubts(X)


def test_spread_over_stored_entries():
    X = np.array([[2, 0, 7], [0, 0, 7], [0, 0, 7], [2, 0, 7]], dtype=np.float32)
    assert _sparse_spread(sparse.csr_array(X)).tolist() == pytest.approx([np.sqrt(4 * 1 / 2), 0, 0])
