"""Algorithm 1: the sampled p(i, c, gamma) against the exact one, by matrix powers."""

import numpy as np
import pytest
from scipy import sparse, stats

import planetoid as pl
from planetoid.engine import Contexts, ContextSampler, SkipGram
from planetoid.engine.skipgram import new_tables
from planetoid.errors import DataError, ParameterError

N_DRAWS = 120_000
PRINTED = Contexts(r1=5 / 6, r2=1.0, q=10, d=3, self_pairs=True)  # as the paper prints them


def weighted_graph() -> pl.Graph:
    return pl.Graph.from_edges([0, 0, 1, 2, 3, 4, 5], [1, 2, 2, 3, 4, 5, 3], [1.0, 5.0, 0.5, 2.0, 1.0, 4.0, 0.25])


def plain_graph() -> pl.Graph:
    return pl.Graph.from_edges([0, 0, 1, 2, 3, 4, 5], [1, 2, 2, 3, 4, 5, 3])


def directed_with_dead_ends() -> pl.Graph:
    # 3 is a dead end, 4 has no edge at all
    return pl.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 3.0, 1.0, 1.0], nodes=5, directed=True)


def directed_with_an_isolated_node_first() -> pl.Graph:
    return pl.Graph.from_edges([1, 1, 2, 3], [2, 3, 3, 4], [1.0, 3.0, 1.0, 1.0], nodes=5, directed=True)


def exact_walk_pairs(graph: pl.Graph, q: int, d: int, self_pairs: bool) -> np.ndarray:
    """p(i, c) of a positive pair from walks: over walk lengths (dead ends), positions and matrix powers."""
    n = graph.n_nodes
    A = graph.to_scipy().toarray().astype(np.float64)
    out = A.sum(axis=1)
    P = np.divide(A, out[:, None], out=np.zeros_like(A), where=out[:, None] > 0)
    stuck = out == 0
    allowed = np.ones(n, bool) if self_pairs else ~stuck
    start = allowed / allowed.sum()
    powers = [np.linalg.matrix_power(P, k) for k in range(q + 1)]
    joint = np.zeros((n, n))
    for length in range(1, q + 1):
        positions = [(j, k) for j in range(length) for k in range(length) if abs(j - k) < d and (self_pairs or j != k)]
        if not positions:
            continue
        for j, k in positions:
            early, late = min(j, k), max(j, k)
            at_early = start @ powers[early]
            between = at_early[:, None] * powers[late - early]
            # the walk has exactly this length: it got this far, and is full or stuck there
            ends = powers[length - 1 - late] @ (np.ones(n) if length == q else stuck)
            mass = between * ends[None, :]
            joint += (mass if j <= k else mass.T) / len(positions)
    return joint


def exact(graph: pl.Graph, labels: np.ndarray, r1: float, r2: float, q: int, d: int, self_pairs: bool) -> np.ndarray:
    """p(i, c, gamma) as an array of shape (n, n, 2): gamma = +1, then -1."""
    n = graph.n_nodes
    p = np.zeros((n, n, 2))
    walks = exact_walk_pairs(graph, q, d, self_pairs) if r2 > 0 else np.zeros((n, n))
    p[:, :, 0] += r1 * r2 * walks
    p[:, :, 1] += (1 - r1) * r2 * walks.sum(axis=1)[:, None] / n
    known = (labels[:, None] >= 0) & (labels[None, :] >= 0)
    same = known & (labels[:, None] == labels[None, :])
    if not self_pairs:
        same &= ~np.eye(n, dtype=bool)
    other = known & (labels[:, None] != labels[None, :])
    p[:, :, 0] += r1 * (1 - r2) * same / max(1, same.sum())
    p[:, :, 1] += (1 - r1) * (1 - r2) * other / max(1, other.sum())
    return p


def chi_square_p_value(counts: np.ndarray, p: np.ndarray, effective: float) -> float:
    assert p.sum() == pytest.approx(1.0)
    assert counts[p == 0].sum() == 0, "a pair was drawn that has probability 0"
    shares = counts[p > 0] / counts.sum()
    rare = p[p > 0] * effective < 5
    seen = np.append(shares[~rare], shares[rare].sum()) * effective
    expected = np.append(p[p > 0][~rare], p[p > 0][rare].sum()) * effective
    keep = expected > 0
    statistic = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
    return float(stats.chi2.sf(statistic, keep.sum() - 1))


def tabulate(pairs, n: int) -> np.ndarray:
    cell = (pairs.i * n + pairs.c) * 2 + (pairs.gamma < 0)
    return np.bincount(cell, pairs.weight, minlength=2 * n * n).reshape(n, n, 2)


LABELS = np.array([0, 0, 1, -1, 1, 2])


