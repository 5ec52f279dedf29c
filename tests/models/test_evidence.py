"""Views of the data: their classifiers, and which of them is found reliable."""

import numpy as np
import pytest
from scipy import sparse

from planetoid.graph.adjacency import Filter, normalized_adjacency
from planetoid.models.evidence import (
    CHANCE,
    LABELS_THAT_COUNT,
    LEAST_WEIGHT,
    NOISES,
    OWN_SHARE,
    SECOND_CONFIDENCE,
    SECOND_POWER,
    SPREAD_RESTART,
    SPREAD_STEPS,
    STEPS,
    VIEWS,
    Evidence,
    FeatureView,
    GraphView,
    Verdict,
    View,
    _agreement,
    _in_doubt,
    _most_reliable,
    ask_views,
    kappa,
    sharpened,
)


def blocks(n=240, n_classes=3, *, within=0.1, between=0.005, informative=True, seed=0):
    """Return a graph of communities, features with words of the class, and the classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    same = truth[:, None] == truth[None]
    dense = np.triu(rng.random((n, n)) < np.where(same, within, between), 1)
    adjacency = sparse.csr_array((dense + dense.T).astype(np.float32))
    topics = truth if informative else rng.permutation(truth)
    words = rng.random((n, 60)) < np.where((np.arange(60) % n_classes)[None] == topics[:, None], 0.35, 0.15)
    X = words / np.sqrt(np.maximum(words.sum(axis=1, keepdims=True), 1))
    return sparse.csr_array(X, dtype=np.float32), adjacency, truth


def labelled_of(truth, per_class):
    return np.sort(np.concatenate([np.flatnonzero(truth == k)[:per_class] for k in np.unique(truth)]))


def asked(X, adjacency, truth, per_class, names=VIEWS):
    labelled = labelled_of(truth, per_class)
    teacher = ask_views(Evidence(X, adjacency), labelled, truth[labelled], 3, names=names)
    others = np.setdiff1d(np.arange(len(truth)), labelled)
    return teacher, (teacher.probabilities.argmax(axis=1) == truth)[others].mean()


def test_features_and_a_graph_that_fit_together_make_the_neighbourhood():
    teacher, accuracy = asked(*blocks(within=0.04), per_class=5)
    assert teacher.view == "neighbourhood"
    assert accuracy > 0.9


def test_where_edges_mean_nothing_the_features_are_trusted():
    X, _, truth = blocks()
    _, adjacency, _ = blocks(within=0.02, between=0.02, seed=1)
    teacher, accuracy = asked(X, adjacency, truth, per_class=10)
    assert teacher.view == "features"
    assert accuracy > asked(X, adjacency, truth, 10, names=["neighbourhood"])[1] + 0.1


@pytest.mark.parametrize("per_class", [1, 5])
def test_where_features_mean_nothing_the_graph_is_trusted(per_class):
    teacher, accuracy = asked(*blocks(informative=False), per_class=per_class)
    assert teacher.view == "graph"
    assert accuracy > 0.9
    assert teacher.verdicts["graph"].agreement > 0.5 > abs(teacher.verdicts["features"].agreement)


def test_one_kind_of_evidence_leaves_no_choice():
    X, adjacency, truth = blocks()
    assert asked(X, None, truth, 5)[0].view == "features"
    assert asked(None, adjacency, truth, 5)[0].view == "graph"
    assert asked(X, None, truth, 5)[0].verdicts == {}


def dense_kernel(X, adjacency):
    """Return the kernel of the neighbourhood as a dense matrix."""
    filter_ = Filter(normalized_adjacency(adjacency), "ssgc", STEPS, OWN_SHARE)
    rows = filter_(X.toarray()).astype(np.float64)
    rows -= rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def test_the_kernel_of_the_neighbourhood_by_hand():
    X, adjacency, truth = blocks(n=60)
    labelled = labelled_of(truth, 4)
    filter_ = Filter(normalized_adjacency(adjacency), "ssgc", STEPS, OWN_SHARE)
    view = FeatureView(X, filter_, labelled, np.random.default_rng(0))
    kernel = dense_kernel(X, adjacency)
    np.testing.assert_allclose(view.gram, kernel[np.ix_(labelled, labelled)], atol=1e-5)
    dual = np.random.default_rng(1).normal(size=(len(labelled), 3))
    expected, found = kernel[:, labelled] @ dual, view.scores(dual)
    np.testing.assert_allclose(found[labelled], expected[labelled], atol=1e-4)
    cosine = (found * expected).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(cosine, 1, atol=1e-4)  # lengths are estimates, which scale a row


def test_the_kernel_of_the_graph_by_hand():
    _, adjacency, truth = blocks(n=60)
    labelled = labelled_of(truth, 4)
    steps = normalized_adjacency(adjacency).toarray().astype(np.float64)
    kernel = sum(np.linalg.matrix_power((1 - SPREAD_RESTART) * steps, k) for k in range(SPREAD_STEPS + 1))
    kernel = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    view = GraphView(adjacency, labelled)
    np.testing.assert_allclose(view.gram, kernel[np.ix_(labelled, labelled)], rtol=1e-4, atol=1e-4)
    dual = np.random.default_rng(1).normal(size=(len(labelled), 3))
    np.testing.assert_allclose(view.scores(dual), kernel[:, labelled] @ dual, rtol=1e-3, atol=1e-3)


def test_leaving_one_out_is_fitting_without_it():
    X, _, truth = blocks(n=90)
    labelled = labelled_of(truth, 5)
    view = FeatureView(X, None, labelled, np.random.default_rng(0))
    targets = np.eye(3)[truth[labelled]]
    fit = view.regression(targets)
    for left_out in range(len(labelled)):
        kept = np.arange(len(labelled)) != left_out
        gram = view.gram[np.ix_(kept, kept)] + fit.noise * np.diag(view.gram).mean() * np.eye(kept.sum())
        centred = targets[kept] - targets[kept].mean(axis=0)
        expected = view.gram[left_out, kept] @ np.linalg.solve(gram, centred)
        np.testing.assert_allclose(fit.left_out[left_out], expected, atol=1e-8)


def test_halves_have_every_edge_and_column_once():
    X, adjacency, _ = blocks(n=60)
    one, two = Evidence(X, adjacency).halves(np.random.default_rng(0))
    np.testing.assert_array_equal((one.adjacency + two.adjacency).toarray(), adjacency.toarray())
    assert one.adjacency.nnz + two.adjacency.nnz == adjacency.nnz
    assert one.X.shape[1] == two.X.shape[1] == 30
    together = sparse.hstack([one.X, two.X]).toarray()
    assert sorted(together.sum(axis=0).round(5)) == sorted(X.toarray().sum(axis=0).round(5))


def test_sharpening_keeps_the_order_and_meets_the_confidence():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), 50).astype(np.float32)
    for confidence in (0.4, 0.7, 0.95):
        found = sharpened(probabilities, confidence)
        assert found.max(axis=1).mean() == pytest.approx(confidence, abs=0.01)
        np.testing.assert_array_equal(found.argmax(axis=1), probabilities.argmax(axis=1))


def test_agreement_is_cohenskappa():
    one, other = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])
    chance = (3 * 3 + 2 * 3 + 1 * 0) / 36
    assert kappa(one, other, 3) == pytest.approx((4 / 6 - chance) / (1 - chance))
    assert kappa(one, one, 3) == pytest.approx(1.0)
    assert kappa(one[:0], one[:0], 3) == 0.0


def test_reliability_is_agreement_and_leave_one_out_together():
    X, adjacency, truth = blocks()
    teacher, _ = asked(X, adjacency, truth, 5)
    assert set(teacher.verdicts) == set(VIEWS)
    for verdict in teacher.verdicts.values():
        expected = verdict.agreement + verdict.leave_one_out * 15 / LABELS_THAT_COUNT
        assert verdict.reliability == pytest.approx(expected)


def test_second_opinions_count_by_their_reliability():
    X, adjacency, truth = blocks()
    teacher, _ = asked(X, adjacency, truth, 5)
    labelled = labelled_of(truth, 5)
    others = np.zeros_like(teacher.probabilities)
    for name, verdict in teacher.verdicts.items():
        best = teacher.verdicts[teacher.view].reliability
        weight = ((verdict.reliability + CHANCE) / (best + CHANCE)) ** SECOND_POWER
        if name != teacher.view and weight > LEAST_WEIGHT:
            alone = ask_views(Evidence(X, adjacency), labelled, truth[labelled], 3, names=[name])
            others += weight * np.log(np.maximum(sharpened(alone.probabilities, SECOND_CONFIDENCE), 1e-6))
            assert not alone.second_opinions.any()
    assert others.any()
    np.testing.assert_allclose(teacher.second_opinions, others, atol=0.1)  # lengths are estimated by other projections


class OfGram(View):
    """A view of labelled nodes alone."""

    def __init__(self, gram):
        self.gram = gram

    def scores(self, dual):
        return self.gram @ dual

    def classify(self, codes, n_classes, fit):
        raise NotImplementedError


def left_out_accuracy(gram, targets, noise):
    """Accuracy on each node by a regression on the others, in the usual way."""
    codes, right = targets.argmax(axis=1), []
    for node in range(len(targets)):
        kept = np.arange(len(targets)) != node
        ridge = gram[np.ix_(kept, kept)] + noise * np.diag(gram).mean() * np.eye(kept.sum())
        scores = gram[node, kept] @ np.linalg.solve(ridge, targets[kept] - targets[kept].mean(axis=0))
        right.append(scores.argmax() == codes[node])
    return np.mean(right)


def test_the_usual_noise_is_kept_unless_another_is_better_by_more_than_a_standard_error():
    chosen = set()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = np.arange(30) % 3
        rows = rng.normal(size=(30, 40)) + 0.8 * rng.normal(size=(3, 40))[codes]
        gram, targets = rows @ rows.T, np.eye(3)[codes]
        accuracies = [left_out_accuracy(gram, targets, noise) for noise in NOISES]
        best = max(accuracies)
        error = np.sqrt(best * (1 - best) / 30)
        expected = next(noise for noise, found in zip(NOISES, accuracies, strict=True) if found >= best - error)
        fit = OfGram(gram).regression(targets)
        assert fit.noise == expected
        assert fit.accuracy == pytest.approx(accuracies[NOISES.index(expected)])
        chosen.add(expected)
    assert NOISES[0] in chosen


def test_label_propagation_counts_as_far_as_it_labels_hidden_nodes_as_well_as_the_regression(monkeypatch):
    ring = sparse.csr_array(np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1), dtype=np.float32)
    labelled, codes = np.array([0, 2, 6, 8]), np.array([0, 0, 1, 1])  # hidden: 2 and 8
    view = GraphView(ring, labelled)
    seen = []

    def propagated(codes, n_classes, hidden=None):
        seen.append(hidden)
        return np.eye(2)[[0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]]  # node 2 wrong, node 8 correct

    monkeypatch.setattr(view, "_propagated", propagated)
    assert view._share_of_propagation(codes, 2, 1.0) == pytest.approx(0.5 * ((1 + 10) / (2 + 10)) ** SECOND_POWER)
    assert seen[0].tolist() == [False, True, False, True]
    assert view._share_of_propagation(np.array([0, 1, 2, 3]), 4, 1.0) == 0.5  # no class has a label to hide


def test_many_classes_with_few_labels_are_told_apart():
    """A penalty that suits few classes would leave the largest ones only."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(40), 10)
    centres = rng.normal(size=(40, 20))
    X = (centres[truth] + 0.3 * rng.normal(size=(400, 20))).astype(np.float32)
    labelled = np.arange(0, 400, 10)
    labelled = np.concatenate([labelled, np.arange(1, 100, 10), np.arange(2, 100, 10)])
    view = FeatureView(X, None, labelled, rng)
    targets = np.eye(40)[truth[labelled]]
    found = view.classify(truth[labelled], 40, view.regression(targets)).argmax(axis=1)
    assert (found == truth).mean() > 0.9


