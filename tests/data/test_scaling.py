"""Row scaling: norms, precision and containers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from planetoid.data.scaling import scale_rows

ROWS = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, -2.0, 2.0]], dtype=np.float32)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("l1", [[3 / 7, 4 / 7, 0], [0, 0, 0], [0, -0.5, 0.5]]),
        ("l2", [[0.6, 0.8, 0], [0, 0, 0], [0, -(0.5**0.5), 0.5**0.5]]),
        (None, ROWS),
    ],
)
def test_norms(norm, expected, kind):
    scaled = scale_rows(kind(ROWS), norm)
    assert type(scaled) is type(kind(ROWS))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.toarray() if sparse.issparse(scaled) else scaled, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_as_scikit_learn(kind, norm, dtype):
    rows = np.random.default_rng(1).random((60, 9)).astype(dtype)
    rows[rows < 0.4] = 0
    rows[7] = 0
    rows[8] = 1e-9
    ours, theirs = scale_rows(kind(rows), norm), normalize(kind(rows), norm=norm)
    assert ours.dtype == theirs.dtype
    dense = [one.toarray() if sparse.issparse(one) else one for one in (ours, theirs)]
    np.testing.assert_array_equal(*dense)


def test_the_norm_is_taken_before_the_conversion():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 7)).astype(np.float32)
    scaled = scale_rows(rows, "l2", np.float64)
    assert scaled.dtype == np.float64
    np.testing.assert_array_equal(scaled, normalize(rows).astype(np.float64))


def test_the_input_is_left_alone():
    rows = ROWS.copy()
    rows.flags.writeable = False
    scale_rows(rows, "l2")
    np.testing.assert_array_equal(rows, ROWS)
    assert scale_rows(rows, None) is rows


@pytest.mark.parametrize("canonical", [True, False])
def test_rows_whose_entries_may_move_are_not_shared(canonical):
    rows = sparse.csr_array((np.ones(2, np.float32), [1, 0] if not canonical else [0, 1], [0, 2]), shape=(1, 3))
    assert bool(rows.has_canonical_format) == canonical
    scaled = scale_rows(rows, "l2")
    assert np.shares_memory(scaled.indices, rows.indices) == canonical
    before = rows.indices.copy()
    scaled.sort_indices()
    np.testing.assert_array_equal(rows.indices, before)


@pytest.mark.filterwarnings("error")  # numpy's, about an overflow
@pytest.mark.parametrize("size", [1e-30, 1e-10, 1.0, 1e18, 1e30])
@pytest.mark.parametrize("zero", [0, 1])
def test_squares_neither_overflow_nor_vanish(size, zero):
    """With or without a zero among the entries."""
    entries, columns = np.array([3 * size, 4 * size, 0.0], np.float32)[: 2 + zero], np.arange(2 + zero)
    rows = sparse.csr_array((entries, (np.zeros_like(columns), columns)), (1, 3))
    np.testing.assert_allclose(scale_rows(rows, "l2").toarray(), [[0.6, 0.8, 0.0]], rtol=1e-6)
