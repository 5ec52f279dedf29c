"""Sampled contexts: weights, determinism, and their mean over many samples."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.engine import filters
from planetoid.engine.alias import alias_tables
from planetoid.engine.arrays import GraphArrays
from planetoid.engine.compiling import entry
from planetoid.engine.neighbourhoods import Walks, draw_visits, expected_contexts, new_visits


@entry
def draw(index, nodes, walks, visits):
    return draw_visits(index, nodes, walks, visits)


def matrix(weighted=False, n=12, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) < 0.25, 1) * (rng.random((n, n)) + 0.1 if weighted else 1.0)
    dense[n - 1] = dense[:, n - 1] = 0  # a node without edges
    return sparse.csr_array((dense + dense.T).astype(np.float32))


def walks_on(adjacency, *, per_sample=4, length=5, restart=0.3, seed=0):
    accept, alias = np.empty(0, np.float32), np.empty(0, np.int32)
    if (adjacency.data != 1).any():
        accept, alias = alias_tables(adjacency.indptr, adjacency.data)
    importance = (1 / (1 + np.diff(adjacency.indptr))).astype(np.float32)
    graph = GraphArrays(adjacency.indptr, adjacency.indices, accept, alias)
    log_continue = np.log1p(-restart) if restart < 1 else -np.inf
    return Walks(np.uint64(seed), graph, importance, per_sample, length, float(log_continue))


def sampled(walks, nodes, values, index=0):
    """Return the weighted mean of ``values`` over the sampled contexts of each node."""
    nodes = np.asarray(nodes, np.int32)
    visits = new_visits(len(values), len(nodes), walks)
    n_slots = draw(index, nodes, walks, visits)
    assert (visits.slot_of == -1).all()
    assert len(set(visits.contexts[:n_slots].tolist())) == n_slots
    out = np.zeros((len(nodes), values.shape[1]))
    for b in range(len(nodes)):
        part = slice(visits.first[b], visits.first[b + 1])
        assert visits.weight[part].sum() == pytest.approx(1, abs=1e-5)
        out[b] = visits.weight[part] @ values[visits.contexts[visits.slot[part]]]
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_of_many_samples_is_the_expectation(weighted):
    adjacency = matrix(weighted)
    values = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
    walks = walks_on(adjacency, per_sample=20_000)  # one sample of many walks: the ratio of sums has no bias
    found = sampled(walks, range(12), values)
    expected = expected_contexts(adjacency, walks.importance, 0.3, 5, values)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert np.abs(expected - values).max() > 0.3  # the neighbourhood matters


def test_a_node_without_edges_and_walks_that_restart_at_once_see_themselves():
    adjacency = matrix()
    values = np.eye(12, dtype=np.float32)
    np.testing.assert_allclose(sampled(walks_on(adjacency), [11], values), values[[11]])
    np.testing.assert_allclose(sampled(walks_on(adjacency, restart=1.0), range(12), values), values)
    np.testing.assert_allclose(expected_contexts(adjacency, np.ones(12, np.float32), 1.0, 5, values), values)


def test_without_restart_every_walk_has_the_full_length():
    walks = walks_on(sparse.csr_array(np.array([[0, 1], [1, 0]], np.float32)), per_sample=1, length=5, restart=0.0)
    visits = new_visits(2, 1, walks)
    draw(0, np.zeros(1, np.int32), walks, visits)
    assert visits.first[1] == 6


def test_a_sample_depends_on_its_number_alone():
    walks, values = walks_on(matrix()), np.eye(12, dtype=np.float32)
    whole = sampled(walks, [3, 4, 5, 6], values)
    np.testing.assert_array_equal(sampled(walks, [5, 6], values, index=2), whole[2:])
    assert not np.array_equal(sampled(walks, [5, 6], values, index=0), whole[2:])
    assert not np.array_equal(sampled(walks_on(matrix(), seed=1), [3, 4, 5, 6], values), whole)


def test_expected_contexts_in_blocks_of_columns_have_the_same_bits(monkeypatch):
    random = np.random.default_rng(0)
    adjacency = sparse.random_array((60, 60), density=0.1, rng=random, format="csr", dtype=np.float32)
    values, importance = random.random((60, 10), dtype=np.float32), random.random(60, dtype=np.float32)
    whole = expected_contexts(adjacency, importance, 0.2, 5, values)
    monkeypatch.setattr(filters, "MOST_ENTRIES", 4 * 60)
    assert np.array_equal(expected_contexts(adjacency, importance, 0.2, 5, values, n_threads=2), whole)
