"""Student: the network on features by hand, and the rows that it knows."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.models.student import Student, distil


@pytest.fixture(scope="module")
def taught():
    """Rows of which some are equal and the last has no feature, and predictions for them."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 6)) < 0.5, rng.random((40, 6)), 0.0).astype(np.float32)
    X[:, 0] += 0.1
    X[20:30] = X[:10]
    X[-1] = 0.0
    opinion = rng.dirichlet(np.ones(3), 40).astype(np.float32)
    labelled = np.arange(10, 16)
    return X, opinion, Student.of(distil(X, opinion, labelled, labelled % 3, seed=0), X, opinion)


def test_new_rows_go_through_two_layers(taught):
    X, _, student = taught
    new = X[:5] + 1.0
    W1, b1, W2, b2 = student.layers
    hidden = new @ W1 + b1
    assert (hidden < 0).any()
    scores = np.maximum(hidden, 0) @ W2 + b2
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(student.predict(sparse.csr_array(new)), expected, rtol=1e-4)


def test_a_known_row_has_the_mean_prediction_of_all_nodes_that_have_it(taught):
    X, opinion, student = taught
    found = student.predict(sparse.csr_array(X))
    np.testing.assert_allclose(found[:10], (opinion[:10] + opinion[20:30]) / 2, rtol=1e-5)
    np.testing.assert_allclose(found[10:20], opinion[10:20], rtol=1e-5)
    same, at = student.known_rows(sparse.csr_array(X))
    assert same.tolist() == [True] * 39 + [False]
    assert (student.nodes[at[:10]] == np.arange(10)).all()
