"""What the models do with data that is not as plain as one would like."""

import numpy as np
import pytest
import torch
from torch import nn

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.evaluation.metrics import expected_calibration_error
from planetoid.training.losses import NetworkContext

QUICK = {"dimension": 8, "pretrain": 40, "steps": 60}


def without_features(small, rows):
    X = small.X.copy()
    X[rows] = 0.0
    return X


def test_nodes_without_features_are_never_i(small, monkeypatch):
    bare = np.flatnonzero(np.arange(small.n_nodes) % 12 >= 9)
    seen, contexts, loss = set(), set(), NetworkContext.loss

    def spy(task, pairs, random):
        seen.update(pairs.i.tolist())
        contexts.update(pairs.c.tolist())
        return loss(task, pairs, random)

    monkeypatch.setattr(NetworkContext, "loss", spy)
    with pytest.warns(PlanetoidWarning, match="nothing about 9 of 36 nodes"):
        model = pl.PlanetoidI(**QUICK).fit(without_features(small, bare), small.y, graph=small.graph)
    assert seen == set(range(small.n_nodes)) - set(bare)
    assert contexts == set(range(small.n_nodes))
    np.testing.assert_allclose(model.predict_proba()[bare], 1 / 3, atol=1e-6)


def test_t_learns_the_embedding_of_nodes_without_features(small):
    bare = np.flatnonzero(np.arange(small.n_nodes) % 12 >= 9)
    model = pl.PlanetoidT(**QUICK).fit(without_features(small, bare), small.y, graph=small.graph)
    assert (model.predict()[bare] == small.truth[bare]).all()
    assert np.linalg.norm(model.embedding_[bare], axis=1).min() > 0.1


def test_labels_without_features_do_not_reach_i(small):
    bare = small.labelled[::4]
    X = without_features(small, bare)
    hidden = small.y.copy()
    hidden[bare] = -1
    parameters = {**QUICK, "r2": 1.0}
    with pytest.warns(PlanetoidWarning, match="3 of 12 labelled nodes have no features"):
        model = pl.PlanetoidI(**parameters).fit(X, small.y, graph=small.graph)
    with pytest.warns(PlanetoidWarning, match="nothing about 3"):
        other = pl.PlanetoidI(**parameters).fit(X, hidden, graph=small.graph)
    np.testing.assert_array_equal(model.predict_proba(small.X), other.predict_proba(small.X))
    assert (model.predict()[bare] == small.truth[bare]).all()  # its own label is what is known of it
    with pytest.raises(DataError, match="none of the labelled nodes has features"):
        pl.PlanetoidI(**QUICK).fit(without_features(small, small.labelled), small.y, graph=small.graph)


def test_labels_move_the_layers_to_e_at_a_rate_of_their_own(small):
    def embedded(**parameters):
        model = pl.PlanetoidI(**QUICK | {"T2": 0, "pretrain": 1} | parameters).fit(small.X, small.y, graph=small.graph)
        return model.embedding_, model.predict_proba()

    before, _ = embedded(steps=0)
    still, probabilities = embedded(steps=20, embedding_rate=0)
    np.testing.assert_array_equal(still, before)  # only contexts have taught it
    assert probabilities.max() > 0.4  # while the classifier has learned
    moved = [np.abs(embedded(steps=20, embedding_rate=rate)[0] - before).mean() for rate in (0.001, 0.01)]
    assert 0 < 2 * moved[0] < moved[1]


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI", "PlanetoidG"])
def test_one_example_of_each_class(small, cls):
    y = pl.mask_labels(np.array(["a", "b", "c"], dtype=object)[small.truth], [0, 12, 24])
    X = None if cls == "PlanetoidG" else small.X
    model = getattr(pl, cls)(**{**QUICK, "steps": 200}).fit(X, y, graph=small.graph)
    assert (model.predict() == np.array(list("abc"))[small.truth]).mean() >= 0.8
    if cls != "PlanetoidI":  # whose pairs of a node with itself are positive
        with pytest.warns(PlanetoidWarning, match=r"each of the 3 classes has one example.*r2=0.5 is taken as 1"):
            getattr(pl, cls)(**QUICK, r2=0.5).fit(X, y, graph=small.graph)


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
def test_a_graph_without_edges(small, cls):
    empty = pl.Graph.from_edges([], [], nodes=small.n_nodes)
    with pytest.warns(PlanetoidWarning, match="no edges, so there is no context") as caught:
        model = getattr(pl, cls)(**QUICK).fit(small.X, small.y, graph=empty)
    assert len(caught) == 1
    assert (model.predict() == small.truth).mean() >= 0.9


