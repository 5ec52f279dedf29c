"""IterativeClassification: its limits, its fixed point, its visits by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import planetoid as pl
from planetoid.baselines.kernels import visit_nodes
from planetoid.errors import ParameterError, PlanetoidWarning

ORDERS = ("degree", "confidence", "random")


@pytest.fixture
def noisy():
    """Three communities with informative features."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 40)
    same = truth[:, None] == truth[None, :]
    edges = np.nonzero(np.triu(rng.random((120, 120)) < np.where(same, 0.15, 0.01), 1))
    X = rng.standard_normal((120, 5)).astype(np.float32)
    X[np.arange(120), truth] += 2.0
    y = np.where(np.arange(120) % 10 == 0, truth, -1)
    return X, y, truth, pl.Graph.from_edges(*edges, nodes=120)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_edges_it_is_its_local_classifier(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)).astype(np.float32)
    y = np.where(np.arange(30) < 12, np.arange(30) % n_classes, -1)
    model = pl.IterativeClassification(C=2.0, row_normalize=None, calibrate=False)
    found = model.fit(X, y, graph=pl.Graph.from_edges([], [], nodes=30)).predict_proba()
    local = LogisticRegression(C=2.0, max_iter=1000).fit(X[:12], y[:12])
    np.testing.assert_allclose(found, local.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("aggregate", ["proportion", "count"])
def test_ends_where_no_label_would_change(order, aggregate, noisy):
    X, y, truth, graph = noisy
    model = pl.IterativeClassification(order=order, aggregate=aggregate, C=0.5, max_iter=50).fit(X, y, graph=graph)
    again = pl.IterativeClassification(order=order, aggregate=aggregate, C=0.5, max_iter=100)
    np.testing.assert_array_equal(again.fit(X, y, graph=graph).predict_proba(), model.predict_proba())
    hidden = y < 0
    by_features = pl.Feat(row_normalize="l2", C=0.5).fit(X, y).predict()
    assert (model.predict() == truth)[hidden].mean() > (by_features == truth)[hidden].mean() + 0.05


def test_says_when_it_did_not_converge(noisy):
    X, y, _, graph = noisy
    with pytest.warns(PlanetoidWarning, match=r"did not converge: \d+ of 108 labels changed"):
        pl.IterativeClassification(max_iter=1, n_rounds=1).fit(X, y, graph=graph)


@pytest.fixture(scope="module")
def dense():
    """Four classes in a dense graph with weak features: a classifier that sees poor predictions must not run on."""
    data = pl.datasets.make_citation(600, 4, 60, homophily=0.6, mean_degree=40, informative=0.08, seed=1)
    return data, pl.mask_labels(data.y, data.split("random", per_class=10, n_val=0, n_test=100, seed=0).train)


def test_dense_graphs_keep_all_their_classes(dense):
    data, y = dense
    predicted = pl.IterativeClassification().fit(data.X, y, graph=data.graph).predict()
    assert (predicted == data.y).mean() > 0.9


def test_a_collapse_is_noticed(dense):
    data, y = dense
    with pytest.warns(PlanetoidWarning, match="almost all nodes have the same label"):
        model = pl.IterativeClassification(n_rounds=5, max_iter=50).fit(data.X, y, graph=data.graph)
    assert np.bincount(model.predict()).max() > 0.8 * data.n_nodes


def test_visits_by_hand():
    """A path 0 - 1 - 2 whose first node has class 1; a neighbour's class counts 2, content 1 for class 0."""
    path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    content = np.tile([1.0, 0.0], (3, 1))
    relation = 2 * np.eye(2)
    csr = (path.indptr, path.indices, path.data)

    def visit(order):
        labels = np.array([1, 0, 0])
        return visit_nodes(*csr, np.array(order), content, relation, labels), labels.tolist()

    # node 1 first: class 0 has content 1 + neighbour 2 = 3 against 2: nothing changes
    assert visit([1, 2]) == (0, [1, 0, 0])
    # from the other side, with node 2 of class 1, both neighbours of node 1 outvote its content
    labels = np.array([1, 0, 1])
    assert visit_nodes(*csr, np.array([1]), content, relation, labels) == 1
    assert labels.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", 0), ("aggregate", "mode"), ("order", "alphabet"), ("n_rounds", 0), ("max_iter", 0), ("row_normalize", 1)],
)
def test_invalid_parameters(name, value, noisy):
    X, y, _, graph = noisy
    with pytest.raises(ParameterError, match=f"{name} must be .*, got {value!r}"):
        pl.IterativeClassification(**{name: value}).fit(X, y, graph=graph)


@pytest.mark.parametrize("seed", range(2))
def test_many_labels_with_the_same_features_are_calibrated(seed):
    """Products of rows in single precision, of which many are equal, have eigenvalues below zero by rounding."""
    rng = np.random.default_rng(seed)
    truth, n_columns = rng.integers(0, 24, 1500), 490
    X = np.zeros((1500, n_columns), np.float32)
    for _ in range(2):
        X[np.arange(1500), (truth * 7 + rng.integers(0, 7, 1500)) % n_columns] = 1
    graph = pl.Graph.from_edges(*rng.integers(0, 1500, (2, 1500)), nodes=1500)
    labelled = np.concatenate([np.flatnonzero(truth == k)[:20] for k in range(24)])
    model = pl.IterativeClassification().fit(sparse.csr_array(X), pl.mask_labels(truth, labelled), graph=graph)
    assert (model.predict() == truth).mean() > 0.9
