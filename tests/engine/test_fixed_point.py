"""Dot products in fixed point: close to those of floats, and the same for any split of the columns."""

from itertools import pairwise

import numpy as np
import pytest

from planetoid.engine.compiling import entry
from planetoid.engine.fixed_point import UNIT, fixed_dot, fixed_dots, scale_up


@entry
def dots(row, table, rows, scaled, out, one_by_one):
    scale_up(row, scaled)
    fixed_dots(scaled, table, rows, len(rows), out)
    for k in range(len(rows)):
        one_by_one[k] = fixed_dot(scaled, table[rows[k]])


def fixed(row, table):
    out, one_by_one = np.zeros(len(table), np.int32), np.zeros(len(table), np.int32)
    row, rows = np.ascontiguousarray(row), np.arange(len(table), dtype=np.int32)
    dots(row, np.ascontiguousarray(table), rows, row.copy(), out, one_by_one)
    np.testing.assert_array_equal(out, one_by_one)
    return out


def some(seed, n, dimension, size=0.5):
    return (np.random.default_rng(seed).standard_normal((n, dimension)) * size).astype(np.float32)


def test_values_by_hand():
    row = np.array([0.5, -2.0, 0.0], np.float32)
    table = np.array([[1, 1, 9], [4, 0.25, 1], [2.0**-18, 0, 0], [3 * 2.0**-18, 0, 0]], np.float32)
    # -1.5, 1.5, half a unit rounded to even, one and a half units rounded to even
    assert fixed(row, table).tolist() == [-1.5 * 2**18, 1.5 * 2**18, 0, 2]


@pytest.mark.parametrize("dimension", [1, 15, 16, 17, 100, 128, 300])
def test_close_to_the_dot_product(dimension):
    row, table = some(0, 1, dimension)[0], some(1, 8, dimension)
    error = fixed(row, table) * float(UNIT) - table.astype(float) @ row.astype(float)
    # rounding to a multiple of the unit, and each product to float32
    assert np.abs(error).max() < dimension * (0.5 * UNIT + 2.0**-20)


@pytest.mark.parametrize("bounds", [[0, 112], [0, 16, 112], [0, 48, 64, 112], [0, 1, 2, 50, 112]])
def test_any_split_of_the_columns_has_the_same_sum(bounds):
    row, table = some(2, 1, 112, 2.0)[0], some(3, 16, 112, 2.0)
    parts = [fixed(row[a:b], table[:, a:b]) for a, b in pairwise(bounds)]
    np.testing.assert_array_equal(np.sum(parts, axis=0, dtype=np.int32), fixed(row, table))


def test_products_beyond_the_range_stay_large():
    row, table = np.array([6.0], np.float32), np.array([[6.0], [-6.0], [1000.0], [2.0]], np.float32)
    scores = fixed(row, table) * float(UNIT)
    assert scores[0] > 16
    assert scores[1] < -16
    assert scores[2] > 16
    assert scores[3] == 12
