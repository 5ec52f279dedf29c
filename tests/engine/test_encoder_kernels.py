"""Parts of compiled steps through a layer, each against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.engine.encoder_kernels import (
    LINEAR,
    RELU,
    TANH,
    Numbering,
    add_to_rows,
    back_through_layer,
    copy_rows,
    encode_rows,
)

GENERATOR = np.random.default_rng(0)
X = sparse.random_array((9, 6), density=0.4, rng=GENERATOR, dtype=np.float32).tocsr()
ACTIVATIONS = {LINEAR: lambda h: h, RELU: lambda h: np.maximum(h, 0), TANH: np.tanh}
SLOPES = {LINEAR: lambda e: np.ones_like(e), RELU: lambda e: e > 0, TANH: lambda e: 1 - e**2}


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_numbers_are_those_of_unique_in_every_call(kind):
    number = Numbering(50)
    for _ in range(3):
        values = GENERATOR.integers(0, 50, 40).astype(kind)
        for found, expected in zip(number(values), np.unique(values, return_inverse=True), strict=True):
            np.testing.assert_array_equal(found, expected)
    distinct, inverse = number(np.empty(0, kind))
    assert len(distinct) == len(inverse) == 0


def test_copied_rows_are_those_of_scipy():
    rows = np.array([4, 0, 8, 4])
    expected = X[rows]
    columns, values = np.empty_like(expected.indices), np.empty_like(expected.data)
    copy_rows(X.indptr, X.indices, X.data, rows, expected.indptr, columns, values)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(values, expected.data)


@pytest.mark.parametrize("activation", [LINEAR, RELU, TANH])
def test_a_layer_forward_and_back(activation):
    weight, bias = GENERATOR.normal(size=(6, 5)).astype(np.float32), GENERATOR.normal(size=5).astype(np.float32)
    e, gradient = np.empty((9, 5), np.float32), GENERATOR.normal(size=(9, 5)).astype(np.float32)
    encode_rows(X.indices, X.indptr[:-1], X.data, weight, bias, activation, e)
    np.testing.assert_allclose(e, ACTIVATIONS[activation](X @ weight + bias), rtol=1e-5, atol=1e-6)
    expected = gradient * SLOPES[activation](e)
    of_bias = np.ones(5, np.float32)
    back_through_layer(e, activation, gradient, of_bias)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_bias, 1 + expected.sum(axis=0), rtol=1e-5, atol=1e-6)


def test_rows_are_added_where_they_belong():
    table, out = GENERATOR.normal(size=(3, 4)).astype(np.float32), np.ones((6, 4), np.float32)
    expected = out.copy()
    expected[[5, 0, 2]] += np.float32(-0.5) * table
    add_to_rows(table, np.float32(-0.5), np.array([5, 0, 2]), out)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
