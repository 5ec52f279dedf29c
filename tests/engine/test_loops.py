"""The innermost loops against NumPy."""

import numpy as np
import pytest
from numba import njit

from planetoid.engine import loops


@njit
def sigmoids(values):
    loops.sigmoids(values, len(values))


@njit
def dots(row, table, rows, count, out):
    loops.dots(row, table, rows, count, out)


@njit
def add_rows(table, rows, factors, count, out):
    loops.add_rows(table, rows, factors, loops.fill_up(rows, factors, count), out)


def test_sigmoids_are_exact_to_six_digits():
    x = np.linspace(-40, 40, 20001).astype(np.float32)
    ours = x.copy()
    sigmoids(ours)
    exact = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -30, 30)))
    np.testing.assert_allclose(ours, exact, rtol=2e-6)


@pytest.mark.parametrize("dimension", [1, 7, 128])
def test_rows_are_scored_and_added(dimension):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((9, dimension)).astype(np.float32)
    rows = np.array([3, 1, 8, 8, 0, 0, 0, 0], np.int32)
    scores, row = np.zeros(8, np.float32), rng.standard_normal(dimension).astype(np.float32)
    dots(row, table, rows, 8, scores)
    np.testing.assert_allclose(scores, table[rows] @ row, rtol=1e-4, atol=1e-5)
    factors, out = rng.standard_normal(8).astype(np.float32), row.copy()
    add_rows(table, rows, factors, 5, out)
    np.testing.assert_allclose(out, row + factors[:5] @ table[rows[:5]], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(factors[5:], 0)
