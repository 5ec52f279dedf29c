"""``Planetoid``: what it learns from, new nodes, threads, checkpoints, files."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.labels import some_of_each_class
from planetoid.models.evidence import Teacher, sharpened
from planetoid.models.planetoid import (
    PRIOR_CONFIDENCE,
    PRIOR_LABELS,
    TEACHER_KNOWS_BETTER,
    TEACHER_LABELS,
    TEACHER_WEIGHT,
    _class_prior,
)
from planetoid.models.student import class_probabilities
from planetoid.training import consistency_loss

FAST = {"training__steps": 60, "training__warmup": 20, "training__teaching": 40, "student": False}


def planetoid(**parameters):
    return pl.Planetoid(dimension=16).set_params(**(FAST | parameters))


@pytest.fixture(scope="module")
def citation():
    data = pl.datasets.make_citation(600, seed=3)
    return data, data.split("random", per_class=10, n_val=60, n_test=300, seed=0)


def fitted(citation, **parameters):
    data, split = citation
    return planetoid(**parameters).fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)


def correct(citation, predicted):
    data, split = citation
    return (np.asarray(predicted)[split.test] == data.y[split.test]).mean()


@pytest.mark.filterwarnings("ignore:LabelPropagation can say nothing")
def test_it_is_better_than_features_and_than_the_graph_alone(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    ours = correct(citation, fitted(citation).predict())
    assert ours > correct(citation, pl.Feat().fit(data.X, y).predict()) + 0.05
    assert ours > correct(citation, pl.LabelPropagation().fit(None, y, graph=data.graph).predict()) - 0.02


def test_without_features_it_learns_from_the_graph(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = planetoid(student=True).fit(None, y, graph=data.graph)
    assert model.view_ == "graph"
    assert correct(citation, model.predict()) > 0.5
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(pl.errors.DataError, match="without features"):
        model.predict(data.X[:2])


def test_without_edges_a_graph_is_made_from_the_features(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = planetoid().fit(data.X, y)
    assert model._adjacency.nnz > 0
    feat = pl.Feat().fit(data.X, y)
    assert correct(citation, model.predict()) > correct(citation, feat.predict()) - 0.02


def test_a_misleading_graph_is_noticed():
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 4
    X = (truth[:, None] == np.arange(4)) * 1.0 + rng.normal(size=(600, 4)) * 0.4
    X = np.hstack([X, rng.normal(size=(600, 20)) * 0.2]).astype(np.float32)
    graph = pl.Graph.from_edges(*rng.integers(0, 600, (2, 2400)), nodes=600)
    labelled = np.concatenate([np.flatnonzero(truth == k)[:20] for k in range(4)])
    y = pl.mask_labels(truth, labelled)
    model = planetoid().fit(X, y, graph=graph)
    assert model.view_ == "features"
    test = np.setdiff1d(np.arange(600), labelled)
    feat = (pl.Feat().fit(X, y).predict()[test] == truth[test]).mean()
    assert (model.predict()[test] == truth[test]).mean() > feat - 0.01
    around = planetoid(view="neighbourhood").fit(X, y, graph=graph)
    assert (around.predict()[test] == truth[test]).mean() < feat - 0.03


@pytest.mark.parametrize("view", ["features", "neighbourhood", "graph"])
def test_a_view_can_be_chosen(citation, view):
    model = fitted(citation, view=view)
    assert model.view_ == view
    assert model.reliability_ == {}


def test_the_view_of_features_does_not_see_the_graph(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    rng = np.random.default_rng(0)
    other = pl.Graph.from_edges(*rng.integers(0, data.n_nodes, (2, 900)), nodes=data.n_nodes)
    rewired = planetoid(view="features").fit(data.X, y, graph=other)
    expected = fitted(citation, view="features").predict_proba()
    np.testing.assert_allclose(rewired.predict_proba(), expected, atol=1e-3)  # weights of 1 are rounded


def test_a_view_without_its_data_is_an_error(citation):
    data, _ = citation
    with pytest.raises(pl.errors.ParameterError, match="view='features' needs features"):
        planetoid(view="features").fit(None, data.y, graph=data.graph)


def test_new_rows_are_labelled_by_features_alone(citation):
    data, split = citation
    seen = np.setdiff1d(np.arange(data.n_nodes), split.test)
    y = pl.mask_labels(data.y, split.train)
    graph = pl.Graph.from_scipy(sparse.csr_array(data.graph.to_scipy()[seen][:, seen]))
    model = planetoid(student=True).fit(data.X[seen], y[seen], graph=graph)
    found = (model.predict(data.X[split.test]) == data.y[split.test]).mean()
    feat = pl.Feat().fit(data.X[seen], y[seen])
    assert found > (feat.predict(data.X[split.test]) == data.y[split.test]).mean() + 0.02
    assert model.transform(data.X[split.test]).shape == (len(split.test), 16)


def test_a_row_of_a_fitted_node_gets_the_prediction_of_that_node(citation):
    data, _ = citation
    model = fitted(citation, student=True)
    rows = np.flatnonzero(np.diff(data.X.indptr) > 0)[:50]
    np.testing.assert_allclose(model.predict_proba(data.X[rows]), model.predict_proba()[rows], atol=0.05)
    np.testing.assert_array_equal(model.predict(data.X[rows]), model.predict()[rows])
    np.testing.assert_allclose(model.transform(data.X[rows[:1]]), model.embedding_[rows[:1]])


def test_dense_features_may_have_any_scale(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    X = data.X.toarray()
    rng = np.random.default_rng(0)
    stretched = (X * rng.uniform(0.1, 1000, X.shape[1]) + rng.normal(size=X.shape[1]) * 50).astype(np.float32)
    one, two = (planetoid().fit(rows, y, graph=data.graph) for rows in (X, stretched))
    assert abs(correct(citation, one.predict()) - correct(citation, two.predict())) < 0.03


def test_threads_do_not_change_the_result(citation):
    one, two = fitted(citation, student=True), fitted(citation, student=True, n_jobs=2)
    np.testing.assert_array_equal(one.predict_proba(), two.predict_proba())
    np.testing.assert_array_equal(one._student.layers.W1, two._student.layers.W1)


def test_an_interrupted_fit_goes_on_with_the_same_bits(citation, tmp_path):
    class Stop(pl.Callback):
        def on_step_end(self, trainer):
            if trainer.step == 33:
                raise KeyboardInterrupt

    whole = fitted(citation)
    checkpoint = pl.Checkpoint(tmp_path / "c", every=0)
    with pytest.raises(KeyboardInterrupt):
        fitted(citation, callbacks=[checkpoint, Stop()])
    resumed = fitted(citation, callbacks=[checkpoint])
    np.testing.assert_array_equal(whole.predict_proba(), resumed.predict_proba())
    assert whole.history_ == resumed.history_


def test_validation_labels_keep_the_best_parameters_and_calibrate(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = planetoid(training__evaluate_every=10)
    model.fit(data.X, y, graph=data.graph, validation=split.val_labels(data.y))
    measured = [record["val_accuracy"] for record in model.history_]
    predicted = model.predict()[split.val]
    assert (predicted == data.y[split.val]).mean() >= max(measured) - 1e-9
    assert model.calibration_.source == "validation labels"


def test_a_saved_model_predicts_the_same(citation, tmp_path):
    data, _ = citation
    model = fitted(citation, student=True)
    model.save(tmp_path / "m")
    loaded = pl.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())
    fresh = data.X[:40] * 2.0 + data.X[40:80]
    np.testing.assert_array_equal(loaded.predict_proba(fresh), model.predict_proba(fresh))
    np.testing.assert_array_equal(loaded.transform(fresh), model.transform(fresh))
    assert loaded.view_ == model.view_


def test_a_directed_edge_counts_in_both_directions(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    matrix = sparse.triu(data.graph.to_scipy(), 1)
    directed = pl.Graph.from_scipy(sparse.csr_array(matrix), directed=True)
    one = planetoid().fit(data.X, y, graph=directed)
    np.testing.assert_array_equal(one.predict_proba(), fitted(citation).predict_proba())


def test_one_label_per_class_and_nodes_without_features(citation):
    data, split = citation
    codes = np.asarray(data.y)
    labelled = [int(split.train[np.flatnonzero(codes[split.train] == k)[0]]) for k in np.unique(codes[split.train])]
    X = data.X.toarray()
    X[100:200] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = planetoid(student=True).fit(X, pl.mask_labels(data.y, labelled), graph=data.graph)
    assert np.isfinite(model.predict_proba()).all()


def test_at_most_so_many_labelled_nodes_of_each_class_in_turn():
    y = np.array([0] * 10 + [1] * 3 + [2] * 5)
    some = some_of_each_class(y, np.arange(18), 9)
    assert np.bincount(y[some]).tolist() == [3, 3, 3]
    assert some_of_each_class(y, np.arange(18), 100).tolist() == list(range(18))


@pytest.fixture(scope="module")
def grown(citation):
    """A model without the last 60 nodes, these nodes, and their edges by row number."""
    data, split = citation
    n = data.n_nodes - 60
    matrix = data.graph.to_scipy()
    y = pl.mask_labels(data.y, split.train[split.train < n])[:n]
    graph = pl.Graph.from_scipy(sparse.csr_array(matrix[:n, :n]))
    model = planetoid(student=True, view="neighbourhood").fit(data.X[:n], y, graph=graph)
    source, target = sparse.triu(matrix).nonzero()
    edges = [(int(a), int(b)) for a, b in zip(source, target, strict=True) if max(a, b) >= n]
    return model, n, edges


def pooled(model, adjacency, network, own):
    """The predictions of a network and the mean of own predictions over contexts, in dense matrices by hand."""
    A = adjacency.toarray().astype(float)
    degrees = A.sum(axis=1)
    steps = 0.7 * A / np.maximum(degrees, 1e-300)[:, None]
    visits = sum(np.linalg.matrix_power(steps, k) for k in range(11))
    importance = (degrees / A[A > 0].mean() + 1) ** -model.neighbourhood.degree_power * own.any(axis=1)
    mean = visits @ (importance[:, None] * own) / (visits @ importance)[:, None]
    w = model.propagation_weight_
    assert 0 < w < 1
    logs = (1 - w) * np.log(network) + w * np.log(mean)
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


def test_predictions_are_pooled_with_those_of_contexts(citation):
    data, split = citation
    model = planetoid(calibrate=False)
    teachers = []
    pool = model._pooled
    model._pooled = lambda *arguments: teachers.append(pool(*arguments)) or teachers[-1]
    model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    network = np.exp(teachers[-1]) / np.exp(teachers[-1]).sum(axis=1, keepdims=True)
    own = class_probabilities(model._distilled, model._inputs.scaled(data.X))
    expected = pooled(model, model._adjacency, network, own)
    np.testing.assert_allclose(model.predict_proba(), expected, rtol=1e-3, atol=1e-6)


def test_a_model_of_features_alone_propagates_nothing_even_if_fitted_before(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = planetoid().fit(data.X, y, graph=data.graph)
    assert model.propagation_weight_ > 0
    model.set_params(view="features").fit(data.X, y, graph=data.graph)
    assert model.propagation_weight_ == 0
    assert model._distilled is None


def test_new_nodes_with_edges_are_as_if_they_had_been_there(citation, grown):
    data, _ = citation
    model, n, edges = grown
    found = model.predict_proba(data.X[n:], edges=edges)
    matrix = data.graph.to_scipy().astype(np.float32)
    projected = np.asarray(model._inputs.scaled(data.X) @ model._layers.W1)
    hidden = model._hidden(matrix, projected)
    own = class_probabilities(model._student.layers, model._inputs.scaled(data.X))
    network = np.exp(model._scores(hidden))
    expected = model.calibration_.apply(pooled(model, matrix, network, own)[n:])
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    truth = data.y[n:]
    labels = model.predict(data.X[n:], edges=edges)
    assert (labels == truth).mean() >= (model.predict(data.X[n:]) == truth).mean()


def test_ids_of_new_nodes(citation, grown):
    import pandas as pd

    data, _ = citation
    model, n, edges = grown
    expected = model.predict_proba(data.X[n:], edges=edges)
    named = [tuple(f"new {node}" if node >= n else node for node in edge) for edge in edges]
    ids = [f"new {row}" for row in range(n, data.n_nodes)]
    np.testing.assert_array_equal(model.predict_proba(data.X[n:], edges=named, ids=ids), expected)
    frame = pd.DataFrame(data.X[n:].toarray(), index=ids)
    np.testing.assert_allclose(model.predict_proba(frame, edges=named), expected, rtol=1e-5)
    heavier = [(*edge, 1.0) for edge in edges]
    np.testing.assert_array_equal(model.predict_proba(data.X[n:], edges=heavier), expected)


def test_new_nodes_without_features(grown):
    model = grown[0]
    probabilities = model.predict_proba(edges=[("one", 3), ("two", 4), ("two", "one")])
    assert probabilities.shape[0] == 2
    alone = model.predict_proba(edges=[("one", 3)])
    own = model.predict_proba(nodes=[3])
    assert alone.argmax() == own.argmax()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [(0, 1)]}, "joins two fitted nodes"),
        ({"edges": [("a", 1, -1.0)]}, "must be positive"),
        ({"edges": [("a",)]}, "must be a pair"),
        ({"edges": [("a", 1)], "nodes": [0]}, "not both"),
        ({"edges": [("a", 1)], "ids": ["a", "a"]}, "must differ"),
        ({"edges": [("a", 1)], "ids": [0]}, "is fitted already"),
    ],
)
def test_edges_that_make_no_sense(grown, arguments, message):
    with pytest.raises(pl.errors.DataError, match=message):
        grown[0].predict_proba(**arguments)


def test_unknown_and_missing_ids(citation, grown):
    data, _ = citation
    model, n, _ = grown
    with pytest.raises(pl.errors.DataError, match="node 'nobody': not in the graph"):
        model.predict_proba(data.X[n : n + 1], edges=[("nobody", 1)])
    with pytest.raises(pl.errors.DataError, match="1 ids for 2 rows"):
        model.predict_proba(data.X[n : n + 2], edges=[("a", 1)], ids=["a"])


# ---- parts of the model by hand ---------------------------------------------------------


def test_the_walks_have_the_parameters_of_the_neighbourhood(citation):
    data, _ = citation
    model = fitted(citation, view="neighbourhood", neighbourhood__restart=0.2, neighbourhood__degree_power=0.5)
    walks = model._walks()
    assert walks.log_continue == pytest.approx(np.log(0.8))
    assert (walks.per_sample, walks.length) == (model.neighbourhood.walks, model.neighbourhood.length)
    degrees = np.diff(data.graph.indptr)
    np.testing.assert_allclose(walks.importance, 1 / np.sqrt(degrees + 1), rtol=1e-6)
    alone = fitted(citation, view="features")._walks()
    assert (alone.per_sample, alone.length, alone.log_continue) == (1, 0, -np.inf)


@pytest.mark.parametrize(
    ("accuracy", "share", "of_network", "of_teacher"),
    [(0.0, None, 1.0, None), (1.1, None, 1.0, TEACHER_KNOWS_BETTER), (0.0, 0.2, 0.4, 1.6)],
)
def test_network_and_teacher_have_their_weights_in_the_prediction(citation, accuracy, share, of_network, of_teacher):
    data, split = citation
    model = fitted(citation, view="features")
    known = replace(data, y=pl.mask_labels(data.y, split.train))
    x = sparse.csr_array(model._inputs.scaled(data.X))
    opinion = np.random.default_rng(0).dirichlet(np.ones(data.n_classes), data.n_nodes).astype(np.float32)
    others = np.random.default_rng(1).normal(size=opinion.shape).astype(np.float32)
    found = model._pooled(known, x, Teacher("features", opinion, accuracy, others, {}, share))
    if of_teacher is None:
        of_teacher = TEACHER_WEIGHT + TEACHER_LABELS / len(split.train)
    expected = of_network * model._scores(model.embedding_) + of_teacher * np.log(opinion) + others
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_an_embedding_that_predicts_little_makes_the_network_count_little(citation):
    """A noise embedding in the place of that of the graph."""
    data, split = citation
    noise = sparse.csr_array(np.random.default_rng(0).normal(size=(data.n_nodes, 8)).astype(np.float32))
    y = pl.mask_labels(data.y, split.train)
    usual, model = planetoid(view="graph"), planetoid(view="graph")
    model._graph_features = lambda data: noise
    shares = []
    for one in (usual, model):
        train = one._train
        one._train = lambda data, x, teacher, train=train: (
            shares.append(teacher.network_share) or train(data, x, teacher)
        )
        one.fit(data.X, y, graph=data.graph)
    assert shares[1] < 0.1 < shares[0]
    assert model.propagation_weight_ < 2 * shares[1]
    truth = np.asarray(data.class_names)[data.y]
    assert (model.predict() == truth).mean() > (usual.predict() == truth).mean() - 0.1


def test_the_class_prior_goes_from_label_frequencies_to_what_the_teacher_counts():
    opinion = np.random.default_rng(0).dirichlet([1.0, 2.0, 6.0], 50).astype(np.float32)
    counted = sharpened(opinion, PRIOR_CONFIDENCE).mean(axis=0)
    for codes, labels in (([0, 1, 2], [1 / 3, 1 / 3, 1 / 3]), ([0] * 30 + [1] * 15 + [2] * 15, [0.5, 0.25, 0.25])):
        per_class = len(codes) / 3
        share = (per_class / (per_class + PRIOR_LABELS)) ** 2
        expected = share * counted + (1 - share) * np.array(labels)
        np.testing.assert_allclose(_class_prior(opinion, np.array(codes)), expected, rtol=1e-5)


def test_the_examples_are_the_labelled_and_the_unlabelled_nodes(citation, monkeypatch):
    data, split = citation
    examples = []
    learn = consistency_loss.ConsistencyLoss.__init__

    def watched(self, layers, x, walks, given, *arguments, **options):
        examples.append(given)
        learn(self, layers, x, walks, given, *arguments, **options)

    monkeypatch.setattr(consistency_loss.ConsistencyLoss, "__init__", watched)
    fitted(citation)
    assert examples[0].labelled.tolist() == split.train.tolist()
    assert examples[0].codes.tolist() == data.y[split.train].tolist()
    assert examples[0].unlabelled.tolist() == np.setdiff1d(np.arange(data.n_nodes), split.train).tolist()


def test_a_graph_made_from_features_is_no_view_of_its_own(citation):
    data, split = citation
    model = planetoid().fit(data.X, pl.mask_labels(data.y, split.train))
    assert model.view_ in ("features", "neighbourhood")
    edgeless = replace(data, y=pl.mask_labels(data.y, split.train), graph=pl.Graph.without_edges(data.ids))
    X = model._inputs.scaled(data.X)
    assert set(model._ask(edgeless, X).verdicts) == {"features", "neighbourhood"}


def test_a_new_node_of_a_graph_without_features_starts_from_the_mean_of_its_neighbours(citation):
    data, split = citation
    model = planetoid().fit(None, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert model.view_ == "graph"
    n, neighbours = data.n_nodes, [3, 8]
    adjacency = sparse.lil_array((n + 1, n + 1), dtype=np.float32)
    adjacency[:n, :n] = model._adjacency
    adjacency[n, neighbours] = adjacency[neighbours, n] = 1.0
    start = model._projected[neighbours].mean(axis=0, keepdims=True)
    hidden = model._hidden(sparse.csr_array(adjacency), np.vstack([model._projected, start]))
    own = np.vstack([model._own_predictions, np.zeros((1, data.n_classes))])
    network = np.exp(model._scores(hidden))
    expected = model.calibration_.apply(pooled(model, sparse.csr_array(adjacency), network, own)[n:])
    found = model.predict_proba(edges=[(n, node) for node in neighbours])
    np.testing.assert_allclose(found, expected, rtol=2e-4)
    hidden = model._hidden(sparse.csr_array(adjacency), np.vstack([model._projected, 0 * start]))
    network = np.exp(model._scores(hidden))
    without = model.calibration_.apply(pooled(model, sparse.csr_array(adjacency), network, own)[n:])
    assert np.abs(without / expected - 1).max() > 2e-3  # ten times the tolerance
