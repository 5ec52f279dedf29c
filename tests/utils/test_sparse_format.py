"""A matrix whose indices point outside is an error, in every format, before scipy reads or writes there."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import planetoid as pl
from planetoid.errors import DataError
from planetoid.utils.sparse_format import check_sparse_format

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dia", "dok")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (0, 3), (3, 0)])
def test_what_scipy_makes_is_valid(form, shape):
    check_sparse_format(sparse.coo_array(np.eye(*shape)).asformat(form))


def csr(indices, indptr, shape=(2, 4), kind=sparse.csr_array):
    matrix = kind(shape)
    matrix.data, matrix.indices, matrix.indptr = np.ones(len(indices)), np.array(indices), np.array(indptr)
    return matrix


@pytest.mark.parametrize(
    ("indices", "indptr", "words"),
    [
        ([0, 7], [0, 1, 2], "from 0 to 3, got 7"),
        ([0, -1], [0, 1, 2], "got -1"),
        ([0, 1], [0, 2, 1], "indptr must increase"),
        ([0, 1], [1, 1, 2], "indptr must increase"),
        ([0, 1], [0, 1, 3], "from 0 to 2, the number of indices"),
        ([0, 1], [0, 1, 1], "from 0 to 2, the number of indices"),  # scipy would read memory that it did not write
        ([0, 1], [0, 5, 0], "indptr must increase"),  # scipy's own check passes: it looks at the last entry
        ([0, 1], [0, 2], "3 integers, got 2"),
        ([0.0, 1.0], [0, 1, 2], "must be integers"),
    ],
)
def test_compressed_rows_and_columns(indices, indptr, words):
    with pytest.raises(DataError, match=words):
        check_sparse_format(csr(indices, indptr))
    with pytest.raises(DataError, match=words):
        check_sparse_format(csr(indices, indptr, (4, 2), sparse.csc_array))


def test_other_formats():
    coo = sparse.coo_array(np.eye(2))
    coo.coords = (np.array([0, 5]), np.array([0, 1]))
    lil = sparse.lil_array((2, 2))
    lil.rows[0], lil.data[0] = [50_000_000], [1.0]
    short = sparse.lil_array((2, 2))
    short.rows[0], short.data[0] = [0], [1.0] * 9
    dia = sparse.dia_array(np.eye(3))
    dia.offsets = np.array([0, 1, 2])
    bsr = sparse.bsr_array(np.eye(4), blocksize=(2, 2))
    bsr.indices = np.array([0, 2])
    blocks = sparse.bsr_array(np.eye(4), blocksize=(2, 2))
    blocks.data = np.ones((2, 3, 2))
    for wrong in (coo, lil, short, dia, bsr, blocks):
        with pytest.raises(DataError, match="the sparse matrix is invalid"):
            check_sparse_format(wrong)


@given(
    indices=arrays.arrays(np.int64, 4, elements=st.integers(-2, 5)),
    indptr=st.lists(st.integers(-1, 6), min_size=4, max_size=4).map(sorted).map(np.array)
    | arrays.arrays(np.int64, 4, elements=st.integers(-1, 6)),
)
def test_valid_is_what_can_be_converted(indices, indptr):
    """Against a definition in plain Python: every entry is in a row, and lies inside."""
    steps = all(0 <= one <= other <= 4 for one, other in pairwise(indptr))
    valid = indptr[0] == 0 and indptr[-1] == 4 and steps and all(0 <= index < 4 for index in indices)
    matrix = csr(indices, indptr, (3, 4))
    if valid:
        check_sparse_format(matrix)
        assert sparse.csc_array(matrix).nnz == matrix.tocoo().nnz == 4
    else:
        with pytest.raises(DataError):
            check_sparse_format(matrix)


@pytest.mark.parametrize("method", ["feat", "tsvm", "manireg", "ica"])
def test_features_with_a_column_outside_are_an_error(method):
    X = sparse.csr_array(np.eye(4, dtype=np.float32))
    X.indices[1] = 7
    with pytest.raises(DataError, match="from 0 to 3, got 7"):
        pl.METHODS[method]().fit(X, [0, 1, -1, -1], graph=[(0, 1), (1, 2), (2, 3)])


def test_new_rows_with_a_column_outside_are_an_error():
    model = pl.Feat().fit(np.eye(4), [0, 1, 0, 1])
    X = sparse.csr_array(np.eye(4, dtype=np.float32))
    X.indices[1] = 7
    with pytest.raises(DataError, match="got 7"):
        model.predict(X)


def test_a_graph_from_a_matrix_with_a_wrong_indptr_is_an_error():
    with pytest.raises(DataError, match="indptr must increase"):
        pl.Graph.from_scipy(csr([0, 1], [0, 2, 900_000], (2, 2)))
