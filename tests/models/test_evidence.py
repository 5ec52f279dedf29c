"""Which view of the data is found reliable."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from tests.models.communities import blocks, labelled_of, mixed_groups

from planetoid.models import evidence
from planetoid.models.evidence import (
    CHANCE,
    LABELS_THAT_COUNT,
    LEAST_WEIGHT,
    MOST_IN_HALVES,
    SECOND_CONFIDENCE,
    Evidence,
    _agreement,
    _hops_are_better,
    _in_doubt,
    _most_reliable,
    _second_weight,
    ask_views,
)
from planetoid.models.node_contexts import USUAL_RESTART
from planetoid.models.opinions import FEW_LABELS, SECOND_POWER, kappa, sharpened
from planetoid.models.teacher import Verdict
from planetoid.models.views import VIEWS, Regression


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


def test_halves_have_every_edge_and_column_once():
    X, adjacency, _ = blocks(n=60)
    one, two = Evidence(X, adjacency).halves(np.random.default_rng(0))
    np.testing.assert_array_equal((one.adjacency + two.adjacency).toarray(), adjacency.toarray())
    assert one.adjacency.nnz + two.adjacency.nnz == adjacency.nnz
    assert one.X.shape[1] == two.X.shape[1] == 30
    together = sparse.hstack([one.X, two.X]).toarray()
    assert sorted(together.sum(axis=0).round(5)) == sorted(X.toarray().sum(axis=0).round(5))


def test_reliability_is_agreement_and_leave_one_out_together():
    X, adjacency, truth = blocks()
    teacher, _ = asked(X, adjacency, truth, 5)
    assert set(teacher.verdicts) == set(VIEWS)
    for verdict in teacher.verdicts.values():
        expected = verdict.agreement + verdict.leave_one_out * 15 / LABELS_THAT_COUNT
        assert verdict.reliability == pytest.approx(expected)


def test_communities_that_are_not_the_classes_are_noticed():
    """Halves of their edges agree about groups, which left-out labels contradict."""
    teacher, _ = asked(*mixed_groups(), per_class=60)
    verdict = teacher.verdicts["neighbourhood"]
    most = verdict.leave_one_out + 2 * np.sqrt((1 - verdict.leave_one_out**2) / 180)
    assert verdict.agreement > most
    assert verdict.reliability == pytest.approx(verdict.leave_one_out * (1 + 180 / LABELS_THAT_COUNT))
    assert teacher.view == "neighbourhood"
    excess = verdict.agreement / most - 1
    assert teacher.restart == pytest.approx(USUAL_RESTART + 0.55 * min(1.0, excess / 0.15))
    assert teacher.restart > USUAL_RESTART + 0.1


@pytest.mark.parametrize("per_class", [1, 2])
def test_few_labels_cannot_contradict_an_agreement(per_class):
    teacher, _ = asked(*mixed_groups(), per_class=per_class)
    assert teacher.restart == USUAL_RESTART
    for verdict in teacher.verdicts.values():
        of_labels = verdict.leave_one_out * 3 * per_class * (per_class > 1) / LABELS_THAT_COUNT
        assert verdict.reliability == pytest.approx(verdict.agreement + of_labels)


def test_where_communities_are_the_classes_contexts_are_as_usual():
    teacher, _ = asked(*blocks(), per_class=40)
    assert teacher.restart == USUAL_RESTART


def test_second_opinions_count_by_their_reliability():
    X, adjacency, truth = blocks()
    teacher, _ = asked(X, adjacency, truth, 5)
    labelled = labelled_of(truth, 5)
    others = np.zeros_like(teacher.probabilities)
    for name, verdict in teacher.verdicts.items():
        best = teacher.verdicts[teacher.view].reliability
        left_out = [15 * found.leave_one_out + FEW_LABELS for found in (verdict, teacher.verdicts[teacher.view])]
        weight = ((verdict.reliability + CHANCE) / (best + CHANCE) * min(1, left_out[0] / left_out[1])) ** SECOND_POWER
        if name != teacher.view and weight > LEAST_WEIGHT:
            alone = ask_views(Evidence(X, adjacency), labelled, truth[labelled], 3, names=[name])
            others += weight * np.log(np.maximum(sharpened(alone.probabilities, SECOND_CONFIDENCE), 1e-6))
            assert not alone.second_opinions.any()
    assert others.any()
    np.testing.assert_allclose(teacher.second_opinions, others, atol=0.1)  # lengths are estimated by other projections


def test_agreement_is_the_mean_over_groups_of_nodes():
    one, other = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 1, 1, 1, 0])
    every, some = np.ones(6, bool), np.arange(6) < 4
    within = kappa(one[:4], other[:4], 2)
    assert _agreement((one, other), every, some, 2) == pytest.approx((kappa(one, other, 2) + within) / 2)
    assert _agreement((one, other), every, ~every, 2) == pytest.approx(kappa(one, other, 2))
    assert _agreement((one, other), every, some, 2, some) == pytest.approx((within * 4 / 6 + within) / 2)
    assert _agreement((one, other), every, ~every, 2, ~every) == 0
    described = np.arange(6) >= 2
    everywhere, of_some = (kappa(one[group], other[group], 2) for group in (described, some & described))
    found = _agreement((one, other), every, some, 2, described)
    assert found == pytest.approx((everywhere * 4 / 6 + of_some * 2 / 4) / 2)


def test_views_are_silent_about_nodes_that_labels_do_not_reach_or_that_have_no_features(monkeypatch):
    X, adjacency, truth = blocks()
    X, said = sparse.csr_array(X.toarray() * (np.arange(len(truth)) % 3 > 0)[:, None]), []
    around = np.arange(len(truth)) != 3  # a node without features or edges
    adjacency = sparse.csr_array(sparse.diags_array(around.astype(np.float32)) @ adjacency)
    adjacency = sparse.csr_array(adjacency @ sparse.diags_array(around.astype(np.float32)))
    adjacency.eliminate_zeros()
    monkeypatch.setattr(evidence, "_agreement", lambda *given: said.append(given) or 0.5)
    teacher, _ = asked(X, adjacency, truth, per_class=5)
    for name, (_, _, reached, _, known) in zip(VIEWS, said, strict=True):
        expected = {"graph": reached, "features": np.arange(len(truth)) % 3 > 0, "neighbourhood": around}
        np.testing.assert_array_equal(known, expected[name])
    assert {verdict.agreement for verdict in teacher.verdicts.values()} == {0.5}


@pytest.mark.parametrize("seed", range(8))
def test_the_same_guess_about_nodes_without_features_is_no_agreement(seed):
    """Both halves may guess the same class for all nodes of which they know nothing, or not, by chance."""
    rng = np.random.default_rng(seed)
    described = np.arange(600) % 3 == 0
    X = sparse.csr_array((rng.random((600, 60)) < 0.2) * described[:, None], dtype=np.float32)
    edges = np.triu((rng.random((600, 600)) < 0.02) & described & described[:, None], 1)
    adjacency = sparse.csr_array((edges + edges.T).astype(np.float32))
    truth = rng.integers(0, 3, 600)
    labelled = labelled_of(np.where(described, truth, -1), 5)[5:]
    verdicts = ask_views(Evidence(X, adjacency), labelled, truth[labelled], 3, seed=seed).verdicts
    for name in ("features", "neighbourhood"):
        assert abs(verdicts[name].agreement) < 0.12


@pytest.mark.parametrize("seed", range(4))
def test_degrees_are_no_agreement(seed):
    """Both halves of the edges show the same nodes of high degree, which tells nothing about classes."""
    rng = np.random.default_rng(seed)
    pull = np.minimum((1 - rng.random(1000)) ** -0.6, 50)
    ends = rng.choice(1000, (2, 20_000), p=pull / pull.sum())
    edges = sparse.coo_array((np.ones(20_000, np.float32), ends), shape=(1000, 1000))
    adjacency = sparse.csr_array(((edges + edges.T) > 0).astype(np.float32))
    X = sparse.csr_array(rng.random((1000, 60)) < 0.2, dtype=np.float32)
    truth = rng.integers(0, 3, 1000)
    labelled = labelled_of(truth, 2)
    verdicts = ask_views(Evidence(X, adjacency), labelled, truth[labelled], 3, seed=seed).verdicts
    assert abs(verdicts["neighbourhood"].agreement) < 0.12


def test_a_second_opinion_counts_less_if_it_is_worse_at_labels_left_out():
    reliable = {"neighbourhood": 1.0, "graph": 1.0}
    alike = {name: Verdict(0.5, 0.8, 1.0) for name in reliable}
    worse = alike | {"graph": Verdict(0.7, 0.4, 1.0)}
    assert _second_weight("graph", "neighbourhood", reliable, alike, 50) == 1.0
    assert _second_weight("graph", "neighbourhood", reliable, worse, 50) == pytest.approx((30 / 50) ** SECOND_POWER)
    assert _second_weight("graph", "neighbourhood", reliable, worse, 0) == 1.0


def test_halves_learn_from_some_labels_and_views_from_all():
    X, adjacency, truth = blocks()
    labelled = np.arange(len(truth) - 5)
    few, many = (
        ask_views(Evidence(X, adjacency), nodes, truth[nodes], 3) for nodes in (labelled[:MOST_IN_HALVES], labelled)
    )
    assert len(labelled) > MOST_IN_HALVES
    for name, verdict in many.verdicts.items():
        assert verdict.agreement == few.verdicts[name].agreement  # classes take turns, so the first ones are taken
        expected = verdict.agreement + verdict.leave_one_out * len(labelled) / LABELS_THAT_COUNT
        assert verdict.reliability == pytest.approx(expected)


def test_nodes_that_labels_reach():
    edges = sparse.csr_array(([1.0, 1.0], ([0, 3], [1, 4])), shape=(6, 6))
    evidence = Evidence(None, sparse.csr_array(edges + edges.T))
    assert evidence.reached(np.array([1, 5])).tolist() == [True, True, False, False, False, True]


def test_a_graph_that_is_as_reliable_is_taken():
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.2, "graph": 0.29}, "graph") == "graph"
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.29, "graph": 0.2}, "graph") == "features"
    assert _most_reliable({"features": 0.3, "neighbourhood": 0.29, "graph": 0.3}, "neighbourhood") == "neighbourhood"
    assert _most_reliable({"features": 0.3}, "graph") == "features"


def test_the_best_view_is_taken_even_if_it_may_be_chance():
    assert _most_reliable({"features": 0.04, "neighbourhood": 0.0, "graph": 0.01}, "graph") == "features"
    assert _most_reliable({"features": 0.04, "neighbourhood": 0.0, "graph": 0.03}, "graph") == "graph"


def test_in_doubt_features_that_say_something_are_used():
    adjacency = sparse.csr_array((100, 100))
    evidence = Evidence(np.ones((100, 2)), adjacency)
    verdicts = {"features": Verdict(0.1, 0.0, 0.1), "graph": Verdict(0.3, 0.0, 0.3)}
    assert _in_doubt(evidence, verdicts) == "neighbourhood"
    assert _in_doubt(evidence, verdicts | {"features": Verdict(0.04, 0.9, 2.0)}) == "graph"
    assert _in_doubt(Evidence(None, adjacency), {}) == "graph"
    assert _in_doubt(Evidence(None, adjacency[:10, :10]), {}) == "neighbourhood"  # an embedding of ten nodes


@pytest.mark.parametrize(
    ("other", "n_wrong", "better"), [("features", 5, True), ("graph", 5, False), ("graph", 8, True)]
)
def test_hops_have_to_gain_more_beside_a_view_of_the_graph(other, n_wrong, better):
    """Their rows tell all classes; of the labels that the other view is not shown, some are wrong."""
    codes = np.arange(100) % 2
    rows = sparse.csr_array(np.eye(2, dtype=np.float32)[codes])
    hops = SimpleNamespace(rows=lambda *_: rows)
    left_out = np.eye(2)[codes]
    left_out[:n_wrong] = left_out[:n_wrong, ::-1]
    fits = {other: Regression(1.0, left_out, left_out, 1 - n_wrong / 100)}
    evidence = Evidence(None, sparse.csr_array((100, 100)), None, hops)
    found = _hops_are_better(evidence, np.arange(100), codes, np.eye(2)[codes], fits, np.ones(100, bool))
    assert found == better
