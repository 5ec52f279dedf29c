"""The loss of a list of pairs with its gradients, Adam on some rows, and a sparse gradient, against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.engine.pair_kernels import (
    adam_on_rows,
    add_transposed_product,
    loss_of_pairs,
    loss_of_scored_pairs,
    score_pairs,
)


def some_pairs(kind):
    """Return e and w, the rows of both that are pairs, their signs and their shares."""
    rng = np.random.default_rng(0)
    e, w = (rng.standard_normal((n, 24)).astype(kind) for n in (30, 40))
    row, c = rng.integers(0, 30, 500), rng.integers(0, 40, 500)
    gamma = np.where(rng.random(500) < 0.3, 1, -1).astype(np.int8)
    return e, w, row, c, gamma, rng.random(500).astype(np.float32)


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_loss_of_pairs_is_equation_3(kind, tolerance):
    e, w, row, c, gamma, share = some_pairs(kind)
    contexts, slot = np.unique(c, return_inverse=True)
    gradient_e, gradient_w = np.zeros_like(e), np.zeros((len(contexts), 24), kind)
    loss = loss_of_pairs(e, row, w, c, slot, gamma, share, gradient_e, gradient_w)
    signed = gamma * (e[row].astype(np.float64) * w[c]).sum(axis=1)
    assert loss == pytest.approx((share * np.log1p(np.exp(-signed))).sum(), rel=tolerance)
    slope = (-share * gamma / (1 + np.exp(signed)))[:, None]  # d loss / d score
    expected_e, expected_w = np.zeros((30, 24)), np.zeros((40, 24))
    np.add.at(expected_e, row, slope * w[c])
    np.add.at(expected_w, c, slope * e[row])
    np.testing.assert_allclose(gradient_e, expected_e, atol=10 * tolerance)
    np.testing.assert_allclose(gradient_w, expected_w[contexts], atol=10 * tolerance)


def test_the_columns_of_a_pair_add_up_to_its_loss_and_its_gradients():
    e, w, row, c, gamma, share = some_pairs(np.float32)
    contexts, slot = np.unique(c, return_inverse=True)
    expected = np.zeros_like(e), np.zeros((len(contexts), 24), np.float32)
    loss = loss_of_pairs(e, row, w, c, slot, gamma, share, *expected)
    parts = [[np.ascontiguousarray(table[:, columns]) for table in (e, w)] for columns in (slice(0, 7), slice(7, 24))]
    scores = np.zeros((2, 500), np.int32)
    for (own_e, own_w), own_scores in zip(parts, scores, strict=True):
        score_pairs(own_e, row, own_w, c, np.empty_like(own_e), own_scores)
    total = scores.sum(axis=0, dtype=np.int32)
    found = []
    for own_e, own_w in parts:
        gradients = np.zeros_like(own_e), np.zeros((len(contexts), own_e.shape[1]), np.float32)
        assert loss_of_scored_pairs(total, own_e, row, own_w, c, slot, gamma, share, *gradients) == pytest.approx(loss)
        found.append(gradients)
    for own, whole in zip(zip(*found, strict=True), expected, strict=True):
        np.testing.assert_allclose(np.concatenate(own, axis=1), whole, atol=2e-4)


def test_adam_moves_the_rows_of_its_gradient_and_no_other():
    rng = np.random.default_rng(1)
    table = rng.standard_normal((6, 5))
    before, mean, square = table.copy(), np.zeros((6, 5)), np.zeros((6, 5))
    rows, gradients = np.array([4, 1]), rng.standard_normal((3, 2, 5))
    m = v = np.zeros((2, 5))
    expected = before[rows]
    for step, gradient in enumerate(gradients, start=1):
        adam_on_rows(table, mean, square, rows, gradient, 0.01, 0.9, 0.999, 1e-8, step)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        expected = expected - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    np.testing.assert_allclose(table[rows], expected, rtol=1e-6)
    others = [0, 2, 3, 5]
    np.testing.assert_array_equal(table[others], before[others])


def test_transposed_product():
    X = sparse.random_array((30, 12), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    X.data[:3] = 0.0
    assert (np.diff(X.indptr) == 0).any(), "a row without entries"
    rows = np.random.default_rng(1).normal(size=(30, 5)).astype(np.float32)
    out = np.ones((12, 5), np.float32)
    add_transposed_product(X.indices, X.indptr[:-1], X.data, rows, out)
    np.testing.assert_allclose(out, 1 + X.T @ rows, rtol=1e-5, atol=1e-6)