def test_agreement_is_the_mean_over_groups_of_nodes():
    one, other = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 1, 1, 1, 0])
    every, some = np.ones(6, bool), np.arange(6) < 4
    expected = (kappa(one, other, 2) + kappa(one[:4], other[:4], 2)) / 2
    assert _agreement(one, other, (every, some), 2) == pytest.approx(expected)
    assert _agreement(one, other, (every, ~every), 2) == pytest.approx(kappa(one, other, 2))  # an empty group


def test_nodes_that_labels_reach():
    edges = sparse.csr_array(([1.0, 1.0], ([0, 3], [1, 4])), shape=(6, 6))
    evidence = Evidence(None, sparse.csr_array(edges + edges.T))
    assert evidence.reached(np.array([1, 5])).tolist() == [True, True, False, False, False, True]


def test_a_graph_that_is_as_reliable_is_taken():
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.2, "graph": 0.29}, "graph") == "graph"
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.29, "graph": 0.2}, "graph") == "features"
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.29, "graph": 0.3}, "neighbourhood") == "neighbourhood"
    assert _most_reliable({"features": 0.3}, "graph") == "features"


def test_views_that_are_no_better_than_chance_leave_the_choice():
    assert _most_reliable({"features": 0.05, "neighbourhood": 0.0, "graph": 0.01}, "graph") == "graph"
    assert _most_reliable({"features": 0.09, "neighbourhood": 0.0, "graph": 0.01}, "graph") == "features"


def test_in_doubt_features_that_say_something_are_used():
    adjacency = sparse.csr_array((100, 100))
    evidence = Evidence(np.ones((100, 2)), adjacency)
    verdicts = {"features": Verdict(0.1, 0.0, 0.1), "graph": Verdict(0.3, 0.0, 0.3)}
    assert _in_doubt(evidence, verdicts) == "neighbourhood"
    assert _in_doubt(evidence, verdicts | {"features": Verdict(0.04, 0.9, 2.0)}) == "graph"
    assert _in_doubt(Evidence(None, adjacency), {}) == "graph"
    assert _in_doubt(Evidence(None, adjacency[:10, :10]), {}) == "neighbourhood"  # an embedding of ten nodes
