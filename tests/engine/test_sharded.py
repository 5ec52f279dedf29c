"""Skip-gram on tables divided by columns: any number of processes gives the same bits, and they are right."""

import numpy as np
import pytest
from tests.distributed.in_threads import run_together
from tests.engine.test_skipgram import labels_of, random_graph, random_tables

from planetoid.engine import Contexts, ContextSampler, SkipGram
from planetoid.engine.sharded import ShardedSkipGram
from planetoid.engine.sharded_steps import draw_batch
from planetoid.engine.shards import ColumnShard, OneProcess, by_columns
from planetoid.engine.skipgram import new_tables
from planetoid.errors import ParameterError

N = 60
CASES = [
    {},
    {"negatives": "own"},
    {"r2": 0.5},
    {"r2": 0.5, "negatives": "own", "self_pairs": True},
    {"weighted": True, "node2vec_p": 0.5},
    {"directed": True, "self_pairs": True},
    {"r1": 1.0},
]


def sampler_of(case):
    case = dict(case)
    graph = random_graph(N, weighted=case.pop("weighted", False), directed=case.pop("directed", False))
    case.pop("negatives", None)
    contexts = Contexts(**{"r2": 1.0, "q": 5, **case})
    return ContextSampler(graph, contexts, labels_of(N) if contexts.r2 < 1 else None, seed=7)


def trained(case, dimension, size, pieces=((0, 12),)):
    """Return both tables, put together, and the losses that each process has seen."""
    sampler, tables = sampler_of(case), random_tables(N, dimension)

    def work(exchange):
        shard = ColumnShard(dimension, exchange)
        e, w = (np.ascontiguousarray(table[:, shard.columns]) for table in tables)
        skipgram = ShardedSkipGram(
            sampler, e, w, shard, learning_rate=0.1, negatives=case.get("negatives", "shared")
        )  # fmt: skip
        return e, w, [skipgram.train(first, last, 12) for first, last in pieces]

    parts = run_together(size, work)
    assert all(part[2] == parts[0][2] for part in parts)
    return *(np.concatenate([part[k] for part in parts], axis=1) for k in (0, 1)), parts[0][2]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_any_number_of_processes_gives_the_same_bits(case):
    e, w, losses = trained(case, 100, 1)
    for size in (2, 3, 4):
        others = trained(case, 100, size)
        np.testing.assert_array_equal(others[0], e)
        np.testing.assert_array_equal(others[1], w)
        assert others[2] == losses


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_batch_of_one_group_is_the_step_of_the_engine_of_one_process(case, monkeypatch):
    """In one group there is nothing that later groups could see earlier, so both take the same gradient step."""
    for cls in (SkipGram, ShardedSkipGram):
        monkeypatch.setattr(cls, "most_slots", 1)
    e, w, losses = trained(case, 40, 1)
    tables = random_tables(N, 40)
    own = SkipGram(sampler_of(case), *tables, learning_rate=0.1, negatives=case.get("negatives", "shared"))
    assert own.rules.group == 1
    assert losses == [pytest.approx(own.train(0, 12, 12), rel=1e-4)]
    assert np.abs(e - random_tables(N, 40)[0]).max() > 0.05
    np.testing.assert_allclose(e, tables[0], atol=2e-5)
    np.testing.assert_allclose(w, tables[1], atol=2e-5)


def test_training_in_pieces_gives_the_same_bits():
    e, w, _ = trained({}, 32, 2)
    pieces = trained({}, 32, 2, pieces=((0, 1), (1, 7), (7, 12)))
    np.testing.assert_array_equal(pieces[0], e)
    np.testing.assert_array_equal(pieces[1], w)


def test_one_number_per_pair_is_exchanged():
    sampler = sampler_of({})

    def work(exchange):
        shard = ColumnShard(64, exchange)
        skipgram = ShardedSkipGram(sampler, *new_tables(N, 64, 0, columns=shard.columns), shard)
        skipgram.train(3, 4, 12)
        return exchange.n_summed, len(skipgram.pairs_of(3).i), skipgram.n_slots * 5

    for summed, n_pairs, n_centres in run_together(2, work):
        assert summed == n_pairs + n_centres  # and the length of each centre


def test_columns_come_in_blocks_of_16():
    def columns(exchange):
        return ColumnShard(100, exchange).columns

    assert run_together(3, columns) == [slice(0, 32), slice(32, 64), slice(64, 100)]
    with pytest.raises(ParameterError, match=r"4 processes divide at least 49 columns .*, but dimension is 48"):
        run_together(4, lambda exchange: ColumnShard(48, exchange))


