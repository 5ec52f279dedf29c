"""LocalGlobalConsistency against its closed form."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.errors import ParameterError, PlanetoidWarning

SOLVERS = ("direct", "cg", "iterative")


def closed_form(matrix, y, alpha):
    """F = (1 - alpha) (I - alpha S)^-1 Y."""
    root = 1 / np.sqrt(matrix.sum(axis=1, dtype=float))
    smooth = root[:, None] * matrix * root[None, :]
    one_hot = np.zeros((len(y), y.max() + 1))
    one_hot[y >= 0, y[y >= 0]] = 1
    return (1 - alpha) * np.linalg.solve(np.eye(len(y)) - alpha * smooth, one_hot)


@pytest.mark.parametrize("alpha", [0.5, 0.95])
@pytest.mark.parametrize("solver", SOLVERS)
def test_equals_the_dense_closed_form(solver, alpha, random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, 3), few_labels(60, 3, 3)
    expected = closed_form(matrix, y, alpha)
    model = pl.LocalGlobalConsistency(
        alpha=alpha, class_mass_normalization=False, solver=solver, tol=1e-8, max_iter=5000
    )
    found = model.fit(y=y, graph=sparse.csr_array(matrix)).predict_proba()
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-4)


def test_two_nodes_by_hand():
    """S swaps the two nodes, so F = (1 - a) / (1 - a^2) [[1, a], [a, 1]] Y."""
    model = pl.LocalGlobalConsistency(alpha=0.5).fit(y=["p", "q"], graph=[(0, 1)])
    np.testing.assert_allclose(model.predict_proba(), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_class_mass_normalization(random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, 3), few_labels(60, 2, 3)
    expected = closed_form(matrix, y, 0.9)
    expected /= expected.sum(axis=0)
    model = pl.LocalGlobalConsistency(alpha=0.9, class_mass_normalization=True)
    found = model.fit(y=y, graph=sparse.csr_array(matrix)).predict_proba()
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_label_may_be_revised():
    """One wrong label in a clique of right ones gives way, which clamped propagation never does."""
    clique = np.ones((7, 7)) - np.eye(7)
    y = [1, 0, 0, 0, 0, 0, None]
    assert (
        pl.LocalGlobalConsistency(alpha=0.99, class_mass_normalization=False).fit(y=y, graph=clique).predict()[0] == 0
    )
    assert pl.LabelPropagation().fit(y=y, graph=clique).predict()[0] == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_isolated_labels_stay_and_the_unreached_get_the_prior(solver):
    graph = pl.Graph.from_edges([0, 3], [1, 4], nodes=6)
    with pytest.warns(PlanetoidWarning, match="nothing about 3 of 6 nodes"):
        model = pl.LocalGlobalConsistency(solver=solver, alpha=0.9).fit(y={0: "a", 2: "b"}, graph=graph)
    np.testing.assert_allclose(model.predict_proba()[:3], [[1, 0], [1, 0], [0, 1]], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba()[3:], 0.5)


def test_nodes_too_far_for_the_iteration_get_the_prior_without_a_false_warning():
    path = pl.Graph.from_edges(np.arange(99), np.arange(1, 100))
    model = pl.LocalGlobalConsistency(alpha=0.1, solver="iterative")
    model.fit(y={0: "a", 1: "b"}, graph=path)  # a warning that 99 cannot be reached would fail this test
    np.testing.assert_allclose(model.predict_proba(nodes=[99]), [[0.5, 0.5]])


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5])
def test_invalid_alpha(alpha):
    with pytest.raises(ParameterError, match=rf"alpha must be a number in \(0, 1\), got {alpha}"):
        pl.LocalGlobalConsistency(alpha=alpha).fit(y=[0, 1], graph=[(0, 1)])
