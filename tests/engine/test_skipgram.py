"""Skip-gram: gradients, unbiased negatives, threads, training in pieces."""

import numpy as np
import pytest
import torch

import planetoid as pl
from planetoid.engine import Contexts, ContextSampler, Pairs, SkipGram
from planetoid.engine.on_device import DeviceSkipGram, context_loss_on_device, gradient_step
from planetoid.engine.skipgram import new_tables
from planetoid.errors import ParameterError


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
    case = {"r1": 1 / 6, "r2": 1.0, "q": 7, "d": 4, "self_pairs": False, **case}
    graph = random_graph(weighted=case.pop("weighted", False), directed=case.pop("directed", False))
    options = {name: case.pop(name) for name in ("negatives", "frozen") if name in case}
    sampler = ContextSampler(graph, Contexts(**case), labels_of(graph.n_nodes), seed=9)
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
    assert loss == pytest.approx(device_loss, rel=0.1)  # ours measures every fourth slot


def test_loss_on_a_device_is_equation_3():
    e, w = (torch.from_numpy(table).double() for table in random_tables(60))
    pairs = trainer({}, random_tables(60)).pairs_of(0)
    expected = -sum(
        weight * np.log(1 / (1 + np.exp(-gamma * float(e[i] @ w[c]))))
        for i, c, gamma, weight in zip(*pairs, strict=True)
    )
    gamma, weight = torch.from_numpy(pairs.gamma), torch.from_numpy(pairs.weight)
    assert float(context_loss_on_device(e[pairs.i], w[pairs.c], gamma, weight)) == pytest.approx(expected)


def test_step_on_a_device_is_the_gradient_by_hand():
    e, w = (table.astype(np.float64) for table in random_tables(60))
    pairs = trainer({}, random_tables(60)).pairs_of(0)
    moved_e, moved_w = torch.from_numpy(e.copy()), torch.from_numpy(w.copy())
    gradient_step(moved_e, moved_w, pairs, 1e-3, frozen=20)
    expected_e, expected_w = by_hand(e, w, pairs, 1e-3, frozen=20)
    np.testing.assert_allclose(moved_e.numpy(), expected_e, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(moved_w.numpy(), expected_w, rtol=1e-6, atol=1e-9)


def test_a_pair_never_changes_its_score_by_more_than_one_through_w():
    e, w = torch.full((2, 4), 3.0), torch.zeros((2, 4))
    pairs = Pairs(np.array([0]), np.array([1]), np.array([1], np.int8), np.ones(1, np.float32))
    gradient_step(e, w, pairs, rate=10.0)
    assert float(torch.full((4,), 3.0) @ w[1]) == pytest.approx(1.0)


@pytest.mark.parametrize("n_negatives", [1, 5])
def test_shared_negatives_are_unbiased(n_negatives):
    """The mean coefficient of every negative pair is the one of Algorithm 1: p(i) / n, times (1 - r1) / r1."""
    graph = random_graph(n=12, m=20, seed=4)
    sampler = ContextSampler(graph, Contexts(q=6, d=3), seed=2)
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
    model = SkipGram(ContextSampler(ring, Contexts(d=3)), e, w)
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
    model = SkipGram(ContextSampler(star, Contexts(d=3, self_pairs=True)), e, w, learning_rate=1.0)
    model.train(0, 500, 500)
    assert np.isfinite(e).all()
    assert np.isfinite(w).all()


@pytest.mark.parametrize("dimension", [4, 17, 64])
def test_new_tables_start_with_a_line_of_the_cache(dimension, tmp_path):
    for folder in (None, tmp_path):
        e, w = new_tables(51, dimension, seed=0, directory=folder)
        assert e.ctypes.data % 64 == w.ctypes.data % 64 == 0
        assert e.flags.c_contiguous
        assert e.flags.writeable
        assert e.shape == w.shape == (51, dimension)
        assert not w.any()


def test_memory_mapped_tables(tmp_path):
    mapped, plain = new_tables(60, 24, seed=5, directory=tmp_path), new_tables(60, 24, seed=5)
    for tables in (mapped, plain):
        trainer({}, tables).train(0, 5, 5)
    np.testing.assert_array_equal(mapped[0], plain[0])
    mapped[0].flush()
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), plain[0])


def test_invalid_parameters():
    graph = random_graph()
    sampler = ContextSampler(graph, Contexts())
    e, w = random_tables(60)
    with pytest.raises(ParameterError, match="SkipGram: learning_rate must be a number > 0, got 0"):
        SkipGram(sampler, e, w, learning_rate=0)
    with pytest.raises(ParameterError, match="SkipGram: negatives must be 'shared' or 'own', got 'none'"):
        SkipGram(sampler, e, w, negatives="none")
    with pytest.raises(ParameterError, match="float32"):
        SkipGram(sampler, e.astype(np.float64), w)
    with pytest.raises(ParameterError, match="59 rows"):
        SkipGram(sampler, e[1:], w)
    with pytest.raises(ParameterError, match="SkipGram: n_jobs must be an integer other than 0 or None, got 0"):
        SkipGram(sampler, e, w, n_jobs=0)
