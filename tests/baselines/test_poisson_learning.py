"""PoissonLearning against the pseudo-inverse, the paper's iteration and values by hand."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.baselines import linear_system
from planetoid.errors import ParameterError, PlanetoidWarning

SOLVERS = ("direct", "cg")


def sources(y):
    """One-hot labels minus their mean, zero at unlabelled nodes."""
    centred = np.zeros((len(y), y.max() + 1))
    centred[y >= 0, y[y >= 0]] = 1.0
    centred[y >= 0] -= centred[y >= 0].mean(axis=0)
    return centred


def closed_form(matrix, y, loop=None):
    """u = L^+ sum_j (y_j - ybar) delta_j, shifted to the mean 0, weighted by degrees with a self-loop."""
    degrees = matrix.sum(axis=1, dtype=float)
    scores = np.linalg.pinv(np.diag(degrees) - matrix) @ sources(y)
    volume = degrees + (matrix[matrix > 0].mean(dtype=float) if loop is None else loop)
    return scores - volume @ scores / volume.sum()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_pseudo_inverse(solver, seed, random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, seed), few_labels(60, 3, seed)
    y[np.flatnonzero(y == 2)[0]] = -1  # labels that are not balanced
    model = pl.PoissonLearning(solver=solver, tol=1e-12).fit(y=y, graph=sparse.csr_array(matrix))
    expected = closed_form(matrix, y)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-6)
    np.testing.assert_array_equal(model.predict(), expected.argmax(axis=1))


def test_equals_the_limit_of_the_papers_iteration(random_weighted_graph, few_labels):
    """U <- U + D^-1 (B - L U), on the graph with self-loops of the mean weight."""
    matrix, y = random_weighted_graph(40, 7), few_labels(40, 3, 7)
    looped = matrix.astype(float) + matrix[matrix > 0].mean(dtype=float) * np.eye(40)
    degrees = looped.sum(axis=1)[:, None]
    scores = np.zeros((40, 3))
    for _ in range(5_000):
        scores = scores + (sources(y) - (degrees * scores - looped @ scores)) / degrees
    model = pl.PoissonLearning().fit(y=y, graph=sparse.csr_array(matrix))
    np.testing.assert_allclose(model.scores_, scores, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weighted_path_by_hand(solver):
    """Half a unit of current over the weights 2 and 1: the scores drop by 1/4 and 1/2.

    With self-loops of 3/2 the degrees are 7/2, 9/2 and 5/2, so the middle has the score 1/28.
    """
    path = pl.Graph.from_edges([0, 1], [1, 2], [2.0, 1.0])
    model = pl.PoissonLearning(solver=solver).fit(y=["p", None, "q"], graph=path)
    first = np.array([1 / 4, 0, -1 / 2]) + 1 / 28
    np.testing.assert_allclose(model.scores_, np.column_stack([first, -first]), atol=1e-12)
    mean_square = (7 / 2 * first[0] ** 2 + 9 / 2 * first[1] ** 2 + 5 / 2 * first[2] ** 2) / (21 / 2)
    expected = 1 / (1 + np.exp(-2 * 2 * first / np.sqrt(mean_square)))  # twice the difference of the scores
    np.testing.assert_allclose(model.predict_proba()[:, 0], expected, atol=1e-12)


def test_each_component_is_a_problem_of_its_own(random_weighted_graph, few_labels):
    one, two = random_weighted_graph(30, 1), random_weighted_graph(40, 2)
    y_one, y_two = few_labels(30, 3, 1), few_labels(40, 2, 2)
    both = np.zeros((70, 70), dtype=np.float32)
    both[:30, :30], both[30:, 30:] = one, two
    model = pl.PoissonLearning(calibrate=False).fit(y=np.append(y_one, y_two), graph=sparse.csr_array(both))
    loop = both[both > 0].mean(dtype=float)
    np.testing.assert_allclose(model.scores_[:30], closed_form(one, y_one, loop), atol=1e-8)
    np.testing.assert_allclose(model.scores_[30:, :2], closed_form(two, y_two, loop), atol=1e-8)
    assert (model.predict_proba()[30:, 2] == 0).all()  # class 2 has no label in the second component


@pytest.mark.parametrize("solver", SOLVERS)
def test_components_with_labels_of_one_class_or_none(solver):
    """0-1-2 has both classes, 3-4 one, 5-6 none, 7 is isolated with a label, 8 without."""
    graph = pl.Graph.from_edges([0, 1, 3, 5], [1, 2, 4, 6], nodes=9)
    model = pl.PoissonLearning(solver=solver)
    with pytest.warns(PlanetoidWarning, match="nothing about 3 of 9 nodes") as caught:
        model.fit(y={0: "p", 2: "q", 3: "q", 7: "q"}, graph=graph)
    assert len(caught) == 1
    found = model.predict_proba()
    np.testing.assert_allclose(found[1], 0.5)
    np.testing.assert_allclose(found[[3, 4, 7]], [[0, 1]] * 3)
    np.testing.assert_allclose(found[[5, 6, 8]], [[0.25, 0.75]] * 3)


def test_the_unit_of_weights_does_not_matter(random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(50, 3), few_labels(50, 2, 3)
    found = [
        pl.PoissonLearning().fit(y=y, graph=sparse.csr_array(unit * matrix)).predict_proba() for unit in (1.0, 1000.0)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


def test_a_directed_edge_counts_in_both_directions():
    edges = ([0, 2], [1, 1])
    directed = pl.PoissonLearning().fit(y=[0, None, 1], graph=pl.Graph.from_edges(*edges, directed=True))
    undirected = pl.PoissonLearning().fit(y=[0, None, 1], graph=pl.Graph.from_edges(*edges))
    np.testing.assert_array_equal(directed.predict_proba(), undirected.predict_proba())


def test_class_prior_multiplies_the_scores(random_weighted_graph, few_labels):
    matrix, y = random_weighted_graph(60, 4), few_labels(60, 2, 4)
    graph = sparse.csr_array(matrix)
    plain = pl.PoissonLearning().fit(y=y, graph=graph).scores_
    known = pl.PoissonLearning(class_prior=[3.0, 1.0]).fit(y=y, graph=graph).scores_
    np.testing.assert_allclose(known, plain * [1.5, 0.5])  # 3/4 and 1/4 over 1/2 and 1/2
    same = pl.PoissonLearning(class_prior=(1, 1)).fit(y=y, graph=graph).scores_
    np.testing.assert_allclose(same, plain)


@pytest.mark.parametrize("class_prior", [[], [0.5, 0.0], [1.0, np.nan], "even", 0.5])
def test_invalid_class_prior(class_prior):
    with pytest.raises(ParameterError, match="class_prior must be a list of positive numbers or None, got"):
        pl.PoissonLearning(class_prior=class_prior).fit(y=[0, 1], graph=[(0, 1)])


def test_class_prior_of_another_length():
    with pytest.raises(ParameterError, match="class_prior has 3 entries, but y has 2 classes"):
        pl.PoissonLearning(class_prior=[1, 1, 1]).fit(y=[0, 1], graph=[(0, 1)])


def test_same_bits_for_any_number_of_threads(monkeypatch, random_weighted_graph, few_labels):
    monkeypatch.setattr(linear_system, "ROWS_PER_TASK", 7)  # many blocks of rows although the graph is small
    graph, y = sparse.csr_array(random_weighted_graph(200, 1, 0.03)), few_labels(200, 4, 1)
    plain = pl.PoissonLearning(solver="cg").fit(y=y, graph=graph).predict_proba()
    for n_jobs in (1, 2, 5, -1, -2):
        model = pl.PoissonLearning(solver="cg", n_jobs=n_jobs).fit(y=y, graph=graph)
        assert np.array_equal(model.predict_proba(), plain)


@pytest.mark.filterwarnings("ignore:.*can say nothing about")
def test_one_label_per_class_is_enough_where_the_harmonic_solution_fails():
    data = pl.datasets.load("cora-bundled")
    accuracies = {"poisson": [], "harmonic": []}
    for seed in range(3):
        split = data.split("random", seed=seed, per_class=1)
        y = pl.mask_labels(data.y, split.train)
        for name, model in (
            ("poisson", pl.PoissonLearning()),
            ("harmonic", pl.LabelPropagation(class_mass_normalization=False)),
        ):
            right = model.fit(y=y, graph=data.graph).predict()[split.test] == data.y[split.test]
            accuracies[name].append(right.mean())
    assert np.mean(accuracies["poisson"]) > np.mean(accuracies["harmonic"]) + 0.2
