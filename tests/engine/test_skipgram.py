"""Skip-gram: gradients, estimator, threads, pieces."""

import numpy as np
import pytest
import torch
from numba import njit
from tests.engine.samplers import new_sampler

import planetoid as pl
from planetoid.engine import SkipGram
from planetoid.engine.loops import sigmoids
from planetoid.engine.on_device import DeviceSkipGram, gradient_step
from planetoid.engine.skipgram import new_tables
from planetoid.errors import ParameterError
from planetoid.utils.threads import resolve_n_jobs


def random_graph(n=60, m=150, seed=0, weighted=False, directed=False) -> pl.Graph:
    rng = np.random.default_rng(seed)
    weight = rng.random(m) + 0.1 if weighted else None
    return pl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weight, nodes=n, directed=directed)


def random_tables(n, dimension=24, seed=1, size=0.5):
    rng = np.random.default_rng(seed)
    return tuple((rng.standard_normal((n, dimension)) * size).astype(np.float32) for _ in range(2))


def labels_of(n, seed=3):
    return np.where(np.random.default_rng(seed).random(n) < 0.4, np.arange(n) % 3, -1)


CASES = [
    {},
    {"negatives": "own"},
    {"r2": 0.5},
    {"r2": 0.0},
    {"r2": 0.5, "negatives": "own"},
    {"self_pairs": True, "d": 3},
    {"weighted": True, "node2vec_p": 0.5},
    {"directed": True, "self_pairs": True},
    {"r1": 5 / 6, "r2": 0.7},
    {"r1": 1.0},
    {"frozen": 30},
]


def trainer(case, tables, n_jobs=1, rate=0.002, kind=SkipGram):
    case = {"r1": 1 / 6, "q": 7, "d": 4, "self_pairs": False, **case}
    graph = random_graph(weighted=case.pop("weighted", False), directed=case.pop("directed", False))
    options = {name: case.pop(name) for name in ("negatives", "frozen") if name in case}
    sampler = new_sampler(graph, labels_of(graph.n_nodes), seed=9, **case)
    if kind is SkipGram:
        options["n_jobs"] = n_jobs
    return kind(sampler, *tables, learning_rate=rate, final_rate=rate / 2, **options)


def by_hand(e, w, pairs, rate, frozen=0):
    """One step of the printed loss, pair by pair, in double precision."""
    e, w = e.astype(np.float64), w.astype(np.float64)
    new_e, new_w = e.copy(), w.copy()
    for i, c, gamma, weight in zip(*pairs, strict=True):
        slope = weight * gamma / (1 + np.exp(gamma * (w[c] @ e[i])))  # -d loss / d score
        new_e[i] += rate * slope * w[c] * (i >= frozen)
        new_w[c] += rate * slope * e[i] * (c >= frozen)
    return new_e, new_w


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_step_is_the_gradient_of_its_pairs(case):
    e, w = random_tables(60)
    model = trainer(case, (e.copy(), w.copy()))
    pairs = model.pairs_of(0)
    expected_e, expected_w = by_hand(e, w, pairs, 0.002, case.get("frozen", 0))
    model.train(0, 1, 1000)
    np.testing.assert_allclose(model.e, expected_e, atol=2e-5)
    np.testing.assert_allclose(model.w, expected_w, atol=2e-5)
    assert np.abs(model.e - e).max() > 1e-3  # far above the tolerance


@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_takes_the_same_step(case):
    e, w = random_tables(60)
    ours = trainer(case, (e.copy(), w.copy()))
    theirs = trainer(case, (torch.from_numpy(e.copy()), torch.from_numpy(w.copy())), kind=DeviceSkipGram)
    loss, device_loss = ours.train(0, 3, 10), theirs.train(0, 3, 10)
    np.testing.assert_allclose(ours.e, theirs.e.numpy(), atol=3e-5)
    np.testing.assert_allclose(ours.w, theirs.w.numpy(), atol=3e-5)
    assert loss == pytest.approx(device_loss, rel=0.1)  # ours looks at every fourth slot


def test_torch_gradient_is_autograd_s():
    e, w = (torch.from_numpy(table).double().requires_grad_() for table in random_tables(60))
    pairs = trainer({}, random_tables(60)).pairs_of(0)
    scores = (e[pairs.i] * w[pairs.c]).sum(1) * torch.from_numpy(pairs.gamma)
    (-torch.nn.functional.logsigmoid(scores) * torch.from_numpy(pairs.weight)).sum().backward()
    moved_e, moved_w = e.detach().clone(), w.detach().clone()
    gradient_step(moved_e, moved_w, pairs, 1e-3)
    torch.testing.assert_close(moved_e, e.detach() - 1e-3 * e.grad)
    torch.testing.assert_close(moved_w, w.detach() - 1e-3 * w.grad)


