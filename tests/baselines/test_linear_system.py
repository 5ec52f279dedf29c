"""The solvers of linear systems on graphs: factorisations beside conjugate gradients."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.baselines import linear_system
from planetoid.baselines.linear_system import MANY_COLUMNS, System, solve

N = 400


def ring_with_chords(n_chords: int) -> System:
    """Return a system without trees, whose factorisation has few entries unless there are many chords."""
    random = np.random.default_rng(0)
    row = np.concatenate([np.arange(N), random.integers(0, N, n_chords)])
    column = np.concatenate([np.roll(np.arange(N), 1), random.integers(0, N, n_chords)])
    weights = sparse.coo_array((random.random(len(row)) + 0.5, (row, column)), shape=(N, N))
    adjacency = sparse.csr_array(weights + weights.T)
    right = random.normal(size=(N, MANY_COLUMNS))
    return System(adjacency, adjacency @ np.ones(N) + 0.1, right, np.arange(N) % 50 > 0)


def closed_form(system: System) -> np.ndarray:
    free, found = system.free, np.zeros_like(system.right)
    matrix = np.diag(system.diagonal) - system.adjacency.toarray()
    found[free] = np.linalg.solve(matrix[free][:, free], system.right[free])
    return found


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small systems count as large ones."""
    monkeypatch.setattr(linear_system, "DIRECT_LIMIT", 0)


@pytest.mark.usefixtures("large")
def test_a_factorisation_with_few_entries_solves_many_columns():
    system = ring_with_chords(20)
    found = solve(system, "auto", tol=1e-6, max_iter=1000, n_jobs=None)
    assert found.converged
    assert found.n_iter == 1
    np.testing.assert_allclose(found.values, closed_form(system), atol=1e-9)


@pytest.mark.usefixtures("large")
def test_a_factorisation_that_drops_entries_gives_way_to_conjugate_gradients(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linear_system, "MOST_FILL", 1)
    system = ring_with_chords(400)
    found = solve(system, "auto", tol=1e-8, max_iter=1000, n_jobs=None)
    assert found.converged
    assert found.n_iter > 1
    np.testing.assert_allclose(found.values, closed_form(system), atol=1e-6)


@pytest.mark.usefixtures("large")
def test_few_columns_and_conjugate_gradients_by_name_are_not_factorised():
    system = ring_with_chords(20)
    few = System(system.adjacency, system.diagonal, system.right[:, :3], system.free)
    assert solve(few, "auto", tol=1e-6, max_iter=1000, n_jobs=None).n_iter > 1
    assert solve(system, "cg", tol=1e-6, max_iter=1000, n_jobs=None).n_iter > 1