def test_processes_put_their_columns_together():
    table = np.random.default_rng(0).standard_normal((70_000, 40)).astype(np.float32)
    table[3] = -0.0

    def work(exchange):
        shard, mine = ColumnShard(40, exchange, block=8), np.zeros_like(table)
        mine[:, shard.columns] = own = table[:, shard.columns]
        shard.complete(mine)
        return mine, shard.gathered(own)

    for both in run_together(3, work):
        for found in both:
            np.testing.assert_array_equal(found.view(np.int32), table.view(np.int32))


def test_columns_that_do_not_depend_on_each_other_are_divided():
    values = np.arange(50, dtype=np.float32).reshape(5, 10)

    def work(exchange):
        widths = []

        def squares(some):
            widths.append(some.shape[1])
            return some[1:] ** 2

        narrow = by_columns(squares, values[:, :2])
        return by_columns(squares, values), narrow, widths

    for rank, (whole, narrow, widths) in enumerate(run_together(3, work)):
        np.testing.assert_array_equal(whole, values[1:] ** 2)
        np.testing.assert_array_equal(narrow, values[1:, :2] ** 2)
        assert widths == [2, (3, 3, 4)[rank]]  # two columns are too few for three processes


def test_new_tables_have_the_columns_of_the_whole_ones():
    whole = new_tables(70_000, 40, 5)[0]
    np.testing.assert_array_equal(new_tables(70_000, 40, 5, columns=slice(16, 40))[0], whole[:, 16:40])


def test_a_checkpoint_has_blocks_of_columns_whoever_has_them():
    table = np.arange(80, dtype=np.float32).reshape(2, 40)
    whole = ColumnShard(40, OneProcess()).split("e", table)
    assert list(whole) == ["e.columns000000", "e.columns000016", "e.columns000032"]
    parts = run_together(2, lambda exchange: (shard := ColumnShard(40, exchange)).split("e", table[:, shard.columns]))
    for name, block in (parts[0] | parts[1]).items():
        np.testing.assert_array_equal(block, whole[name])


@pytest.mark.parametrize("case", [{}, {"negatives": "own"}, {"r2": 0.5}, {"self_pairs": True, "d": 3}], ids=str)
def test_groups_of_walks_change_the_tables_one_after_the_other(case):
    """The rule in plain NumPy: coefficients by the tables before the batch, then group by group."""
    sampler, tables = sampler_of(case), random_tables(N, 32)
    e, w = (table.astype(float) for table in tables)
    shard = ColumnShard(32, OneProcess())
    negatives = case.get("negatives", "shared")
    skipgram = ShardedSkipGram(sampler, *tables, shard, learning_rate=0.1, negatives=negatives)
    rules, r1 = skipgram.rules, sampler.sampling.r1
    assert rules.group > 1
    assert skipgram.n_slots > rules.group
    draw_batch(5, sampler.sampling, rules, skipgram.batch)
    batch, rate = skipgram.batch, 0.1 + (0.001 - 0.1) * 5 / 12
    groups = [{} for _ in range(skipgram.n_slots // rules.group)]
    for b in range(skipgram.n_slots):
        pull = rate * rules.full_walk / batch.n_pairs[b]
        for j in range(batch.lengths[b]):
            n_positive, i = batch.n_positive[b, j], batch.paths[b, j]
            n_negative = rules.n_shared + rules.n_own
            count = n_positive + n_negative if batch.is_walk[b] else rules.n_label
            push = pull * n_positive * (1 - r1) / (r1 * n_negative) if batch.is_walk[b] else pull
            contexts = batch.contexts[b, j, :count].copy()
            p = 1 / (1 + np.exp(-(w[contexts] @ e[i])))
            positive = np.arange(count) < n_positive
            step = np.minimum(np.where(positive, pull * (1 - p), push * p), 1 / (e[i] @ e[i]))
            groups[b // rules.group][b, j] = i, contexts, np.where(positive, step, -step)
    for group in groups:
        gradients = [(i, coefficients @ w[contexts]) for i, contexts, coefficients in group.values()]
        for i, contexts, coefficients in group.values():
            np.add.at(w, contexts, coefficients[:, None] * e[i])
        for i, gradient in gradients:
            e[i] += gradient
    skipgram.train(5, 6, 12)
    np.testing.assert_allclose(skipgram.e, e, atol=2e-5)
    np.testing.assert_allclose(skipgram.w, w, atol=2e-5)


def test_single_pairs_are_left_to_one_process():
    sampler = sampler_of({"single_pairs": True})
    with pytest.raises(ParameterError, match="single pairs are trained on by one process"):
        ShardedSkipGram(sampler, *random_tables(N, 16), ColumnShard(16, OneProcess()))
