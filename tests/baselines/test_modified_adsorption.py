"""ModifiedAdsorption against its dense linear system and small cases by hand."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.baselines.modified_adsorption import walk_probabilities
from planetoid.errors import ParameterError

SOLVERS = ("direct", "cg", "iterative")


def dense_solution(matrix, y, mu1, mu2, mu3, beta):
    """(mu1 S + mu2 L + mu3 I)^-1 (mu1 S Y + mu3 R), written out as in the paper."""
    walk = walk_probabilities(sparse.csr_array(matrix), y >= 0, beta)
    flow = walk.p_cont[:, None] * matrix
    laplacian = np.diag(flow.sum(axis=1) + flow.sum(axis=0)) - flow - flow.T
    labels = np.zeros((len(y), y.max() + 2))
    labels[y >= 0, y[y >= 0]] = 1
    prior = np.zeros_like(labels)
    prior[:, -1] = walk.p_abnd
    system = mu1 * np.diag(walk.p_inj) + mu2 * laplacian + mu3 * np.eye(len(y))
    return np.linalg.solve(system, mu1 * walk.p_inj[:, None] * labels + mu3 * prior)


@pytest.mark.parametrize("mu", [(1.0, 0.01, 0.01), (0.5, 1.0, 0.1)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_equals_the_dense_solution(solver, mu, random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, 11), few_labels(60, 3, 11)
    expected = dense_solution(matrix, y, *mu, 2.0)
    parameters = dict(zip(("mu1", "mu2", "mu3"), mu, strict=True))
    model = pl.ModifiedAdsorption(**parameters, solver=solver, tol=1e-8, max_iter=5000)
    model.fit(y=y, graph=sparse.csr_array(matrix))
    np.testing.assert_allclose(model.dummy_, expected[:, -1], atol=1e-5)
    classes = expected[:, :-1] / expected[:, :-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(), classes, atol=1e-3)


def test_probabilities_by_hand():
    """A labelled centre with two leaves, one labelled, and a third leaf of weight 2."""
    matrix = sparse.csr_array(np.array([[0, 1, 1, 2], [1, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]], dtype=float))
    walk = walk_probabilities(matrix, np.array([True, True, False, False]), 2.0)
    entropy = 1.5  # steps of 1/4, 1/4 and 1/2
    p_cont = np.log(2) / np.log(3.5)
    inject = (1 - p_cont) * np.sqrt(entropy)
    total = inject + p_cont
    assert total > 1
    np.testing.assert_allclose(walk.p_inj, [inject / total, 0.99, 0, 0])
    np.testing.assert_allclose(walk.p_cont, [p_cont / total, 0.01, 1, 1])
    np.testing.assert_allclose(walk.p_abnd, 0, atol=1e-12)


def test_an_unlabelled_hub_abandons_walks():
    star = sparse.csr_array(np.array([[0, 1, 1, 1, 1], *([[1, 0, 0, 0, 0]] * 4)], dtype=float))
    walk = walk_probabilities(star, np.zeros(5, dtype=bool), 2.0)
    np.testing.assert_allclose(walk.p_cont[0], np.log(2) / np.log(4))  # the entropy is two bits
    np.testing.assert_allclose(walk.p_abnd, [0.5, 0, 0, 0, 0])


def test_two_nodes_by_hand():
    """One labelled node (p_inj 0.99, p_cont 0.01) and an unlabelled one (p_cont 1).

    The flow of the edge is mu2 (0.01 + 1). With x and z the scores of the class
    at the two: (0.99 mu1 + flow + mu3) x = 0.99 mu1 + flow z and
    (flow + mu3) z = flow x. A second pair of nodes has the other class.
    """
    mu1, mu2, mu3 = 1.0, 0.5, 0.25
    flow = mu2 * 1.01
    x = 0.99 * mu1 / (0.99 * mu1 + flow + mu3 - flow**2 / (flow + mu3))
    z = flow / (flow + mu3) * x
    matrix = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    expected = dense_solution(matrix, np.array([0, -1, 1, -1]), mu1, mu2, mu3, 2.0)
    np.testing.assert_allclose(expected, [[x, 0, 0], [z, 0, 0], [0, x, 0], [0, z, 0]], atol=1e-12)
    model = pl.ModifiedAdsorption(mu1=mu1, mu2=mu2, mu3=mu3).fit(y=[0, -1, 1, -1], graph=matrix)
    np.testing.assert_allclose(model.predict_proba(), [[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize(("name", "value"), [("mu1", 0), ("mu2", -1), ("mu3", 0), ("beta", 1)])
def test_invalid_parameters(name, value):
    with pytest.raises(ParameterError, match=rf"{name} must be a number > \d, got {value}"):
        pl.ModifiedAdsorption(**{name: value}).fit(y=[0, 1], graph=[(0, 1)])
