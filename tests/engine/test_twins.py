"""Nodes with the same neighbours: products with polynomials of a matrix, against the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from planetoid.engine import twins as module
from planetoid.engine.filters import Filter, GraphMatrix, add_powers
from planetoid.engine.twins import find_twins
from planetoid.graph.adjacency import normalized_adjacency

HUBS, LEAVES = 6, 60


@pytest.fixture
def adjacency() -> sparse.csr_array:
    """Hubs that are connected, with leaves of one hub or two, some of them with another weight."""
    random = np.random.default_rng(0)
    weights = np.zeros((HUBS + LEAVES, HUBS + LEAVES))
    weights[:HUBS, :HUBS] = np.triu(random.random((HUBS, HUBS)) < 0.6, 1)
    for leaf in range(HUBS, HUBS + LEAVES):
        weights[random.integers(HUBS), leaf] = 1.0 + (leaf % 7 == 0)
        if leaf % 3 == 0:
            weights[:2, leaf] = 1.0
    return sparse.csr_array(weights + weights.T, dtype=np.float32)


def cubic(matrix: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    total = np.float32(2) * values
    add_powers(matrix, values, 3, total, scale=0.9)
    return total


def dense_cubic(matrix: sparse.csr_array) -> np.ndarray:
    M = 0.9 * matrix.toarray().astype(np.float64)
    return 2 * np.eye(len(M)) + M + M @ M + M @ M @ M


def row_scaled(adjacency: sparse.csr_array) -> sparse.csr_array:
    matrix = sparse.csr_array(adjacency + sparse.eye_array(adjacency.shape[0], dtype=np.float32))
    return sparse.csr_array(sparse.diags_array(1 / matrix.sum(axis=1)) @ matrix, dtype=np.float32)


def test_twins_have_the_same_row(adjacency: sparse.csr_array) -> None:
    found = find_twins(normalized_adjacency(adjacency))
    assert found is not None
    rows = [tuple(row) for row in adjacency.toarray()]
    together = np.array([[one == other for other in rows] for one in rows])
    assert np.array_equal(found.group[:, None] == found.group, together)
    assert np.array_equal(found.size, np.bincount(found.group))


def test_neighbours_are_no_twins() -> None:
    """In a complete graph with self-loops all rows are the same, also on the diagonal, and no two nodes are twins."""
    assert find_twins(sparse.csr_array(np.ones((6, 6), np.float32))) is None


def test_nodes_with_other_entries_on_the_diagonal_are_no_twins(adjacency: sparse.csr_array) -> None:
    loops = sparse.diags_array(np.arange(1, adjacency.shape[0] + 1, dtype=np.float32))
    assert find_twins(sparse.csr_array(adjacency + loops)) is None


def test_nodes_with_the_same_entry_on_the_diagonal_are_twins_beside_others(adjacency: sparse.csr_array) -> None:
    kind = np.arange(adjacency.shape[0]) % 2
    found = find_twins(sparse.csr_array(adjacency + sparse.diags_array(1.0 + kind.astype(np.float32))))
    assert found is not None
    rows = [(*row, k) for row, k in zip(adjacency.toarray(), kind, strict=True)]
    together = np.array([[one == other for other in rows] for one in rows])
    assert np.array_equal(found.group[:, None] == found.group, together)


def test_few_twins_are_of_no_use() -> None:
    path = sparse.csr_array(sparse.diags_array([np.ones(9), np.ones(9)], offsets=[-1, 1]), dtype=np.float32)
    assert find_twins(path) is None


def test_rows_with_the_same_key_are_compared(adjacency: sparse.csr_array, monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant:
        def random(self, n: int | None = None) -> np.ndarray | float:
            return 0.0 if n is None else np.full(n, -0.5)

    monkeypatch.setattr(module.np.random, "default_rng", lambda _: Constant())
    assert find_twins(adjacency) is None


@pytest.mark.parametrize("normalised", [normalized_adjacency, row_scaled])
def test_products_are_those_of_the_dense_matrix(adjacency: sparse.csr_array, normalised) -> None:
    M = normalised(adjacency)
    matrix, expected = GraphMatrix(M, cubic), dense_cubic(M)
    assert matrix._twins is not None
    random = np.random.default_rng(1)
    values = random.normal(size=(M.shape[0], 5)).astype(np.float32)
    np.testing.assert_allclose(matrix.times(values), expected @ values, atol=1e-5)
    nodes = np.array([0, 9, 12, 15, 40])  # of which three are twins
    assert len(np.unique(matrix._twins.group[nodes])) < len(nodes)
    placed = np.zeros_like(values)
    placed[nodes] = values[: len(nodes)]
    np.testing.assert_allclose(matrix.times_rows(nodes, values[: len(nodes)]), expected @ placed, atol=1e-5)
    np.testing.assert_allclose(matrix.between(nodes, values[: len(nodes)]), (expected @ placed)[nodes], atol=1e-5)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("variant", ["ssgc", "sgc"])
def test_filter_of_a_graph_with_twins(adjacency: sparse.csr_array, variant: str, dense: bool) -> None:
    M = normalized_adjacency(adjacency)
    S = Filter(M, variant, 3, 0.1)(np.eye(M.shape[0], dtype=np.float32))
    exact = M.toarray().astype(np.float64)
    powers = [np.linalg.matrix_power(exact, k) for k in (1, 2, 3)]
    np.testing.assert_allclose(
        S, powers[-1] if variant == "sgc" else 0.3 * sum(powers) + 0.1 * np.eye(len(S)), atol=1e-6
    )
    X = sparse.random_array((M.shape[0], 30), density=0.2, rng=np.random.default_rng(2), dtype=np.float32, format="csr")
    nodes = np.array([0, 9, 12, 15, 40])
    found = Filter(M, variant, 3, 0.1).rows(X.toarray() if dense else X, nodes)
    np.testing.assert_allclose(found, (S @ X.toarray())[nodes], atol=1e-6)
