"""GraphEmbedding: its history, its constraints, and that it uses no labels to embed."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import planetoid as pl
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.skipgram import SkipGram, new_tables
from planetoid.errors import ParameterError


@pytest.fixture
def ring():
    nodes = np.arange(40)
    return pl.Graph.from_edges(np.tile(nodes, 2), np.concatenate([(nodes + 1) % 40, (nodes + 2) % 40]))


def test_history_is_the_falling_context_loss(ring):
    model = pl.GraphEmbedding(dimension=8, pretrain=500).fit(None, {0: "a", 20: "b"}, graph=ring)
    assert [set(record) for record in model.history_] == [{"step", "pretrained", "context_loss"}] * len(model.history_)
    shares = [record["pretrained"] for record in model.history_]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    losses = [record["context_loss"] for record in model.history_]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


@pytest.mark.parametrize(
    "contexts",
    [pl.Contexts(r1=1 / 6, r2=1.0), pl.Contexts(r1=5 / 6, r2=1.0), pl.Contexts(r1=0.5, q=4, d=2, self_pairs=True)],
)
def test_the_embedding_is_skip_gram_on_its_contexts(ring, contexts):
    model = pl.GraphEmbedding(
        dimension=8, pretrain=30, contexts=contexts, context_learning_rate=0.05, negatives="own", random_state=4
    ).fit(None, {0: "a", 20: "b"}, graph=ring)
    e, w = new_tables(40, 8, 4)
    skipgram = SkipGram(ContextSampler(ring, contexts, seed=4), e, w, learning_rate=0.05, negatives="own")
    total = skipgram.n_batches(30 * 40)
    skipgram.train(0, total, total)
    np.testing.assert_array_equal(model.embedding_, e)


def test_the_classifier_is_softmax_regression_on_rows_of_unit_length(ring):
    model = pl.GraphEmbedding(dimension=8, C=3.0).fit(None, {0: "a", 1: "a", 20: "b", 22: "b"}, graph=ring)
    X = model.embedding_ / np.linalg.norm(model.embedding_, axis=1, keepdims=True)
    softmax = LogisticRegression(C=3.0, max_iter=1000).fit(X[[0, 1, 20, 22]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba(), softmax.predict_proba(X), atol=1e-5)


def test_labels_do_not_change_the_embedding(ring):
    embeddings = [
        pl.GraphEmbedding(dimension=8, contexts=contexts).fit(None, labels, graph=ring).embedding_
        for labels, contexts in (
            ({0: "a", 20: "b"}, pl.Contexts(r2=1.0)),
            ({0: "b", 20: "a", 3: "b"}, pl.Contexts(r2="auto")),
        )
    ]
    np.testing.assert_array_equal(*embeddings)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contexts": pl.Contexts(r2=0.5)}, "contexts must be a Contexts object with r2=1 or r2='auto'"),
        ({"contexts__q": 1}, r"contexts\.q must be an integer >= 2 without self_pairs, got 1"),
        ({"dimension": 2.5}, r"dimension must be an integer >= 1, got 2\.5"),
        ({"pretrain": 0}, "pretrain must be a number > 0, got 0"),
        ({"negatives": "none"}, "negatives must be 'shared' or 'own', got 'none'"),
        ({"C": "large"}, "C must be a number > 0 or 'auto', got 'large'"),
    ],
)
def test_invalid_parameters(ring, parameters, message):
    with pytest.raises(ParameterError, match=f"GraphEmbedding: {message}"):
        pl.GraphEmbedding().set_params(**parameters).fit(None, {0: "a", 20: "b"}, graph=ring)


def test_automatic_penalty_by_hand(ring):
    labels = {0: "a", 1: "a", 20: "b", 22: "b"}
    models = [pl.GraphEmbedding(dimension=8, C=C).fit(None, labels, graph=ring) for C in ("auto", 3.0 * 2**2 / 4)]
    np.testing.assert_array_equal(models[0].predict_proba(), models[1].predict_proba())
