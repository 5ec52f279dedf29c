"""Networks with a penalty along edges: gradients, their limit without the penalty, and which edges are drawn."""

import numpy as np
import pytest
import torch
from scipy import sparse, stats

import planetoid as pl
from planetoid.baselines.smooth_network import EdgeSampler, SmoothNetwork, squared_distance
from planetoid.errors import ParameterError
from planetoid.training import FeatureRows, StepRandom

EMBEDDINGS = ("output", "hidden", "auxiliary")
QUICK = {"steps": 30, "width": 8, "edge_batch": 20}


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = ((rng.random((30, 6)) < 0.4) * rng.random((30, 6))).astype(np.float32)
    X[:, 0] += 0.1
    y = np.where(np.arange(30) < 9, np.arange(30) % 3, -1)
    graph = pl.Graph.from_edges(np.arange(30), (np.arange(30) + 3) % 30, rng.random(30) + 0.1)
    return X, y, graph


def new_network(embedding, layers=1):
    return SmoothNetwork(
        6,
        3,
        layers=layers,
        width=4,
        activation="tanh",
        dropout=0.0,
        embedding=embedding,
        dimension=2,
        random=StepRandom(0),
    )


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_gradient_of_the_penalty(embedding, as_sparse, small):
    """Against finite differences, in double precision."""
    X = small[0].astype(np.float64)
    rows = FeatureRows(sparse.csr_array(X) if as_sparse else X)
    network = new_network(embedding).double()
    names, weights = zip(*network.named_parameters(), strict=True)

    def loss(*values):
        return torch.func.functional_call(
            _Penalty(network), {f"network.{name}": value for name, value in zip(names, values, strict=True)}, (rows,)
        )

    assert torch.autograd.gradcheck(loss, tuple(weights), eps=1e-6, atol=1e-5)


class _Penalty(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, rows):
        one, other = (self.network.embed(rows.batch(np.arange(k, k + 8))) for k in (0, 8))
        return squared_distance(one, other).mean()


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_sparse_and_dense_rows_are_the_same(embedding, small):
    X, network = small[0], new_network(embedding)
    dense, thin = FeatureRows(X).batch(slice(0, 30)), FeatureRows(sparse.csr_array(X)).batch(slice(0, 30))
    torch.testing.assert_close(network.logits(dense), network.logits(thin))
    torch.testing.assert_close(network.embed(dense), network.embed(thin))


def test_what_the_penalty_is():
    """Two rows whose outputs are softmax(1, 0) and softmax(0, 1)."""
    network = SmoothNetwork(
        2,
        2,
        layers=0,
        width=1,
        activation="relu",
        dropout=0.0,
        embedding="output",
        dimension=1,
        random=StepRandom(0),
    )
    with torch.no_grad():
        network.output.weight.copy_(torch.eye(2))
    rows = FeatureRows(np.eye(2, dtype=np.float32))
    p = np.e / (1 + np.e)
    found = squared_distance(network.embed(rows.batch(np.array([0]))), network.embed(rows.batch(np.array([1]))))
    assert float(found.detach()) == pytest.approx(2 * (2 * p - 1) ** 2, rel=1e-5)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_without_the_penalty_it_is_the_plain_network(embedding, small):
    """Trained step by step here, on the same batches, with no graph in sight."""
    X, y, graph = small
    model = pl.SemiSupervisedEmbedding(embedding=embedding, lambda_=0, dropout=0.0, row_normalize=None, **QUICK)
    found = model.fit(X, y, graph=graph).predict_proba()
    other = model.fit(X, y, graph=pl.Graph.from_edges([0], [29], nodes=30)).predict_proba()
    np.testing.assert_array_equal(found, other)

    generator = StepRandom(0)
    weights = [_uniform(6, 8, generator), torch.zeros(8), _uniform(8, 3, generator), torch.zeros(3)]
    weights = [weight.requires_grad_() for weight in weights]
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-4)
    rows, targets = torch.from_numpy(X), torch.from_numpy(y[:9]).long()

    def logits(x):
        return torch.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]

    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits(rows[:9]), targets).backward()
        optimizer.step()
    expected = torch.softmax(logits(rows), dim=1).detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def _uniform(n_inputs, n_outputs, random):
    bound = (6.0 / (n_inputs + n_outputs)) ** 0.5
    return torch.rand(n_inputs, n_outputs, generator=random.generator) * 2 * bound - bound


