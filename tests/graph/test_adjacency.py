"""The adjacency matrix as methods use it, against dense arithmetic."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.graph.adjacency import mean_weight, normalized_adjacency, with_loops


def random_matrix(n, seed, loops=False):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.2), 0 if loops else 1)
    return sparse.csr_array(np.maximum(dense, dense.T).astype(np.float32))


@pytest.mark.parametrize("n", [1, 2, 17, 60])
@pytest.mark.parametrize("loops", [False, True])
def test_loops_are_added_to_the_diagonal(n, loops):
    matrix = random_matrix(n, n, loops)
    found = with_loops(matrix, 0.5)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray() + np.float32(0.5) * np.eye(n, dtype=np.float32))
    assert found.dtype == matrix.dtype
    assert found.has_canonical_format
    assert sparse.csr_array((found.data, found.indices, found.indptr), found.shape).has_canonical_format


def test_loops_are_added_to_entries_in_any_order():
    matrix = sparse.csr_array((np.ones(3), np.array([2, 1, 0]), np.array([0, 2, 2, 3])), (3, 3))
    found = with_loops(matrix, 2.0)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray() + 2 * np.eye(3))
    assert found.indices.tolist() == [0, 1, 2, 1, 0, 2]


def test_normalised_by_the_degrees_with_loops():
    matrix = random_matrix(40, 1)
    looped = matrix.toarray().astype(np.float64) + mean_weight(matrix) * np.eye(40)
    root = np.diag(looped.sum(axis=1) ** -0.5)
    np.testing.assert_allclose(normalized_adjacency(matrix).toarray(), root @ looped @ root, rtol=1e-6)
