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


@njit
def add_rows_in_turn(table, first, rows, factors, out):
    loops.add_rows_in_turn(table, first, rows, factors, out)


@njit
def add_one_row_at_a_time(table, first, rows, factors, out):
    for k in range(len(rows)):
        loops.add_row(table[rows[k]][first : first + len(out)], factors[k], out)


@njit
def combine_rows(table, factors, out):
    loops.combine_rows(table, factors, out)


@pytest.mark.parametrize("count", [0, 3, 4, 10])
@pytest.mark.parametrize("dimension", [1, 7, 41])
def test_rows_in_turn_have_the_bits_of_one_row_at_a_time(count, dimension):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((9, dimension + 2)).astype(np.float32)
    rows, factors = rng.integers(0, 9, count).astype(np.int32), rng.standard_normal(count).astype(np.float32)
    start = rng.standard_normal(dimension).astype(np.float32)
    found, expected = start.copy(), start.copy()
    add_rows_in_turn(table, 2, rows, factors, found)
    add_one_row_at_a_time(table, 2, rows, factors, expected)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, start + factors @ table[rows, 2:], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [1, 4, 9])
def test_a_combination_of_all_rows_has_the_bits_of_sums_in_order(count):
    rng = np.random.default_rng(0)
    table, factors = rng.standard_normal((count, 21)).astype(np.float32), rng.standard_normal(count).astype(np.float32)
    found, expected = np.ones(21, np.float32), np.ones(21, np.float32)
    combine_rows(table, factors, found)
    for row, factor in zip(table, factors, strict=True):
        expected += factor * row
    np.testing.assert_array_equal(found, expected)
