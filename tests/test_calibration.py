"""Calibration: the two numbers, the samples they are chosen by, and every method calibrated by default."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from sklearn.linear_model import LogisticRegression

import planetoid as pl
from planetoid.baselines import propagated_features, reference
from planetoid.baselines.reference import label_groups, label_step, propagated_labels, reference_sample
from planetoid.calibration import (
    MIN_LABELS,
    Calibration,
    Reference,
    Sample,
    calibrate,
    graph_uniform,
    how_few,
    log_probabilities,
    with_usual_values,
)
from planetoid.evaluation import expected_calibration_error
from planetoid.models.calibration_reference import BETTER_WITH_FEW_LABELS
from planetoid.training.softmax_regression import left_out_scores, products, with_usual_size

QUICK = ("feat", "lp", "lgc", "mad", "poisson", "ssgc", "ica", "diel", "manireg")


@pytest.fixture(scope="module")
def citation():
    data = pl.datasets.make_citation(n_nodes=1000, n_classes=4, n_features=80, seed=3)
    return data, data.split("random", per_class=15, n_val=200, n_test=600, seed=0)


def fit(method, citation, **parameters):
    data, split = citation
    model = pl.METHODS[method](**parameters)
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    X = None if model.uses_features == "never" else data.X
    return model.fit(X, pl.mask_labels(data.y, split.train), **given)


# ---- the two numbers -------------------------------------------------------------


def made(temperature, uniform, n=40_000, n_classes=3):
    """Scores, and labels drawn from the probabilities that these scores should have had."""
    rng = np.random.default_rng(0)
    scores = log_softmax(rng.normal(size=(n, n_classes)) * 2, axis=1)
    true = (1 - uniform) * softmax(scores / temperature, axis=1) + uniform / n_classes
    codes = (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return scores, codes, true


def says(probabilities, n_labels):
    """A reference that is calibrated already."""
    return Reference(probabilities, probabilities[:0], probabilities[:0], n_labels)


@pytest.mark.parametrize(("temperature", "uniform"), [(0.5, 0.1), (1.0, 0.2), (2.0, 0.3)])
def test_the_numbers_that_made_the_labels_are_found(temperature, uniform):
    scores, codes, true = made(temperature, uniform)
    found = calibrate(Sample.of_labels(scores, codes, "validation labels"))
    assert found.temperature == pytest.approx(temperature, rel=0.07)
    assert found.uniform == pytest.approx(uniform, abs=0.02)
    np.testing.assert_allclose(found.apply(np.exp(scores)), true, atol=0.02)


def test_soft_targets_say_the_same_as_labels():
    scores, _, true = made(0.6, 0.1)
    found = calibrate(Sample.of_reference(np.exp(scores), says(true, 2_000)))
    assert found.source == "reference"
    np.testing.assert_allclose(found.apply(np.exp(scores)), true, atol=0.02)


def test_a_method_as_accurate_as_the_reference_has_its_confidence_where_they_differ():
    rng = np.random.default_rng(1)
    reference = np.tile([0.8, 0.1, 0.1], (500, 1))
    said = np.tile([0.2, 0.6, 0.2], (500, 1)) + rng.uniform(0, 0.01, (500, 1))
    same = calibrate(Sample.of_reference(said, says(reference, 500), as_accurate=True)).apply(said).max(axis=1)
    assert same.mean() == pytest.approx(0.8, abs=0.02)
    decided = calibrate(Sample.of_reference(said, says(reference, 500))).apply(said).max(axis=1)
    assert decided.mean() < 0.45


def test_rare_classes_among_the_predictions_weigh_less():
    scores = np.log(np.tile([0.6, 0.4], (200, 1)))
    codes = np.repeat([0, 1], 100)
    confidence = {}
    for prior in (0.5, 0.8):
        sample = Sample.of_labels(scores, codes, "leave-one-out", (prior, 1 - prior))
        confidence[prior] = calibrate(sample).apply(np.exp(scores))[0, 0]
    assert confidence[0.5] == pytest.approx(0.5, abs=0.03)
    assert confidence[0.8] == pytest.approx(0.8, abs=0.03)


def test_labels_that_are_not_balanced_are_a_random_sample():
    scores = np.log(np.tile([0.6, 0.4], (200, 1)))
    codes = np.repeat([0, 1], [140, 60])
    found = calibrate(Sample.of_labels(scores, codes, "leave-one-out", (0.9, 0.1))).apply(np.exp(scores))
    assert found[0, 0] == pytest.approx(0.7, abs=0.03)


def test_some_of_the_labels_are_weighted_if_all_of_them_are_balanced():
    scores = np.log(np.tile([0.6, 0.4], (200, 1)))
    codes = np.repeat([0, 1], [140, 60])
    sample = Sample.of_labels(scores, codes, "leave-one-out", (0.5, 0.5), balanced=True)
    assert sample.targets.sum(axis=0) == pytest.approx([100, 100])


def test_a_known_factor_of_the_temperature_is_applied():
    scores, _, true = made(0.6, 0.1, n=5_000)
    sample = Sample.of_reference(np.exp(scores), says(true, 2_000))
    changed = calibrate(sample._replace(temperature_factor=0.5))
    assert changed.temperature == pytest.approx(0.5 * calibrate(sample).temperature)


def test_too_few_labels_leave_probabilities_alone():
    scores = np.log(np.tile([0.6, 0.4], (MIN_LABELS - 1, 1)))
    found = calibrate(Sample.of_labels(scores, [0] * (MIN_LABELS - 1), "leave-one-out"))
    assert found == Calibration()
    np.testing.assert_array_equal(found.apply(np.exp(scores)), np.exp(scores))


@pytest.mark.parametrize("temperature", [0.01, 0.5, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_the_classes_never_changes(temperature, dtype):
    rng = np.random.default_rng(2)
    near = np.full((50, 3), 1 / 3) + rng.normal(0, 1e-7, (50, 3))
    rows = np.vstack([rng.dirichlet([0.1] * 3, 200), near]).astype(dtype)
    found = Calibration("leave-one-out", temperature, 0.05).apply(rows)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.argmax(axis=1), rows.argmax(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


# ---- samples ---------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_leave_one_out_is_close_to_fitting_without_the_row(n_classes):
    rng = np.random.default_rng(0)
    codes = np.arange(60) % n_classes
    X = rng.normal(size=(60, 10)) + np.eye(10)[codes] * 1.5
    scores = LogisticRegression(C=0.5, tol=1e-8).fit(X, codes).decision_function(X).reshape(60, -1)
    exact = []
    for row in range(60):
        others = np.arange(60) != row
        solver = LogisticRegression(C=0.5, tol=1e-8).fit(X[others], codes[others])
        exact.append(solver.predict_proba(X[row : row + 1])[0])
    full = scores if n_classes > 2 else np.hstack([np.zeros_like(scores), scores])
    found = softmax(left_out_scores(products(X), full, codes, 0.5), axis=1)
    before = np.abs(softmax(full, axis=1) - exact).mean()
    assert np.abs(found - exact).mean() < 0.25 * before


def test_calibrated_probabilities_are_a_softmax_of_scaled_logarithms():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(6), 50)
    probabilities[rng.random((50, 6)) < 0.2] = 0.0
    with np.errstate(divide="ignore"):
        expected = 0.9 * np.exp(log_softmax(np.log(probabilities) / 0.7, axis=1)) + 0.1 / 6
    found = Calibration("leave-one-out", temperature=0.7, uniform=0.1).apply(probabilities)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


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


@pytest.mark.parametrize("per_class", [2, 3, 5])
def test_left_out_labels_do_not_mislead_where_they_are_few(citation, per_class):
    """Softmax regression that lacks one of two labels of a class says that the class is hardly possible."""
    data, _ = citation
    labelled = np.concatenate([np.flatnonzero(data.y == k)[:per_class] for k in range(data.n_classes)])
    model = pl.PropagatedFeatures().fit(data.X, pl.mask_labels(data.y, labelled), graph=data.graph)
    rest = np.setdiff1d(np.arange(data.n_nodes), labelled)
    right = (model.predict() == data.y)[rest].mean()
    assert model.predict_proba()[rest].max(axis=1).mean() == pytest.approx(right, abs=0.25)
    assert model.calibration_.source == "leave-one-out"
    few = replace(data, y=pl.mask_labels(data.y, labelled))
    said = reference._by_features(few).calibrated()[rest]
    assert said.max(axis=1).mean() == pytest.approx((said.argmax(axis=1) == data.y[rest]).mean(), abs=0.25)


def test_usual_values_count_less_the_more_labels_there_are():
    scores, codes, _ = made(0.5, 0.1, n=100)
    sample = Sample.of_labels(scores, codes, "leave-one-out")
    by_labels = np.log(calibrate(sample).temperature)
    found = [np.log(calibrate(with_usual_values(sample, n)).temperature) for n in (1.5, 2, 3, 5, 10, 20)]
    distances = [abs(temperature - by_labels) for temperature in found]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 1.5
    assert distances[-1] < 0.03
    alone = calibrate(with_usual_values(sample, 1)._replace(fewest=0))  # no label counts
    assert np.log(alone.temperature) == pytest.approx(-3.9)
    assert calibrate(with_usual_values(sample._replace(n_labels=9), 1)) == Calibration()


def test_the_size_of_scores_tells_a_usual_temperature_unless_features_say_nothing(citation):
    data, split = citation  # 15 labels per class
    few = replace(data, y=pl.mask_labels(data.y, split.train))
    scores = np.tile([3.0, 0.0, 0.0, -3.0], (data.n_nodes, 1))  # of variance 6 about their mean 0
    said = softmax(scores, axis=1)
    right = Sample.of_labels(log_softmax(scores[:60], axis=1), [0] * 50 + [1] * 10, "leave-one-out")
    expected = np.log(np.sqrt(6)) + 0.57 - 0.35 * np.log(15)
    found = with_usual_size(right, few, said)
    assert found.usual_temperature == pytest.approx((expected, 0.2))
    certain = with_usual_size(right._replace(temperature_factor=0.5), few, said)  # the same after the factor
    assert certain.usual_temperature[0] + np.log(0.5) == pytest.approx(expected)
    chance = Sample.of_labels(right.scores, np.arange(60) % 4, "leave-one-out")
    assert with_usual_size(chance, few, said) is chance
    assert with_usual_size(right, data, said) is right  # no node is unlabelled


@pytest.mark.parametrize("unit", [0.02, 1.0])
def test_features_in_a_small_unit_have_a_low_temperature(citation, unit):
    """The penalty is the same, and scores are small: their size, and not the unit, tells what is usual."""
    data, split = citation
    rest = np.setdiff1d(np.arange(data.n_nodes), split.train)
    model = pl.Feat().fit(unit * data.X, pl.mask_labels(data.y, split.train))
    right = (model.predict() == data.y)[rest].mean()
    assert model.predict_proba()[rest].max(axis=1).mean() == pytest.approx(right, abs=0.08)
    assert (model.calibration_.temperature < 0.05) == (unit == 0.02)


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


@pytest.mark.parametrize("view", ["neighbourhood", "features"])
def test_contexts_make_planetoid_more_certain_than_its_reference_with_few_labels(citation, view, monkeypatch):
    data, _ = citation
    monkeypatch.setattr(reference, "AGREEMENT", 1.0)
    monkeypatch.setattr(reference, "AGREEMENT_WITH_LABELS", 1.0)
    labelled = np.concatenate([np.flatnonzero(data.y == k)[:2] for k in range(data.n_classes)])
    model = pl.Planetoid(view=view, student=False, random_state=0).set_params(training__steps=20)
    model.fit(data.X, pl.mask_labels(data.y, labelled), graph=data.graph)
    expected = BETTER_WITH_FEW_LABELS ** how_few(2) if view == "neighbourhood" else 1.0
    assert model._sample.temperature_factor == pytest.approx(expected)
    assert 0.8 < BETTER_WITH_FEW_LABELS ** how_few(2) < 0.9


def test_planetoid_is_calibrated_with_fewer_than_ten_labels(citation):
    data, _ = citation
    labelled = np.concatenate([np.flatnonzero(data.y == k)[:2] for k in range(data.n_classes)])
    y = pl.mask_labels(data.y, labelled)
    model = pl.Planetoid(student=False, random_state=0).fit(data.X, y, graph=data.graph)
    raw = pl.Planetoid(student=False, random_state=0, calibrate=False).fit(data.X, y, graph=data.graph)
    assert (model.calibration_.source, model.calibration_.n_labels) == ("reference", len(labelled))
    np.testing.assert_array_equal(model.predict(), raw.predict())
    assert not np.allclose(model.predict_proba(), raw.predict_proba())
    assert model.predict_set(alpha=0.2).any(axis=1).all()
    assert pl.GCN(epochs=5).fit(data.X, y, graph=data.graph).calibration_.source == "none"


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


# ---- methods ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")
@pytest.mark.parametrize("method", QUICK)
def test_every_method_is_calibrated_by_default_and_keeps_its_labels(method, citation):
    data, split = citation
    model, raw = fit(method, citation), fit(method, citation, calibrate=False)
    assert raw.calibration_ == Calibration()
    assert model.calibration_.source in ("leave-one-out", "reference")
    assert 0 < model.calibration_.share < 1
    np.testing.assert_array_equal(model.predict(), raw.predict())
    errors = [
        expected_calibration_error(data.y[split.test], each.predict_proba()[split.test], each.classes_)
        for each in (model, raw)
    ]
    assert errors[0] < max(0.12, 0.8 * errors[1])


@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")
def test_new_rows_are_calibrated_alike_and_after_loading(citation, tmp_path):
    data, _ = citation
    model, raw = fit("feat", citation), fit("feat", citation, calibrate=False)
    new = data.X[:20]
    expected = model.calibration_.apply(raw.predict_proba(new))
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(new), model.predict_proba()[:20], rtol=1e-5)
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    assert loaded.calibration_ == model.calibration_
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_validation_labels_come_first(citation):
    data, split = citation
    y = pl.mask_labels(data.y, split.train)
    model = pl.Feat().fit(data.X, y, validation=split.val_labels(data.y))
    assert model.calibration_.source == "validation labels"
    assert model.calibration_.n_labels == len(split.val)
    raw = pl.Feat(calibrate=False).fit(data.X, y).predict_proba()[split.val]
    by_hand = calibrate(Sample.of_labels(log_probabilities(raw), data.y[split.val], "validation labels"))
    assert model.calibration_.temperature == pytest.approx(by_hand.temperature)


@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")
def test_labels_that_a_method_keeps_stay_certain(citation):
    _, split = citation
    model = fit("lp", citation)
    assert model.calibration_.uniform > 0
    np.testing.assert_array_equal(model.predict_proba()[split.train].max(axis=1), 1.0)


# ---- nodes that no label reaches -------------------------------------------------


@pytest.fixture(scope="module")
def two_parts():
    """Two copies of a graph; only the first has labels, the last node is alone with its label in a pair."""
    data = pl.datasets.make_citation(n_nodes=300, n_classes=3, n_features=10, seed=1)
    matrix = data.graph.to_scipy()
    pair = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    graph = pl.Graph.from_scipy(sparse.block_diag([matrix, matrix, pair], format="csr"))
    y = np.full(602, -1)
    for k in range(3):
        y[np.flatnonzero((data.y == k) & (data.graph.components() == 0))[:10]] = k
    y[601] = 0
    return graph, y


@pytest.mark.filterwarnings("ignore:.*can say nothing:planetoid.errors.PlanetoidWarning")
@pytest.mark.parametrize("method", ["graphemb", "planetoid-g"])
def test_methods_on_a_graph_alone_are_unsure_of_nodes_that_no_label_reaches(method, two_parts):
    graph, y = two_parts
    walks = {"pretrain": 100} if method == "graphemb" else {}
    model = pl.METHODS[method](**walks).fit(None, y, graph=graph)
    raw = pl.METHODS[method](calibrate=False, **walks).fit(None, y, graph=graph)
    found = model.label_distributions_
    np.testing.assert_array_equal(found.argmax(axis=1), raw.label_distributions_.argmax(axis=1))
    assert found[300:600].max() < 1 / 3 + 0.04
    assert found[:300].max(axis=1).mean() > 0.5
    assert model.calibration_.source != "none"


@pytest.mark.filterwarnings("ignore:.*can say nothing:planetoid.errors.PlanetoidWarning")
def test_a_label_that_is_alone_in_its_component_is_not_left_out(two_parts):
    graph, y = two_parts
    model = pl.GraphEmbedding(pretrain=100).fit(None, y, graph=graph)
    assert model.calibration_.n_labels == 30


def test_features_tell_of_nodes_that_no_label_reaches(citation):
    data, split = citation
    inside = np.arange(data.n_nodes) < 500
    y = np.where(inside, pl.mask_labels(data.y, split.train), -1)
    matrix = data.graph.to_scipy().tocoo()
    same = inside[matrix.row] == inside[matrix.col]
    cut = sparse.csr_array((matrix.data[same], (matrix.row[same], matrix.col[same])), shape=matrix.shape)
    graph = pl.Graph.from_scipy(cut)
    assert not pl.Dataset("cut", graph, data.X, y, data.classes).reached[500:].any()
    found = pl.PropagatedFeatures().fit(data.X, y, graph=graph).predict_proba()
    assert found[500:].max(axis=1).mean() > 0.5


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("manireg", {}),
        ("semiemb", {"steps": 100}),
        ("tsvm", {}),
        ("planetoid-i", {"dimension": 16, "training__steps": 50, "training__pretrain": 1}),
    ],
)
def test_all_nodes_labelled(method, parameters):
    """Nothing is left to predict but new rows, whose probabilities are calibrated too."""
    random = np.random.default_rng(0)
    y = np.arange(90) % 3
    X, new = (np.eye(3)[y] + random.normal(0, 0.6, (90, 3)) for _ in range(2))
    edges = [(i, int(j)) for i in range(90) for j in random.choice(np.flatnonzero(y == y[i]), 3) if i != j]
    model = pl.METHODS[method](random_state=0).set_params(**parameters)
    model.fit(X, y, **({} if method == "tsvm" else {"graph": pl.Graph.of(edges, nodes=range(90))}))
    assert model.calibration_.source == "reference"
    found = model.predict_proba(new)
    assert found.max(axis=1).mean() == pytest.approx((found.argmax(axis=1) == y).mean(), abs=0.12)
    assert model.predict_set(new).shape == (90, 3)
    assert model._sample.reference is None  # as large as the probabilities