@pytest.mark.parametrize("n_negatives", [1, 5])
def test_shared_negatives_are_unbiased(n_negatives):
    """The mean coefficient of every negative pair is the one of Algorithm 1: p(i) / n, times (1 - r1) / r1."""
    graph = random_graph(n=12, m=20, seed=4)
    sampler = new_sampler(graph, r1=1 / 6, q=6, d=3, self_pairs=False, seed=2)
    tables = random_tables(12)
    model = SkipGram(sampler, *tables, n_negatives=n_negatives)
    n_batches = 60_000 // model.n_slots
    positive, negative = np.zeros((12, 12)), np.zeros((12, 12))
    for number in range(n_batches):
        pairs = model.pairs_of(number)
        for total, chosen in ((positive, pairs.gamma > 0), (negative, pairs.gamma < 0)):
            np.add.at(total, (pairs.i[chosen], pairs.c[chosen]), pairs.weight[chosen])
    expected = positive.sum(axis=1, keepdims=True) * 5 / 12
    connected = positive.sum(axis=1) > 0
    assert negative.sum() == pytest.approx(5 * positive.sum(), rel=1e-6)
    np.testing.assert_allclose(negative[connected] / np.broadcast_to(expected, (12, 12))[connected], 1.0, atol=0.12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bit_identical_for_any_number_of_threads(case, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(4)), raising=False)  # as if there were 4 cores
    results = []
    for n_jobs in (1, 2, 4, 3, 1):
        model = trainer(case, random_tables(60), n_jobs=n_jobs, rate=0.05)
        assert model.n_threads == n_jobs
        loss = model.train(0, 12, 12)
        results.append((model.e.tobytes(), model.w.tobytes(), loss))
    assert all(result == results[0] for result in results)


def test_training_in_pieces_is_training_at_once():
    whole, pieces = (trainer({"r2": 0.6}, random_tables(60)) for _ in range(2))
    whole.train(0, 20, 20)
    for first, last in ((0, 1), (1, 13), (13, 20)):
        pieces.train(first, last, 20)
    np.testing.assert_array_equal(whole.e, pieces.e)
    np.testing.assert_array_equal(whole.w, pieces.w)


def test_the_loss_falls_and_neighbours_come_close():
    ring = pl.Graph.from_edges(np.arange(100), (np.arange(100) + 1) % 100)
    e, w = new_tables(100, 32, seed=0)
    model = SkipGram(new_sampler(ring, r1=1 / 6, self_pairs=False), e, w)
    total = model.n_batches(100 * 200)
    first = model.train(0, 1, total)
    model.train(1, total - 20, total)
    last = model.train(total - 20, total, total)
    assert first == pytest.approx(np.log(2), rel=1e-3)  # every score is zero at the start
    assert last < 0.4
    unit = e / np.linalg.norm(e, axis=1, keepdims=True)
    cosine = unit @ unit.T
    near = np.mean([cosine[k, (k + 1) % 100] for k in range(100)])
    far = np.mean([cosine[k, (k + 50) % 100] for k in range(100)])
    assert near > far + 0.3


def test_a_large_rate_stays_finite():
    star = pl.Graph.from_edges([0] * 50, range(1, 51))
    e, w = new_tables(51, 16, seed=0)
    model = SkipGram(new_sampler(star, r1=1 / 6), e, w, learning_rate=1.0)
    model.train(0, 500, 500)
    assert np.isfinite(e).all()
    assert np.isfinite(w).all()


def test_memory_mapped_tables(tmp_path):
    mapped, plain = new_tables(60, 24, seed=5, directory=tmp_path), new_tables(60, 24, seed=5)
    for tables in (mapped, plain):
        trainer({}, tables).train(0, 5, 5)
    np.testing.assert_array_equal(mapped[0], plain[0])
    mapped[0].flush()
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), plain[0])


def test_sigmoid_is_exact_enough():
    x = np.linspace(-40, 40, 20001).astype(np.float32)
    ours = x.copy()

    @njit
    def compiled(values):  # an inner kernel is called by compiled code only
        sigmoids(values, len(values))

    compiled(ours)
    exact = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -30, 30)))
    np.testing.assert_allclose(ours, exact, rtol=2e-6)


def test_wrong_parameters():
    graph = random_graph()
    sampler = new_sampler(graph)
    e, w = random_tables(60)
    with pytest.raises(ParameterError, match="learning_rate"):
        SkipGram(sampler, e, w, learning_rate=0)
    with pytest.raises(ParameterError, match="negatives"):
        SkipGram(sampler, e, w, negatives="none")
    with pytest.raises(ParameterError, match="float32"):
        SkipGram(sampler, e.astype(np.float64), w)
    with pytest.raises(ParameterError, match="59 rows"):
        SkipGram(sampler, e[1:], w)
    for wrong in (0, -2, 1.5):
        with pytest.raises(ParameterError, match="n_jobs"):
            resolve_n_jobs(wrong)
