"""Calibration: the two numbers, the samples they are chosen by, and every method calibrated by default."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from tests.citation_split import fit, small_citation

import planetoid as pl
from planetoid.baselines import reference
from planetoid.calibration import (
    MIN_LABELS,
    Calibration,
    Reference,
    Sample,
    calibrate,
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
    return small_citation()


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
