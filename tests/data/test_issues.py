"""Possible issues with columns of features, dense or sparse."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.data.issues import find_issues, sparse_spread
from planetoid.data.summary import count
from planetoid.ids import NodeIds


def issues(X):
    graph = pl.Graph.without_edges(NodeIds(X.shape[0]))
    data = pl.Dataset("features", graph, X, np.full(X.shape[0], -1), ())
    return " ".join(find_issues(data, count(data)))


def words(n_rows=400, n_columns=60):
    return (np.random.default_rng(0).random((n_rows, n_columns)) < 0.05).astype(np.float32)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_a_column_that_dominates_the_others(form):
    X = words()
    assert "dominates" not in issues(form(X))
    X[:, 7] *= 1e5
    assert "Feature column 7 varies" in issues(form(X))
    X[:, 7] = 1e5 * np.arange(len(X))  # a number in every row, as a count of seconds has
    assert "Feature column 7 varies" in issues(form(X))


def test_a_rare_word_does_not_make_a_common_one_dominate():
    X = np.zeros((300_000, 5), dtype=np.float32)
    X[::2, 0] = 1
    X[range(1, 5), range(1, 5)] = 0.2
    assert X[:, 0].std() > 1000 * X[:, 1].std()  # over all rows
    assert "dominates" not in issues(sparse.csr_array(X))


def test_constant_columns():
    X = words()
    X[:, 3] = 0
    X[:, 4] = 0.1
    assert "2 feature columns are constant" in issues(X)


def test_spread_over_stored_entries():
    X = np.array([[2, 0, 7], [0, 0, 7], [0, 0, 7], [2, 0, 7]], dtype=np.float32)
    assert sparse_spread(sparse.csr_array(X)).tolist() == pytest.approx([np.sqrt(4 * 1 / 2), 0, 0])
