"""Planetoid-I: nodes without features, the learning rate of the encoder, and encoders of the user's."""

import numpy as np
import pytest
import torch
from torch import nn

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.training import context_loss

QUICK = {"dimension": 8, "training__pretrain": 40, "training__steps": 60}


def make(**parameters):
    return pl.PlanetoidI().set_params(**{**QUICK, **parameters})


def without_features(small, rows):
    X = small.X.copy()
    X[rows] = 0.0
    return X


def test_nodes_without_features_get_the_class_prior(small):
    bare = np.flatnonzero(np.arange(small.n_nodes) % 12 >= 9)
    with pytest.warns(PlanetoidWarning, match="nothing about 9 of 36 nodes"):
        model = make().fit(without_features(small, bare), small.y, graph=small.graph)
    np.testing.assert_allclose(model.predict_proba()[bare], 1 / 3, atol=1e-6)
    others = np.setdiff1d(np.arange(small.n_nodes), bare)
    assert (model.predict()[others] == small.truth[others]).mean() >= 0.9


def test_labels_without_features_are_not_used(small):
    bare = small.labelled[::4]
    X = without_features(small, bare)
    hidden = small.y.copy()
    hidden[bare] = -1
    with pytest.warns(PlanetoidWarning, match="3 of 12 labelled nodes have no features"):
        model = make(contexts__r2=1.0, calibrate=False).fit(X, small.y, graph=small.graph)
    with pytest.warns(PlanetoidWarning, match="nothing about 3"):
        other = make(contexts__r2=1.0, calibrate=False).fit(X, hidden, graph=small.graph)
    np.testing.assert_array_equal(model.predict_proba(small.X), other.predict_proba(small.X))
    assert (model.predict()[bare] == small.truth[bare]).all()  # its own label is what is known of it
    with pytest.raises(DataError, match="none of the labelled nodes has features"):
        make().fit(without_features(small, small.labelled), small.y, graph=small.graph)


def test_labels_move_the_encoder_at_a_rate_of_its_own(small):
    def embedded(**parameters):
        model = make(**{"training__T2": 0, "training__pretrain": 1, "training__steps": 20, **parameters})
        model.fit(small.X, small.y, graph=small.graph)
        return model.embedding_, model.predict_proba()

    before, _ = embedded(training__steps=0)
    frozen, probabilities = embedded(training__embedding_learning_rate=0)
    np.testing.assert_array_equal(frozen, before)  # only contexts have trained it
    assert probabilities.max() > 0.4  # while the classifier has learned
    moved = [np.abs(embedded(training__embedding_learning_rate=rate)[0] - before).mean() for rate in (0.001, 0.01)]
    assert 0 < 2 * moved[0] < moved[1]


def test_the_parameters_of_training_reach_the_context_loss(small, monkeypatch):
    given = {}

    class Watched(context_loss.EncoderContextLoss):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            given["loss"] = self

    monkeypatch.setattr(context_loss, "EncoderContextLoss", Watched)
    training = pl.Training(
        pretrain=5, N2=50, steps=1, context_optimizer="sgd", context_learning_rate=0.02, learning_rate=0.3
    )
    pl.PlanetoidI(dimension=8, training=training).fit(small.X, small.y, graph=small.graph)
    loss = given["loss"]
    assert (loss.n_pretrain, loss.walks) == (4, 50)  # 5 walks for each of 36 nodes, 50 at a time
    rates = [
        group["lr"]
        for optimizer in (loss.encoder_optimizer, loss.context_optimizer)
        for member in optimizer.members
        for group in member.param_groups
    ]
    assert set(rates) == {0.02}


def test_the_classifier_sees_features_and_embedding_unless_the_encoder_is_the_users(small):
    built_in = make().fit(small.X, small.y, graph=small.graph)
    assert set(built_in.network_.head.branches) == {"x", "e"}
    users = make(encoder=nn.Linear(small.X.shape[1], 8)).fit(small.X, small.y, graph=small.graph)
    assert set(users.network_.head.branches) == {"e"}


def test_no_rows(small):
    model = make(training__steps=2).fit(small.X, small.y, graph=small.graph)
    for method in (model.predict_proba, model.transform):
        with pytest.raises(DataError):
            method(small.X[:0])


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
        present = (tokens > 0).float().unsqueeze(2)
        return (out * present).sum(dim=1) / present.sum(dim=1).clamp(min=1)


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
        make(encoder=lambda n_features: Recurrent(21, 8)).fit(tokens, small.y, graph=small.graph) for _ in range(2)
    ]
    assert torch.equal(torch.get_rng_state(), state)  # though nn.Embedding and nn.Dropout draw from it
    assert (models[0].predict() == small.truth).mean() >= 0.8
    np.testing.assert_array_equal(models[0].predict_proba(), models[1].predict_proba())
    np.testing.assert_array_equal(models[0].predict_proba(tokens), models[0].predict_proba(tokens))  # no dropout
    assert models[0].transform(tokens).shape == (small.n_nodes, 8)


def test_a_module_is_copied(small):
    encoder = Recurrent(21, 8)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    make(encoder=encoder).fit(sentences(small), small.y, graph=small.graph)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (lambda n: nn.Linear(n, 5), r"encoder must return a tensor of shape .*dimension=8, got shape \(\d+, 5\)"),
        (lambda n: nn.GRU(n, 8), r"encoder must return a tensor of shape .*, got an object of type tuple"),
        (lambda n: 3, "encoder must return a torch module, got an object of type int"),
    ],
)
def test_encoders_of_the_wrong_kind(small, encoder, message):
    with pytest.raises(ParameterError, match=message):
        make(encoder=encoder).fit(small.X, small.y, graph=small.graph)
