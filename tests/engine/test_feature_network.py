"""Class probabilities of rows in compiled code, against NumPy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from planetoid.data.scaling import scale_rows
from planetoid.models.student import DistilledLayers, Student, class_probabilities
from planetoid.training.consistency_loss import new_layers


@pytest.fixture(scope="module", name="X")
def rows() -> sparse.csr_array:
    random = np.random.default_rng(0)
    X = sparse.random_array((60, 25), density=0.3, rng=random, dtype=np.float32, format="csr")
    X.data -= np.float32(0.3)
    return sparse.vstack([X, sparse.csr_array((1, 25), dtype=np.float32)], format="csr")  # the last has no feature


@pytest.fixture(scope="module")
def layers():
    layers = new_layers(25, 13, 5, seed=0)
    random = np.random.default_rng(1)
    b1, b2, direct = (random.normal(size=size).astype(np.float32) for size in (13, 5, (25, 5)))
    return DistilledLayers(layers.W1, b1 / 5, layers.W2, b2, direct)


def knows(rows: sparse.csr_array, layers) -> tuple[Student, np.ndarray]:
    opinion = np.random.default_rng(2).dirichlet(np.ones(5), rows.shape[0]).astype(np.float32)
    return Student.of(layers, rows, opinion), opinion


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
def test_new_rows_are_scaled_and_go_through_the_network(X, layers, norm) -> None:
    student, _ = knows(sparse.csr_array(np.ones((1, 25), np.float32)), layers)
    found, expected = student.predict(X, norm), class_probabilities(layers, scale_rows(X, norm))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.array_equal(found.argmax(axis=1), expected.argmax(axis=1))


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
def test_known_rows_are_found_after_scaling(X, layers, norm) -> None:
    student, opinion = knows(scale_rows(X[:30], norm), layers)
    found = student.predict(X, norm)
    assert np.array_equal(found[:30], opinion)
    np.testing.assert_allclose(found[30:], class_probabilities(layers, scale_rows(X, norm))[30:], atol=1e-6)


def test_a_row_at_a_time_has_the_bits_of_all_rows(X, layers) -> None:
    student, _ = knows(X[:10], layers)
    together = student.predict(X, "l2")
    assert np.array_equal(np.vstack([student.predict(X[[row]], "l2") for row in range(X.shape[0])]), together)
    assert student.predict(X[:0], "l2").shape == (0, 5)


def test_rows_in_other_types_and_orders_are_the_same(X, layers) -> None:
    student, _ = knows(X[:10], layers)
    expected = student.predict(X)
    order = np.concatenate(
        [np.arange(first, last)[::-1] for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    turned = sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    assert not turned.has_sorted_indices
    wide = X.astype(np.float64)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frozen = X.copy()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    for same in (turned, wide, frozen, X.toarray()):
        assert np.array_equal(student.predict(same), expected)
