"""One primitive draws each thing; lists of pairs and batches of training, which call it, agree with it."""

import numpy as np
import pytest
from numba import njit

import planetoid as pl
from planetoid.engine import Contexts, ContextSampler, SkipGram, draws, generator
from planetoid.engine.arrays import NodeLabels
from planetoid.engine.skipgram import new_tables

SEED = 5


@njit
def walk(sampling, index, path):
    key = generator.key_of(sampling.seed, generator.WALKS, index)
    start = draws.start_of_walk(sampling.seed, index, sampling.starts)
    return draws.walk(path, key, start, sampling.graph, sampling.node2vec)


@njit
def negative(sampling, stream, index, counter):
    return draws.negative(generator.key_of(sampling.seed, stream, index), counter, sampling.n_nodes)


@njit
def number_of_pair(sampling, index, count):
    key = generator.key_of(sampling.seed, generator.WALKS, index)
    return generator.below(key, generator.KIND + 2, count)


@njit
def label_pair(sampling, index, counter, gamma):
    """Centre and context by three counters."""
    key = generator.key_of(sampling.seed, generator.LABEL_PAIRS, index)
    return draws.label_pair(key, counter, gamma, sampling.labels, sampling.self_pairs)


@njit
def pair_count(length, d, self_pairs):
    return draws.pairs_in_walk(length, d, self_pairs)


@njit
def pair_number(number, length, d, self_pairs):
    return draws.nth_pair(number, length, d, self_pairs)


def sampler(weighted=False, directed=False, **contexts):
    rng = np.random.default_rng(0)
    weight = rng.random(150) + 0.1 if weighted else None
    graph = pl.Graph.from_edges(*rng.integers(0, 55, (2, 150)), weight, nodes=60, directed=directed)  # 5 are isolated
    labels = np.where(rng.random(60) < 0.4, np.arange(60) % 3, -1)
    return ContextSampler(graph, Contexts(**{"r2": 1.0, "q": 7, "d": 3} | contexts), labels, seed=SEED)


def path_of(drawn, index):
    path = np.zeros(drawn.contexts.q, np.int32)
    return path[: walk(drawn.sampling, index, path)]


def pairs_of_path(path, d, self_pairs):
    n = range(len(path))
    return [(path[j], path[k]) for j in n for k in n if abs(j - k) < d and (self_pairs or j != k)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighted": True, "directed": True},
        {"directed": True, "self_pairs": True},
        {"node2vec_p": 0.3, "self_pairs": True},
    ],
)
def test_all_users_draw_the_same_walks(options):
    drawn = sampler(**options)
    trainer = SkipGram(drawn, *new_tables(60, 4, 0))
    d, self_pairs = drawn.contexts.d, drawn.contexts.self_pairs
    for batch in range(3):
        of_batch = trainer.pairs_of(batch)
        first = batch * trainer.n_slots
        expected = []
        for index in range(first, first + trainer.n_slots):
            path = path_of(drawn, index)
            pairs = pairs_of_path(path, d, self_pairs)
            expected += pairs
            every = drawn.draw_walks(1, index)
            positive = every.gamma > 0
            assert list(zip(every.i[positive], every.c[positive], strict=True)) == pairs
            one, pair = drawn.draw(1, index), pairs[number_of_pair(drawn.sampling, index, len(pairs))]
            assert one.i[0] == pair[0]
            assert one.c[0] == pair[1] or one.gamma[0] < 0
        positive = of_batch.gamma > 0
        assert list(zip(of_batch.i[positive], of_batch.c[positive], strict=True)) == expected


@pytest.mark.parametrize("r2", [0.7, 1.0])
def test_walks_side_by_side_are_those_one_by_one(r2):
    drawn = sampler(r1=0.6, r2=r2, self_pairs=True)
    together = drawn.draw(2 * 32 + 5, 3)  # blocks of 32, and a part of one
    for number in range(len(together.i)):
        alone = drawn.draw(1, 3 + number)
        assert [part[number] for part in together] == [part[0] for part in alone]


def test_all_users_draw_negatives_by_the_same_primitive():
    drawn = sampler(r1=1 / 3)
    contexts = drawn.contexts

    def by_primitive(stream, index, counters):
        return [negative(drawn.sampling, stream, index, counter) for counter in counters]

    for way in ("shared", "own"):
        trainer = SkipGram(drawn, *new_tables(60, 4, 0), negatives=way, n_negatives=3)
        group, found = trainer.rules.group, trainer.pairs_of(2)
        first = 2 * trainer.n_slots
        expected = []
        for index in range(first, first + trainer.n_slots):
            stream, number = (
                (generator.SHARED_NEGATIVES, index // group) if way == "shared" else (generator.NEGATIVES, index)
            )
            expected += by_primitive(stream, number, range(3 * len(path_of(drawn, index))))
        assert found.c[found.gamma < 0].tolist() == expected
    # every positive pair takes one counter to decide on the number of its negatives, and one for each of them
    pairs = drawn.draw_walks(1, 9)
    counters = np.flatnonzero(pairs.gamma < 0)
    assert len(counters) == 2 * (pairs.gamma > 0).sum()
    assert pairs.c[counters].tolist() == by_primitive(generator.NEGATIVES, 9, counters)
    indices = [index for index in range(100) if drawn.draw(1, index).gamma[0] < 0]
    expected = [negative(drawn.sampling, generator.WALKS, index, generator.KIND + 3) for index in indices]
    assert [drawn.draw(1, index).c[0] for index in indices] == expected
    assert contexts.r1 == 1 / 3


@pytest.mark.parametrize("self_pairs", [True, False])
def test_all_users_draw_label_pairs_by_the_same_primitive(self_pairs):
    drawn = sampler(r1=0.5, r2=0.0, self_pairs=self_pairs)
    trainer = SkipGram(drawn, *new_tables(60, 4, 0))
    n_label, q = trainer.rules.n_label, drawn.contexts.q
    for index in range(40):
        one = drawn.draw(1, index)
        assert (one.i[0], one.c[0]) == label_pair(drawn.sampling, index, 0, one.gamma[0])
        every = drawn.draw_walks(1, index)
        for number, pair in enumerate(zip(every.i, every.c, strict=True)):
            assert pair == label_pair(drawn.sampling, index, 4 * number + 2, every.gamma[number])
    of_batch = trainer.pairs_of(1)
    firsts = range(0, len(of_batch.i), n_label)
    assert len(firsts) == trainer.n_slots * q
    for number, first in enumerate(firsts):
        index, j = trainer.n_slots + number // q, number % q
        expected = label_pair(drawn.sampling, index, j * (n_label + 4) + 1, of_batch.gamma[first])
        assert (of_batch.i[first], of_batch.c[first]) == expected


@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("d", [1, 2, 3, 9])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_pairs_of_a_walk_are_counted_and_numbered(length, d, self_pairs):
    expected = pairs_of_path(range(length), d, self_pairs)
    assert pair_count(length, d, self_pairs) == len(expected)
    assert [pair_number(number, length, d, self_pairs) for number in range(len(expected))] == expected


@pytest.mark.parametrize(
    ("classes", "share"), [([[0, 2], [1, 2]], True), ([[1, 2], [0, 2]], True), ([[0, 3], [1, 2]], False)]
)
def test_nodes_share_a_label_if_any_class_is_the_same(classes, share):
    start = np.array([0, 2, 4])
    labels = NodeLabels(start, np.concatenate(classes).astype(np.int64))
    compare = njit(lambda one, other, known: draws.share_a_label(one, other, known))
    assert compare(0, 1, labels) == share
