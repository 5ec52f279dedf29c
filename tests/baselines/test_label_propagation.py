"""LabelPropagation against values by hand and the dense closed form."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.baselines import linear_system
from planetoid.baselines.propagation import class_mass_normalized
from planetoid.errors import ParameterError, PlanetoidWarning

SOLVERS = ("direct", "cg", "iterative")
PLAIN = {"class_mass_normalization": False}
TIGHT = {"tol": 1e-7, "max_iter": 20_000, **PLAIN}


def harmonic(matrix, y):
    """The closed form of Zhu et al.: f_u = (D_uu - W_uu)^-1 W_ul y_l."""
    known = y >= 0
    one_hot = np.eye(y.max() + 1)[y[known]]
    laplacian = np.diag(matrix.sum(axis=1, dtype=float)) - matrix
    scores = np.zeros((len(y), one_hot.shape[1]))
    scores[known] = one_hot
    scores[~known] = np.linalg.solve(laplacian[~known][:, ~known], matrix[~known][:, known].astype(float) @ one_hot)
    return scores


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_dense_closed_form(solver, seed, random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, seed), few_labels(60, 3, seed)
    found = pl.LabelPropagation(solver=solver, **TIGHT).fit(y=y, graph=sparse.csr_array(matrix)).predict_proba()
    np.testing.assert_allclose(found, harmonic(matrix, y), atol=2e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_path_and_star_by_hand(solver):
    path = pl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    found = pl.LabelPropagation(solver=solver, **TIGHT).fit(y=[0, -1, -1, -1, 1], graph=path).predict_proba()
    np.testing.assert_allclose(found[:, 0], [1, 0.75, 0.5, 0.25, 0], atol=1e-5)
    # resistors in series: 1 over weight 3 + 1 over weight 1 makes 3/4 of the drop lie on the second edge
    weighted = pl.Graph.from_edges([0, 1], [1, 2], [3.0, 1.0])
    found = pl.LabelPropagation(solver=solver, **TIGHT).fit(y=[0, None, 1], graph=weighted).predict_proba()
    np.testing.assert_allclose(found[1], [0.75, 0.25], atol=1e-5)
    # the centre of a star is the weighted mean of its labelled leaves, a bare leaf is its centre
    star = pl.Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], [1.0, 2.0, 5.0, 4.0])
    found = pl.LabelPropagation(solver=solver, **TIGHT).fit(y=[-1, 0, 1, 2, -1], graph=star).predict_proba()
    np.testing.assert_allclose(found[0], [1 / 8, 2 / 8, 5 / 8], atol=1e-5)
    np.testing.assert_allclose(found[4], found[0], atol=1e-5)


def test_class_mass_normalization_gives_all_nodes_the_label_proportions(random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(80, 5), few_labels(80, 2, 5)
    y[np.flatnonzero(y == 1)[0]] = -1  # three labels of one class, two of the other
    prior = np.array([0.6, 0.4])
    scaled = class_mass_normalized(harmonic(matrix, y), prior)
    np.testing.assert_allclose(scaled.sum(axis=0), prior)
    model = pl.LabelPropagation(**{**TIGHT, "class_mass_normalization": True}).fit(y=y, graph=sparse.csr_array(matrix))
    expected = scaled / scaled.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-5)
    np.testing.assert_array_equal(model.predict()[y >= 0], y[y >= 0])


def test_class_mass_counts_the_labelled_nodes_by_hand():
    """One node between A and B with weights 1 and 10: of the mass 1 + 1/11 and 1 + 10/11 it has 1/12 and 10/21."""
    graph = pl.Graph.from_edges(["a", "b"], ["x", "x"], [1.0, 10.0])
    model = pl.LabelPropagation().fit(y={"a": "A", "b": "B"}, graph=graph)
    shares = np.array([1 / 12, 10 / 21])
    np.testing.assert_allclose(model.predict_proba(nodes=["x"]), [shares / shares.sum()])


@pytest.mark.parametrize("solver", ["cg", "iterative"])
def test_same_bits_for_any_number_of_threads(solver, monkeypatch, random_weighted_graph, few_labels):
    monkeypatch.setattr(linear_system, "ROWS_PER_TASK", 7)  # many blocks of rows although the graph is small
    graph, y = sparse.csr_array(random_weighted_graph(200, 1, 0.03)), few_labels(200, 4, 1)
    plain = pl.LabelPropagation(solver=solver, **TIGHT).fit(y=y, graph=graph).predict_proba()
    for n_jobs in (1, 2, 5, -1, -2):
        model = pl.LabelPropagation(solver=solver, n_jobs=n_jobs, **TIGHT).fit(y=y, graph=graph)
        assert np.array_equal(model.predict_proba(), plain)


@pytest.mark.parametrize("solver", SOLVERS)
def test_components_without_a_label_get_the_prior_and_one_warning(solver):
    graph = pl.Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5], nodes=7)
    model = pl.LabelPropagation(solver=solver, **PLAIN)
    with pytest.warns(PlanetoidWarning, match="nothing about 4 of 7 nodes") as caught:
        model.fit(y=["a", None, "b"] + [None] * 4, graph=graph)
    assert len(caught) == 1
    np.testing.assert_allclose(model.predict_proba()[3:], 0.5)
    np.testing.assert_allclose(model.predict_proba()[1], [0.5, 0.5], atol=1e-5)


def test_a_directed_edge_pulls_at_both_ends():
    edges = ([0, 2], [1, 1])
    directed = pl.Graph.from_edges(*edges, directed=True)
    found = pl.LabelPropagation(**PLAIN).fit(y=[None, 0, 1], graph=directed).predict_proba()
    np.testing.assert_allclose(found[0], [1, 0])
    undirected = pl.LabelPropagation(**PLAIN).fit(y=[None, 0, 1], graph=pl.Graph.from_edges(*edges))
    np.testing.assert_allclose(found, undirected.predict_proba())


@pytest.mark.parametrize("solver", ["cg", "iterative"])
def test_says_when_it_did_not_converge(solver):
    ring = pl.Graph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
    with pytest.warns(PlanetoidWarning, match="did not converge: after 3 iterations") as caught:
        pl.LabelPropagation(solver=solver, max_iter=3).fit(y={0: "a", 1: "b"}, graph=_thick(ring))
    assert len(caught) == 1  # nodes that were not reached in time are not reported as unreachable


def _thick(ring):
    """Every second neighbour joined too, so that no node is the leaf of a tree."""
    one = ring.to_scipy()
    return one + one @ one


def test_trees_are_eliminated_exactly():
    """A long path is a tree and needs no iteration; the plain one would take millions."""
    path = pl.Graph.from_edges(np.arange(3000), np.arange(1, 3001))
    model = pl.LabelPropagation().fit(y={0: "a", 3000: "b"}, graph=path)
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict_proba()[:, 0], np.linspace(1, 0, 3001), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_trees_on_a_core_equal_the_factorisation(seed, random_weighted_graph):
    """Weighted random trees attached to a random core, with a few self-loops."""
    rng = np.random.default_rng(seed)
    core, n = 20, 120
    matrix = np.zeros((n, n), dtype=np.float32)
    matrix[:core, :core] = random_weighted_graph(core, seed)
    for i in range(core, n):
        parent = rng.integers(0, i)
        matrix[i, parent] = matrix[parent, i] = 0.1 + rng.random()
    matrix[np.arange(0, n, 7), np.arange(0, n, 7)] = rng.random(len(range(0, n, 7)))
    graph = pl.Graph.from_scipy(sparse.csr_array(matrix), self_loops="keep")
    y = np.full(n, -1)
    y[rng.choice(n, 9, replace=False)] = np.arange(9) % 3
    by_lu = pl.LabelPropagation(solver="direct", **PLAIN).fit(y=y, graph=graph).predict_proba()
    by_cg = pl.LabelPropagation(solver="cg", tol=1e-12, **PLAIN).fit(y=y, graph=graph).predict_proba()
    np.testing.assert_allclose(by_cg, by_lu, atol=1e-8)
    np.testing.assert_allclose(by_lu, harmonic(matrix, y), atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "magic"}, "solver must be 'auto', 'direct', 'cg' or 'iterative', got 'magic'"),
        ({"tol": -1}, "tol must be a number >= 0, got -1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"class_mass_normalization": "no"}, "class_mass_normalization must be True or False, got 'no'"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(ParameterError, match=f"^LabelPropagation: {message}$"):
        pl.LabelPropagation(**parameters).fit(y=[0, 1], graph=[(0, 1)])
