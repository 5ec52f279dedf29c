"""The counter-based generator against the published one, and its numbers against their distributions."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from planetoid.engine import generator

N = 100_000


@njit
def bits(key, first, count):
    return np.array([generator.bits_at(np.uint64(key), counter) for counter in range(first, first + count)])


@njit
def integers(key, n, count):
    return np.array([generator.below(np.uint64(key), counter, n) for counter in range(count)])


@njit
def units(seed, stream, count):
    """The first number of each of many keys, as draws of successive walks use them."""
    return np.array([generator.unit(generator.key_of(np.uint64(seed), stream, index), 0) for index in range(count)])


def test_bits_of_a_key_are_splitmix64():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert bits(1234567, 0, 4).tolist() == published


def test_any_slice_can_be_drawn_alone():
    np.testing.assert_array_equal(bits(7, 0, 1000)[250:300], bits(7, 250, 50))


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_integers_are_uniform(n):
    counts = np.bincount(integers(3, n, N), minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > 1e-4


def test_first_numbers_of_successive_keys_are_uniform_and_independent():
    drawn = units(0, generator.WALKS, N)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(N)


def test_seeds_and_streams_have_numbers_of_their_own():
    first = units(0, generator.WALKS, 1000)
    for seed, stream in ((1, generator.WALKS), (0, generator.NEGATIVES)):
        other = units(seed, stream, 1000)
        assert len(np.intersect1d(first, other)) == 0
        assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(1000)