def test_isolated_nodes_go_by_their_features(small):
    graph = small.graph.with_nodes(small.n_nodes + 3)
    X = np.vstack([small.X, small.X[[0, 12, 24]]])
    model = pl.PlanetoidT(**QUICK).fit(X, np.append(small.y, [-1] * 3), graph=graph)
    assert model.predict()[-3:].tolist() == [0, 1, 2]
    assert not model.embedding_[-3:].any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dimension": 0}, "dimension=0; it is a whole number, 1 at least"),
        ({"layers_e": -1}, "layers_e=-1; it is a whole number, 0 at least"),
        ({"layers_x": 1.5}, r"layers_x=1\.5; it is a whole number"),
        ({"width": 0}, "width=0; it is a whole number"),
        ({"random_state": None}, "random_state=None; it is a whole number"),
        ({"activation": "swish"}, "activation='swish'; it is one of relu"),
        ({"optimizer": "lion"}, "optimizer='lion'; it is one of sgd"),
        ({"learning_rate": 0}, "learning_rate=0; it is a positive number"),
        ({"joint_rate": -1.0}, r"joint_rate=-1\.0; it is a positive number"),
        ({"T2": -0.1}, r"T2=-0\.1; it is a number that is not negative"),
        ({"lambda_": -1}, "lambda_=-1; it is None or a number"),
        ({"dropout": 1.0}, r"dropout=1\.0; it is in \[0, 1\)"),
        ({"r2": "always"}, "r2='always'; it is 'auto' or a number"),
        ({"r1": 0}, "r1=0; the probability of a positive"),
        ({"monitor": "accuracy"}, "monitor='accuracy'; it is 'val_accuracy' or 'val_loss'"),
        ({"row_normalize": "max"}, "row_normalize='max'; it is"),
        ({"device": "tpu"}, "device='tpu'; it is 'cpu', 'cuda' or 'auto'"),
    ],
)
def test_parameters_that_cannot_work(small, parameters, message):
    with pytest.raises(ParameterError, match=message):
        pl.PlanetoidT(**parameters).fit(small.X, small.y, graph=small.graph)


# ---- encoders of the user's ------------------------------------------------------


class Recurrent(nn.Module):
    """Words in order, 0 for padding, through a GRU; the mean of its outputs is the embedding."""

    def __init__(self, n_words, dimension):
        super().__init__()
        self.words = nn.Embedding(n_words, 8, padding_idx=0)
        self.drop = nn.Dropout(0.2)
        self.gru = nn.GRU(8, dimension, batch_first=True)

    def forward(self, rows):
        tokens = rows.long()
        out, _ = self.gru(self.drop(self.words(tokens)))
        there = (tokens > 0).float().unsqueeze(2)
        return (out * there).sum(dim=1) / there.sum(dim=1).clamp(min=1)


def sentences(small):
    """Sentences of six words, most of them of the class of the node."""
    rng = np.random.default_rng(0)
    own = 1 + 5 * small.truth[:, None] + rng.integers(0, 5, (small.n_nodes, 6))
    tokens = np.where(rng.random(own.shape) < 0.8, own, rng.integers(1, 21, own.shape))
    tokens[::3, 4:] = 0
    return tokens.astype(np.float32)


def test_a_recurrent_encoder_learns_from_sentences(small):
    tokens = sentences(small)
    state = torch.get_rng_state()
    models = [
        pl.PlanetoidI(**QUICK, encoder=lambda n_features: Recurrent(21, 8)).fit(tokens, small.y, graph=small.graph)
        for _ in range(2)
    ]
    assert torch.equal(torch.get_rng_state(), state)  # though nn.Embedding and nn.Dropout draw from it
    assert (models[0].predict() == small.truth).mean() >= 0.8
    np.testing.assert_array_equal(models[0].predict_proba(), models[1].predict_proba())
    np.testing.assert_array_equal(models[0].predict_proba(tokens), models[0].predict_proba(tokens))  # no dropout
    assert models[0].transform(tokens).shape == (small.n_nodes, 8)


def test_a_module_is_copied(small):
    encoder = Recurrent(21, 8)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    pl.PlanetoidI(**QUICK, encoder=encoder).fit(sentences(small), small.y, graph=small.graph)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize(
    ("encoder", "message"),
    [(lambda n: nn.Linear(n, 5), r"encoder gave \(\d+, 5\).*dimension=8"), (lambda n: 3, "encoder gave a int")],
)
def test_encoders_of_the_wrong_kind(small, encoder, message):
    with pytest.raises(ParameterError, match=message):
        pl.PlanetoidI(**QUICK, encoder=encoder).fit(small.X, small.y, graph=small.graph)


@pytest.mark.filterwarnings("ignore:PlanetoidG can say nothing:planetoid.errors.PlanetoidWarning")
@pytest.mark.parametrize("cls", [pl.PlanetoidT, pl.PlanetoidG, pl.PlanetoidI])
def test_validation_labels_calibrate_the_probabilities(cls, tmp_path):
    """Confidence comes to what is right of nodes that were neither learned from nor calibrated on."""
    data = pl.datasets.make_citation(n_nodes=800, n_classes=3, n_features=60, seed=1)
    split = data.split("random", per_class=10, n_val=200, n_test=400, seed=0)
    y, X = pl.mask_labels(data.y, split.train), None if cls is pl.PlanetoidG else data.X
    models = [
        cls(dimension=16, steps=60, load_best=False, patience=100).fit(X, y, graph=data.graph, validation=held)
        for held in (None, split.val_labels(data.y))
    ]
    np.testing.assert_array_equal(models[0].predict(), models[1].predict())  # no class changes
    errors = [
        expected_calibration_error(data.y[split.test], model.predict_proba()[split.test], model.classes_)
        for model in models
    ]
    assert errors[1] < max(0.1, 0.7 * errors[0])
    models[1].save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_proba(), models[1].predict_proba())
    if cls is pl.PlanetoidI:
        np.testing.assert_allclose(models[1].predict_proba(data.X[:5]), models[1].predict_proba()[:5], rtol=1e-5)