@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("make", [plain_graph, weighted_graph])
@pytest.mark.parametrize("r2", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("r1", [1 / 6, 1 / 2, 5 / 6])
def test_one_pair_per_walk_has_the_exact_distribution(r1, r2, make, self_pairs):
    graph = make()
    sampler = ContextSampler(graph, Contexts(r1=r1, r2=r2, q=5, d=3, self_pairs=self_pairs), LABELS, seed=11)
    p = exact(graph, LABELS, r1, r2, 5, 3, self_pairs)
    assert chi_square_p_value(tabulate(sampler.draw(N_DRAWS), 6), p, N_DRAWS) > 1e-4


@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("make", [plain_graph, weighted_graph])
@pytest.mark.parametrize("r2", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("r1", [1 / 6, 1 / 2, 5 / 6])
def test_all_pairs_of_a_walk_have_the_same_distribution(r1, r2, make, self_pairs):
    graph = make()
    sampler = ContextSampler(graph, Contexts(r1=r1, r2=r2, q=5, d=3, self_pairs=self_pairs), LABELS, seed=5)
    p = exact(graph, LABELS, r1, r2, 5, 3, self_pairs)
    pairs = sampler.draw_walks(N_DRAWS)
    # pairs of one walk are not independent; the number of walks is a safe effective size
    assert chi_square_p_value(tabulate(pairs, 6), p, N_DRAWS) > 1e-4
    assert np.average(pairs.gamma > 0, weights=pairs.weight) == pytest.approx(r1, abs=0.005)


@pytest.mark.parametrize("negatives", ["shared", "own"])
@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("r2", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("r1", [1 / 6, 5 / 6])
def test_batches_of_skip_gram_training_have_the_exact_distribution(r1, r2, self_pairs, negatives):
    """By their weights: the share of label pairs is 1 - r2, and r1 of them, as of all pairs, are positive."""
    graph = weighted_graph()
    sampler = ContextSampler(graph, Contexts(r1=r1, r2=r2, q=5, d=3, self_pairs=self_pairs), LABELS, seed=7)
    trainer = SkipGram(sampler, *new_tables(6, 4, 0), negatives=negatives)
    n_batches = 15_000 // trainer.n_slots
    counts = sum(tabulate(trainer.pairs_of(number), 6) for number in range(n_batches))
    p = exact(graph, LABELS, r1, r2, 5, 3, self_pairs)
    # negatives that a group of walks shares, and contexts that share a label centre, are not independent
    effective = n_batches * trainer.n_slots / trainer.rules.group
    assert chi_square_p_value(counts, p, effective) > 1e-4
    assert counts[:, :, 0].sum() / counts.sum() == pytest.approx(r1, abs=0.02)


@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("make", [directed_with_dead_ends, directed_with_an_isolated_node_first])
@pytest.mark.parametrize("method", ["draw", "draw_walks"])
def test_dead_ends_and_isolated_nodes(method, make, self_pairs):
    graph = make()
    labels = np.array([0, 0, 1, 1, -1])
    sampler = ContextSampler(graph, Contexts(r1=0.6, r2=0.7, q=4, d=3, self_pairs=self_pairs), labels, seed=2)
    p = exact(graph, labels, 0.6, 0.7, 4, 3, self_pairs)
    # weighted pairs of short walks spread more, so the effective size is smaller
    pairs = getattr(sampler, method)(N_DRAWS)
    effective = N_DRAWS if method == "draw" else N_DRAWS / 4
    assert chi_square_p_value(tabulate(pairs, 5), p, effective) > 1e-4


def test_a_wrong_distribution_would_be_detected():
    graph = weighted_graph()
    sampler = ContextSampler(graph, PRINTED.replace(r1=0.5, q=5), LABELS, seed=11)
    unweighted = exact(plain_graph(), LABELS, 0.5, 1.0, 5, 3, True)
    assert chi_square_p_value(tabulate(sampler.draw(N_DRAWS), 6), unweighted, N_DRAWS) < 1e-9


@pytest.mark.parametrize("method", ["draw", "draw_walks"])
def test_any_slice_can_be_drawn_alone(method):
    sampler = ContextSampler(weighted_graph(), PRINTED.replace(r1=0.5, r2=0.5), LABELS, seed=3)
    whole = getattr(sampler, method)(100)
    parts = [getattr(sampler, method)(size, first) for first, size in ((0, 30), (30, 1), (31, 69))]
    for field in whole._fields:
        joined = np.concatenate([getattr(part, field) for part in parts])
        np.testing.assert_array_equal(getattr(whole, field), joined)


def test_seed_decides_the_draws():
    first, again, other = (ContextSampler(plain_graph(), PRINTED, seed=seed).draw(500) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.c, again.c)
    assert (first.c != other.c).any()


@pytest.mark.parametrize("n", [6, 7, 16])
def test_every_node_starts_one_walk_per_pass(n):
    star = pl.Graph.from_edges([0] * (n - 1), range(1, n))
    sampler = ContextSampler(star, Contexts(r1=1.0, q=2, d=2))
    for number in range(3):
        pairs = sampler.draw_walks(n, number * n)
        starts = pairs.i[::2]  # the pair (S_1, S_2) comes before (S_2, S_1)
        assert sorted(starts.tolist()) == list(range(n))


def test_node2vec_ratios():
    # from 1 after 0: back to 0 weighs 1/p, 2 is a neighbour of 0 and weighs 1, 3 is not and weighs 1/q
    graph = pl.Graph.from_edges([0, 0, 1, 1], [1, 2, 2, 3])
    sampler = ContextSampler(graph, Contexts(r1=1.0, q=3, d=3, node2vec_p=4.0, node2vec_q=0.5), seed=1)
    pairs = sampler.draw_walks(200_000)
    first, second, third = pairs.i[::6], pairs.c[::6], pairs.c[1::6]  # (S_1, S_2), (S_1, S_3) come first
    seen = np.bincount(third[(first == 0) & (second == 1)], minlength=4).astype(float)
    expected = np.array([0.25, 0.0, 1.0, 2.0]) / 3.25
    assert chi_square_p_value(seen, expected, seen.sum()) > 1e-4


def test_one_class_only_needs_no_negatives():
    labels = np.array([0, 0, 0, -1, -1, -1])
    pairs = ContextSampler(plain_graph(), PRINTED.replace(r1=1.0, r2=0.0), labels).draw(200)
    assert set(pairs.i.tolist()) == {0, 1, 2}
    with pytest.raises(DataError, match="all labels are the same"):
        ContextSampler(plain_graph(), PRINTED.replace(r1=0.5, r2=0.0), labels)


def test_a_class_of_one_is_never_its_own_context_without_self_pairs():
    labels = np.array([0, 0, 1, -1, -1, -1])
    pairs = ContextSampler(plain_graph(), Contexts(r1=0.5, r2=0.0), labels).draw(2000)
    positive = pairs.gamma > 0
    assert 2 not in pairs.i[positive]
    assert 2 in pairs.i[~positive]
    with pytest.raises(DataError, match="no two labelled nodes"):
        ContextSampler(plain_graph(), Contexts(r2=0.5), np.array([0, 1, 2, -1, -1, -1]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"r1": 0.0}, r"ContextSampler: r1 must be .*, got 0.0"),
        ({"r2": 1.5}, r"ContextSampler: r2 must be .*, got 1.5"),
        ({"q": 0}, r"ContextSampler: q must be .*, got 0"),
        ({"d": 1}, r"ContextSampler: d must be .*, got 1"),
        ({"node2vec_p": 0.0}, r"ContextSampler: node2vec_p must be .*, got 0.0"),
        ({"r2": 0.5}, "there are no labels"),
    ],
)
def test_invalid_parameters(wrong, message):
    with pytest.raises(ParameterError, match=message):
        ContextSampler(plain_graph(), Contexts(**wrong))


def test_auto_draws_one_label_pair_per_ten_walk_pairs_of_a_labelled_node():
    contexts = Contexts(r2="auto")
    assert ContextSampler(plain_graph(), contexts).sampling.r2 == 1.0
    # 5 of 6 nodes are labelled
    assert ContextSampler(plain_graph(), contexts, LABELS).sampling.r2 == pytest.approx(1 - 0.1 * 5 / 6)


def test_labels_must_cover_all_nodes():
    with pytest.raises(DataError, match="5 labels for 6 nodes"):
        ContextSampler(plain_graph(), Contexts(r2=0.5), LABELS[1:])


def test_a_graph_without_edges_yields_no_pairs_of_two_nodes():
    with pytest.raises(DataError, match="no edges"):
        ContextSampler(pl.Graph.from_edges([], [], nodes=3), Contexts())


@pytest.mark.parametrize("as_training", [False, True])
def test_several_labels_per_node(as_training):
    """Positive pairs share a label, in proportion to how many they share; negative ones share none."""
    Y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    graph = plain_graph()
    sampler = ContextSampler(graph, Contexts(r1=0.5, r2=0.0), sparse.csr_array(Y), seed=3)
    pairs = sampler.draw_walks(1500) if as_training else sampler.draw(30_000)
    shared = Y.astype(int) @ Y.T.astype(int)
    np.fill_diagonal(shared, 0)
    positive = pairs.gamma > 0
    assert (shared[pairs.i[positive], pairs.c[positive]] > 0).all()
    share_none = (Y.astype(int) @ Y.T.astype(int)) == 0
    assert share_none[pairs.i[~positive], pairs.c[~positive]].all()
    assert (pairs.c[~positive] < 5).all()  # the last node has no label
    counts = np.zeros((6, 6))
    np.add.at(counts, (pairs.i[positive], pairs.c[positive]), 1)
    expected = counts.sum() * shared / shared.sum()
    inside = shared > 0
    assert stats.chisquare(counts[inside], expected[inside]).pvalue > 1e-4
