"""``Planetoid``: what it learns from, new rows, threads, checkpoints, files."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.models.communities import labelled_of, mixed_groups
from tests.models.conftest import planetoid, pooled

import planetoid as pl
from planetoid.labels import some_of_each_class
from planetoid.models import planetoid_steps as module
from planetoid.models.context_network import ContextNetwork
from planetoid.models.student import class_probabilities
from planetoid.models.teacher import TEACHER_KNOWS_BETTER, TEACHER_LABELS, TEACHER_WEIGHT, Teacher
from planetoid.training import consistency_loss


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
    assert model._network.contexts.adjacency.nnz > 0
    feat = pl.Feat().fit(data.X, y)
    assert correct(citation, model.predict()) > correct(citation, feat.predict()) - 0.02


def test_two_classes_learn_from_unlabelled_nodes_too():
    """Of two classes, twice the share of one would be all: no prediction would be confident enough for L_u."""
    data = pl.datasets.make_citation(400, n_classes=2, seed=1)
    split = data.split("random", per_class=5, n_val=0, n_test=300, seed=0)
    y = pl.mask_labels(data.y, split.train)
    found = [
        planetoid(training__weight=weight, training__alignment=0.0).fit(data.X, y, graph=data.graph).embedding_
        for weight in (0.0, 1.0)
    ]
    assert np.abs(found[0] - found[1]).max() > 1e-3


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


@pytest.mark.parametrize("row_normalize", ["l1", "l2", None])
def test_new_rows_go_through_the_student_scaled_and_calibrated(citation, row_normalize):
    data, _ = citation
    model = fitted(citation, student=True, row_normalize=row_normalize)
    new = data.X[:40].copy()
    new.data *= np.linspace(0.5, 1.5, new.nnz, dtype=np.float32)  # unlike all fitted rows
    expected = class_probabilities(model._student.layers, model._inputs.scaled(new))
    found = model.predict_proba(new)
    np.testing.assert_allclose(found, model.calibration_.apply(expected), atol=1e-6)
    assert np.array_equal(model.predict(new), model.classes_[expected.argmax(axis=1)])


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


def test_predictions_are_pooled_with_those_of_contexts(citation):
    data, split = citation
    model = planetoid(calibrate=False)
    teachers = []
    pool = model._pooled
    model._pooled = lambda *arguments: teachers.append(pool(*arguments)) or teachers[-1]
    model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    network = np.exp(teachers[-1]) / np.exp(teachers[-1]).sum(axis=1, keepdims=True)
    own = class_probabilities(model._context_predictions.layers, model._inputs.scaled(data.X))
    expected = pooled(model, model._network.contexts.adjacency, network, own)
    if model._second_view is not None:
        expected = model._second_view.pooled_with(expected)
    np.testing.assert_allclose(model.predict_proba(), expected, rtol=1e-3, atol=1e-6)


def test_a_model_of_features_alone_propagates_nothing_even_if_fitted_before(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = planetoid().fit(data.X, y, graph=data.graph)
    assert model.propagation_weight_ > 0
    model.set_params(view="features").fit(data.X, y, graph=data.graph)
    assert model.propagation_weight_ == 0
    assert model._context_predictions is None


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
    network = ContextNetwork.of(model._network.layers, model._network.contexts, x)
    found = model._pooled(known, network, Teacher("features", opinion, accuracy, others, {}, share))
    if of_teacher is None:
        of_teacher = TEACHER_WEIGHT + TEACHER_LABELS / len(split.train)
    expected = of_network * network.log_probabilities(model.embedding_) + of_teacher * np.log(opinion) + others
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_an_embedding_that_predicts_little_makes_the_network_count_little(citation, monkeypatch):
    """A noise embedding in the place of that of the graph."""
    data, split = citation
    noise = sparse.csr_array(np.random.default_rng(0).normal(size=(data.n_nodes, 8)).astype(np.float32))
    y = pl.mask_labels(data.y, split.train)
    usual, model = planetoid(view="graph"), planetoid(view="graph")
    shares = []
    for one in (usual, model):
        train = one._train
        one._train = lambda data, x, contexts, teacher, train=train: (
            shares.append(teacher.network_share) or train(data, x, contexts, teacher)
        )
        one.fit(data.X, y, graph=data.graph)
        monkeypatch.setattr(module, "graph_features", lambda *_, **options: noise)
        monkeypatch.setattr(module, "beside_spectrum", lambda x, *_, **options: x)
    assert shares[1] < 0.1 < shares[0]
    assert model.propagation_weight_ < 2 * shares[1]
    truth = np.asarray(data.class_names)[data.y]
    assert (model.predict() == truth).mean() > (usual.predict() == truth).mean() - 0.1


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
    adjacency = model._network.contexts.adjacency
    assert set(model._ask(edgeless, X, adjacency).verdicts) == {"features", "neighbourhood"}


def test_contexts_are_closer_to_the_node_where_communities_are_not_the_classes(tmp_path):
    X, adjacency, truth = mixed_groups()
    labelled = labelled_of(truth, 60)
    y, others = pl.mask_labels(truth, labelled), np.setdiff1d(np.arange(len(truth)), labelled)
    fits = {
        restart: planetoid(neighbourhood__restart=restart, view=view).fit(X, y, graph=adjacency)
        for restart, view in ((0.15, "neighbourhood"), ("auto", "auto"))
    }
    accuracy = {restart: (model.predict()[others] == truth[others]).mean() for restart, model in fits.items()}
    assert accuracy["auto"] > accuracy[0.15] + 0.03
    model = fits["auto"]
    assert fits[0.15].restart_ == 0.15
    assert model.restart_ == model._network.contexts.restart > 0.25
    model.save(tmp_path / "model")
    row, edges = X[[0]], [(3, len(truth)), (7, len(truth))]
    np.testing.assert_allclose(
        pl.load(tmp_path / "model").predict_proba(row, edges=edges), model.predict_proba(row, edges=edges), rtol=1e-5
    )


def test_probabilities_by_an_embedding_that_says_more_than_propagated_labels():
    """Two communities in a graph of many edges: labels propagate across them, the embedding tells them apart."""
    random = np.random.default_rng(0)
    truth = np.arange(600) % 2
    source, target = random.integers(0, 600, (2, 6000))
    same = random.random(6000) < 0.8
    target = np.where(same & (truth[source] != truth[target]), (target + 1) % 600, target)
    graph = pl.Graph.from_edges(source, target, nodes=600)
    model = pl.Planetoid(random_state=0).fit(None, pl.mask_labels(truth, range(40)), graph=graph)
    found = model.predict_proba()[40:]
    assert (found.argmax(axis=1) == truth[40:]).mean() > 0.95
    assert found.max(axis=1).mean() > 0.93
    assert model._reference.rows is None  # not kept, nor where validation labels calibrate
    model.fit(None, pl.mask_labels(truth, range(40)), graph=graph, validation={n: truth[n] for n in range(40, 80)})
    assert model.calibration_.source == "validation labels"
    assert model._reference.rows is None


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_features_that_say_nothing_are_not_trusted(value):
    """Zeros or a constant: the graph decides, as if there were no features."""
    random = np.random.default_rng(3)
    n = 400
    y = random.integers(0, 4, n)
    same = random.random((n, 3)) < 0.45
    targets = [
        [random.choice(np.flatnonzero(y == y[i])) if one else random.integers(n) for one in same[i]] for i in range(n)
    ]
    edges = [(i, int(j)) for i in range(n) for j in targets[i] if i != j]
    labelled = np.concatenate([np.flatnonzero(y == k)[:10] for k in range(4)])
    model = planetoid(student=False)
    model.fit(np.full((n, 20), value), pl.mask_labels(y, labelled), graph=pl.Graph.of(edges, nodes=range(n)))
    assert model.view_ == "graph"
