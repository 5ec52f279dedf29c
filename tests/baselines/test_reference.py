"""The references that methods are calibrated by: propagated labels, propagated features, shared features."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from tests.citation_split import fit, small_citation

import planetoid as pl
from planetoid.baselines import propagated_features, reference
from planetoid.baselines.reference import label_groups, label_step, propagated_labels, reference_sample
from planetoid.calibration import (
    Calibration,
    Reference,
    calibrate,
    graph_uniform,
)


@pytest.fixture(scope="module")
def citation():
    return small_citation()


def test_propagated_labels_are_a_sum_over_steps_of_a_walk(citation):
    data, split = citation
    rows = np.sort(split.train)[:12]
    labels = np.eye(data.n_classes, dtype=np.float32)[data.y[rows]]
    adjacency = data.graph.to_scipy().toarray().astype(np.float64) + np.eye(data.n_nodes)  # unweighted: loops of 1
    walk = 0.9 * adjacency / adjacency.sum(axis=1, keepdims=True)
    start = np.zeros((data.n_nodes, data.n_classes))
    start[rows] = labels
    expected = sum(np.linalg.matrix_power(walk, t) @ start for t in range(1, 11))
    found = propagated_labels(label_step(data), rows, labels)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)
    hidden = labels.copy()
    hidden[0] = 0.0
    assert not np.allclose(propagated_labels(label_step(data), rows, hidden)[rows[0]], found[rows[0]])
    assert not propagated_labels(label_step(data), rows, 0 * labels).any()


def test_classes_are_propagated_together_or_one_by_one(citation, monkeypatch):
    data, split = citation
    few = replace(data, X=None, y=pl.mask_labels(data.y, split.train))
    said = np.full((data.n_nodes, data.n_classes), 1 / data.n_classes)
    found = []
    for entries in (1, 3 * said.size, 100 * said.size):
        monkeypatch.setattr("planetoid.baselines.reference.MOST_AT_ONCE", entries)
        found.append(reference_sample(few, said).reference)
    for other in found[1:]:
        np.testing.assert_array_equal(other.hidden, found[0].hidden)
        np.testing.assert_array_equal(other.calibrated(), found[0].calibrated())


def test_a_label_is_hidden_with_its_group_of_the_class(citation, monkeypatch):
    """What the reference says about a label is what it says if the group of that label is unlabelled."""
    data, split = citation
    few = replace(data, X=None, y=pl.mask_labels(data.y, split.train))
    rows, groups, codes = few.labelled, label_groups(few), few.y[few.labelled]
    for k in range(few.n_classes):
        counts = np.bincount(groups[codes == k])
        assert counts.max() - counts.min() <= 1
    step, one_hot = label_step(few), np.eye(few.n_classes, dtype=np.float32)[codes]
    raw = np.empty((len(rows), few.n_classes))
    for i in range(len(rows)):
        visible = one_hot * ~((codes == codes[i]) & (groups == groups[i]))[:, None]
        raw[i] = propagated_labels(step, rows, visible)[rows[i]] / visible.sum(axis=0)
    reached = raw.any(axis=1)
    shares = raw[reached] / raw[reached].sum(axis=1, keepdims=True)
    monkeypatch.setattr("planetoid.baselines.reference.calibrate", lambda *args, **named: Calibration("raw"))
    found = reference_sample(few, np.full((few.n_nodes, few.n_classes), 1 / few.n_classes)).reference
    np.testing.assert_allclose(found.hidden[reached], shares, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found.hidden[~reached], np.tile(few.class_prior, (int((~reached).sum()), 1)))


def test_a_method_that_always_agrees_with_its_reference_is_no_more_certain_for_it(citation):
    data, split = citation
    few = replace(data, X=None, y=pl.mask_labels(data.y, split.train))
    said = reference_sample(few, np.full((few.n_nodes, few.n_classes), 1 / few.n_classes)).reference.calibrated()
    same, other = reference_sample(few, said), reference_sample(few, said[:, ::-1])
    assert (same.differ, same.temperature_factor, same.reference.agreement) == (0.0, 1.0, 1.0)
    assert other.differ > 0.5
    assert (other.temperature_factor, other.reference.agreement) == (0.5, 0.92)


@pytest.mark.parametrize("informative", [True, False])
def test_with_features_and_edges_the_better_reference_is_used(citation, informative):
    """Features that say nothing leave it to propagated labels, and then a method may be as accurate as those."""
    data, split = citation
    few = replace(data, y=pl.mask_labels(data.y, split.train))
    if not informative:
        few = replace(few, X=sparse.csr_array(np.random.default_rng(0).random(data.X.shape, dtype=np.float32)))
    said = np.full((data.n_nodes, data.n_classes), 1 / data.n_classes)
    found = reference_sample(few, said, as_accurate=True)
    other = replace(few, X=None) if not informative else few
    expected = reference_sample(other, said, as_accurate=not informative)
    np.testing.assert_array_equal(found.targets, expected.targets)
    np.testing.assert_array_equal(found.reference.hidden, expected.reference.hidden)
    assert found.usual_uniform == expected.usual_uniform
    agree = reference.FEATURES_AGREE if informative else reference.FEATURES_AND_LABELS_AGREE
    assert found.reference.agreement == agree
    assert (found.reference.opinion is not None) == informative  # then propagated labels still have a say


def test_a_near_reference_propagates_features_over_two_steps(citation):
    data, split = citation
    few = replace(data, y=pl.mask_labels(data.y, split.train))
    said = np.full((data.n_nodes, data.n_classes), 1 / data.n_classes)
    near, far = (reference_sample(few, said, smoothing=smoothing) for smoothing in (reference.NEAR, reference.FAR))
    assert near.temperature_factor == pytest.approx(0.95 * far.temperature_factor)
    propagated = pl.PropagatedFeatures(K=2, alpha=0.2, calibrate=False).fit(few).label_distributions_
    from_near, from_far = (np.abs(one.reference.probabilities - propagated).mean() for one in (near, far))
    assert from_near < 0.2 * from_far  # that of a coarse tolerance


def test_a_near_reference_learns_from_some_of_many_labels(citation):
    data, _ = citation
    most = replace(data, y=pl.mask_labels(data.y, np.arange(600)))
    near, far = (reference._by_features(most, smoothing) for smoothing in (reference.NEAR, reference.FAR))
    assert (near.n_labels, far.n_labels) == (300, 600)


@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")
@pytest.mark.parametrize("method", ["diel", "ica"])
def test_features_that_are_scaled_already_are_not_scaled_again(method, citation, monkeypatch):
    seen, norms = [], []
    ask, scale = reference._by_features, propagated_features.scale_rows
    monkeypatch.setattr(propagated_features, "scale_rows", lambda X, norm: norms.append(norm) or scale(X, norm))
    monkeypatch.setattr(reference, "_by_features", lambda *given: seen.append(given) or ask(*given))
    model = fit(method, citation)
    assert norms == [None]
    data, _, unit_rows = seen[0]
    np.testing.assert_allclose(np.sqrt((unit_rows.toarray() ** 2).sum(axis=1)), 1.0, rtol=1e-6)
    again = ask(data, reference.NEAR, None)
    np.testing.assert_allclose(ask(*seen[0]).probabilities, again.probabilities, atol=1e-6)
    raw = fit(method, citation, calibrate=False)
    assert model._unit_rows is None  # which would be as large as the features
    assert raw._unit_rows is None
    assert fit(method, citation, row_normalize="l1").calibration_.source == "reference"
    assert seen[1][2] is None


def test_propagated_labels_are_only_asked_where_features_do_not_suffice(citation, monkeypatch):
    data, split = citation
    few = replace(data, y=pl.mask_labels(data.y, split.train))
    noise = replace(few, X=sparse.csr_array(np.random.default_rng(0).random(data.X.shape, dtype=np.float32)))
    asked, ask = [], reference._by_labels
    monkeypatch.setattr(reference, "_by_labels", lambda given, steps: asked.append(given) or ask(given, steps))
    said = np.full((data.n_nodes, data.n_classes), 1 / data.n_classes)
    alone = reference_sample(few, said, smoothing=reference.NEAR_ALONE)
    assert not asked
    opinion = alone.reference.opinion()  # only prediction sets need it
    assert len(asked) == 1
    both = reference_sample(few, said, smoothing=reference.NEAR)
    assert len(asked) == 2
    np.testing.assert_array_equal(both.reference.opinion(), opinion)
    assert len(asked) == 2  # what has been said is not asked for again
    np.testing.assert_array_equal(both.targets, alone.targets)
    by_labels = reference_sample(noise, said, smoothing=reference.NEAR_ALONE)
    assert len(asked) == 3
    expected = reference_sample(replace(few, X=None), said, smoothing=reference.NEAR)
    np.testing.assert_array_equal(by_labels.targets, expected.targets)


def test_references_with_one_label_per_class_have_usual_values(citation):
    """Then no left-out label says anything."""
    data, _ = citation
    labelled = np.array([np.flatnonzero(data.y == k)[0] for k in range(data.n_classes)])
    few = replace(data, y=pl.mask_labels(data.y, labelled))
    words, codes = shared_words()
    one_each = replace(words, y=pl.mask_labels(codes, np.array([np.flatnonzero(codes == k)[0] for k in range(3)])))
    bare = replace(few, graph=pl.Graph.from_edges([], [], nodes=range(data.n_nodes)))
    for found, temperature, uniform in (
        (reference._by_features(few), -3.9, -1.1),
        (reference._by_features(bare), -0.5, -2.0),
        (reference._by_shared_features(one_each), -0.5, -2.0),
        (reference._by_labels(few, 10), np.log(0.9), graph_uniform(few.n_classes, 1)[0]),
    ):
        assert np.log(found.calibration.temperature) == pytest.approx(temperature)
        assert found.calibration.uniform == pytest.approx(expit(uniform))
        assert found.n_labels in (few.n_classes, one_each.n_classes)


def test_a_reference_is_calibrated_where_it_is_asked():
    raw = np.array([[0.6, 0.4], [0.0, 0.0], [0.2, 0.8]])
    calibration = Calibration("leave-one-out", temperature=0.5, uniform=0.1)
    found = Reference(raw, raw, raw, 20, calibration=calibration)
    expected = np.vstack([calibration.apply(raw[:1]), np.zeros((1, 2)), calibration.apply(raw[2:])])
    np.testing.assert_array_equal(found.calibrated(), expected)  # nothing is known about the second
    np.testing.assert_array_equal(found.calibrated(np.array([2, 0])), expected[[2, 0]])


def test_labels_of_other_nodes_are_not_used(citation):
    """The sample of a method depends on the training labels alone."""
    data, split = citation
    shuffled = data.y.copy()
    rest = np.setdiff1d(np.arange(data.n_nodes), split.train)
    shuffled[rest] = np.random.default_rng(0).permutation(shuffled[rest])
    first, second = (
        pl.GCN(epochs=20).fit(data.X, pl.mask_labels(y, split.train), graph=data.graph) for y in (data.y, shuffled)
    )
    np.testing.assert_array_equal(first.predict_proba(), second.predict_proba())
    assert first.calibration_.temperature == second.calibration_.temperature


def shared_words(n_classes=3, n=600, seed=0):
    """Rows with a few of the many words of their class, and a row without any; ten labels per class."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    X = np.zeros((n, 40 * n_classes), np.float32)
    for row, code in enumerate(codes):
        X[row, 40 * code + rng.integers(0, 40, 4)] = 1
        X[row, rng.integers(0, X.shape[1], 3)] = 1
    X[-1] = 0
    y = codes.copy()
    kept = np.concatenate([np.flatnonzero(codes == k)[:10] for k in range(n_classes)])
    y[np.setdiff1d(np.arange(n), kept)] = -1
    graph = pl.Graph.from_edges([], [], nodes=range(n))
    return pl.Dataset("words", graph, sparse.csr_array(X), y, list("abc")[:n_classes]), codes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_reference_without_edges_learns_from_features_that_rows_share(n_classes):
    data, codes = shared_words(n_classes)
    hidden = (data.y < 0) & data.has_features
    given = np.full((data.n_nodes, n_classes), 1 / n_classes)
    found = reference_sample(data, given).reference
    assert found.n_labels == 10 * n_classes
    alone = pl.Feat(C=10.0, row_normalize="l2").fit(data).label_distributions_
    right, right_alone = ((p.argmax(axis=1) == codes)[hidden].mean() for p in (found.calibrated(), alone))
    assert right > right_alone + 0.05
    assert found.calibrated()[hidden].max(axis=1).mean() == pytest.approx(right, abs=0.08)
    assert not found.calibrated()[-1].any()  # a row without features says nothing
    np.testing.assert_allclose(found.calibrated()[:-1].sum(axis=1), 1)


def test_features_that_are_no_words_are_not_shared():
    data, _ = shared_words()
    negative = sparse.csr_array(-1 * data.X)
    for X in (data.X.toarray(), negative):
        other = replace(data, X=X)
        found = reference_sample(other, np.full((data.n_nodes, 3), 1 / 3)).reference
        expected = pl.Feat(C=10.0, row_normalize="l2", calibrate=False).fit(other).label_distributions_
        np.testing.assert_allclose(found.probabilities, expected, rtol=1e-5)


def test_without_features_and_edges_there_is_no_reference():
    data = pl.Dataset("bare", pl.Graph.from_edges([], [], nodes=4), None, np.array([0, 1, -1, -1]), np.array([0, 1]))
    assert calibrate(reference_sample(data, np.full((4, 2), 0.5))) == Calibration()
