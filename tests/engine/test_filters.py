"""Powers of a sparse matrix times columns, against scipy's products; filters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from planetoid.engine.filters import Filter, add_powers, column_blocks


@pytest.fixture
def matrix() -> sparse.csr_array:
    random = np.random.default_rng(0)
    weights = random.random((200, 200)) * (random.random((200, 200)) < 0.05)
    weights[7] = 0.0  # an isolated node
    weights[11] = random.random(200)  # a hub
    return sparse.csr_array(weights, dtype=np.float32)


def by_scipy(
    matrix: sparse.csr_array, values: np.ndarray, steps: int, total: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    for _ in range(steps):
        values = np.float32(scale) * (matrix @ values)
        total = total + values
    return values, total


@pytest.mark.parametrize("n_threads", [None, 1, 2, 5])
@pytest.mark.parametrize("columns", [1, 7, 28, 64])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_add_powers_has_the_bits_of_scipy(
    matrix: sparse.csr_array, steps: int, columns: int, n_threads: int | None
) -> None:
    values = np.random.default_rng(1).random((200, columns), dtype=np.float32)
    before, total = values.copy(), np.full_like(values, 0.25)
    expected_power, expected_total = by_scipy(matrix, values, steps, total.copy(), 0.1)
    power = add_powers(matrix, values, steps, total, scale=0.1, n_threads=n_threads)
    assert np.array_equal(power, expected_power)
    assert np.array_equal(total, expected_total)
    assert np.array_equal(values, before)


def test_more_threads_than_rows_are_of_no_harm() -> None:
    matrix = sparse.csr_array(np.eye(3, dtype=np.float32))
    total = np.zeros((3, 2), np.float32)
    add_powers(matrix, np.ones((3, 2), np.float32), 4, total, n_threads=8)
    assert np.array_equal(total, np.full((3, 2), 4.0))


def test_columns_in_another_order_in_memory(matrix: sparse.csr_array) -> None:
    values = np.asfortranarray(np.random.default_rng(1).random((200, 3)))
    total = np.zeros((200, 3), np.float32)
    expected = by_scipy(matrix, values.astype(np.float32), 2, total.copy(), 1.0)
    assert np.array_equal(add_powers(matrix, values, 2, total, n_threads=1), expected[0])
    assert np.array_equal(total, expected[1])


@pytest.mark.parametrize("variant", ["ssgc", "sgc"])
def test_filter_against_its_dense_matrix(matrix: sparse.csr_array, variant: str) -> None:
    dense = (matrix + matrix.T).toarray().astype(np.float64) / 20
    powers = [np.linalg.matrix_power(dense, k) for k in range(1, 4)]
    S = 0.9 * sum(powers) / 3 + 0.1 * np.eye(200) if variant == "ssgc" else powers[-1]
    values = np.random.default_rng(1).random((200, 5), dtype=np.float32)
    found = Filter(sparse.csr_array(dense, dtype=np.float32), variant, 3, 0.1, n_threads=2)(values)
    np.testing.assert_allclose(found, S @ values, rtol=1e-5)


@pytest.mark.parametrize("variant", ["ssgc", "sgc"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_few_steps_are_sparse_products(variant: str, kind: type) -> None:
    """On a ring a node reaches two others in a step: nothing dense is needed, and the rows are the same."""
    n = 400
    ring = np.roll(np.eye(n, dtype=np.float32), 1, axis=1)
    adjacency = sparse.csr_array(0.5 * (ring + ring.T))
    X, nodes = np.random.default_rng(0).random((n, 6)).astype(np.float32), np.array([3, 7, 200])
    filter_ = Filter(adjacency, variant, 2, 0.3)
    near = filter_._near(nodes)
    assert near is not None
    assert near.nnz <= 3 * 5
    for dtype in (np.float32, np.float64):
        found = filter_.rows(kind(X), nodes, dtype)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, filter_(X)[nodes], rtol=1e-5)
    hub = adjacency.tolil()
    hub[3], hub[:, [3]] = 1.0, 1.0
    assert Filter(sparse.csr_array(hub, dtype=np.float32), variant, 2, 0.3)._near(nodes) is None


def test_fewer_columns_at_once_where_they_are_long() -> None:
    assert [block.stop - block.start for block in column_blocks(150, 1_000)] == [64, 64, 22]
    assert [block.stop - block.start for block in column_blocks(35, 4_000_000)] == [16, 16, 3]
    assert [block.stop - block.start for block in column_blocks(9, 10**9)] == [4, 4, 1]