def test_the_penalty_brings_neighbours_together_and_the_margin_keeps_others_apart(small):
    X, y, graph = small
    source, target = np.repeat(np.arange(30), np.diff(graph.indptr)), graph.indices

    def spread(**parameters):
        model = pl.SemiSupervisedEmbedding(dropout=0.0, **{**QUICK, "steps": 100}, **parameters)
        g = model.fit(X, y, graph=graph).transform()
        near = ((g[source] - g[target]) ** 2).sum(axis=1).mean()
        return near, ((g[:, None] - g[None]) ** 2).sum(axis=2).mean()

    plain_near, plain_all = spread(lambda_=0)
    fallen_near, fallen_all = spread(lambda_=10, margin=0)
    assert fallen_near < 0.1 * plain_near
    assert fallen_all < 0.1 * plain_all  # without a margin everything falls together
    near, all_pairs = spread(lambda_=10, margin=1)
    assert all_pairs > 10 * fallen_all
    assert near / all_pairs < 0.95 * plain_near / plain_all


def test_edges_are_drawn_by_weight():
    weights = np.array([1.0, 2.0, 3.0, 0.5])
    graph = pl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights)
    source, target = EdgeSampler(graph).draw(40_000, np.random.default_rng(1))
    matrix = graph.to_scipy().toarray().astype(float)
    counts = np.zeros((4, 4))
    np.add.at(counts, (source, target), 1)
    assert (counts[matrix == 0] == 0).all()
    expected = matrix[matrix > 0] / matrix.sum() * 40_000
    assert stats.chisquare(counts[matrix > 0], expected).pvalue > 1e-3


def test_transform_gives_the_layer(small):
    X, y, graph = small
    model = pl.SemiSupervisedEmbedding(embedding="auxiliary", dimension=5, **QUICK).fit(X, y, graph=graph)
    assert model.embedding_.shape == (30, 5)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(), atol=1e-6)
    output = pl.SemiSupervisedEmbedding(embedding="output", **QUICK).fit(X, y, graph=graph)
    np.testing.assert_allclose(output.embedding_, output.predict_proba(), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("embedding", "input"), ("lambda_", -1), ("margin", -1), ("steps", 0), ("dropout", 1), ("layers", 0)],
)
def test_refuses_what_cannot_work(name, value, small):
    X, y, graph = small
    with pytest.raises(ParameterError, match=f"{name}={value!r}"):
        pl.SemiSupervisedEmbedding(**{name: value}).fit(X, y, graph=graph)


def test_manifold_regularization_by_a_network_is_the_penalty_on_outputs(small):
    X, y, graph = small
    manifold = pl.ManifoldRegularization(
        kind="network", intrinsic=2.0, ambient=5e-4, steps=30, width=8, edge_batch=20, random_state=3
    ).fit(X, y, graph=graph)
    embedding = pl.SemiSupervisedEmbedding(
        embedding="output", lambda_=2.0, margin=0, dropout=0.0, random_state=3, **QUICK
    ).fit(X, y, graph=graph)
    np.testing.assert_array_equal(manifold.predict_proba(), embedding.predict_proba())
    np.testing.assert_allclose(manifold.predict_proba(X), manifold.predict_proba(), atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [pl.SemiSupervisedEmbedding(embedding="auxiliary", **QUICK), pl.ManifoldRegularization(kind="network", steps=20)],
    ids=["semiemb", "manireg"],
)
def test_comes_back_from_a_folder(model, small, tmp_path):
    X, y, graph = small
    expected = model.fit(sparse.csr_array(X), y, graph=graph).predict_proba(X[::2])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_proba(X[::2]), expected)
