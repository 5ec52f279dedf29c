"""From independent probabilities to labels, and the methods that take several labels per node, one contract for all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.multi_label import MULTI_LABEL_METHODS, SetSample, best_threshold, calibrate_sets, indicator
from planetoid.registry import CLASSES

FAST = {
    "GraphEmbedding": {"dimension": 16, "pretrain": 60},
    "PlanetoidT": {"dimension": 16, "training__pretrain": 40},
    "PlanetoidG": {"dimension": 16, "training__pretrain": 60},
    "PlanetoidI": {"dimension": 16, "training__pretrain": 10},
}


def two_groups():
    """Two cliques of 12 that share four nodes, with a word for each."""
    member = np.zeros((20, 2), dtype=bool)
    member[:12, 0] = member[8:, 1] = True
    share = (member.astype(int) @ member.T.astype(int)) > 0
    adjacency = sparse.csr_array(np.triu(share, 1))
    X = member.astype(np.float32) + 0.05 * np.random.default_rng(0).random((20, 2)).astype(np.float32)
    return pl.Graph.from_scipy(adjacency + adjacency.T), X, member


def fit(name, y, **more):
    graph, X, _ = two_groups()
    cls = getattr(pl, name)
    model = cls().set_params(**FAST.get(name, {}))
    given = {} if cls.uses_graph == "never" else {"graph": graph}
    return model.fit(None if cls.uses_features == "never" else X, y, **given, **more)


LABELLED = [0, 2, 4, 6, 8, 9, 11, 13, 15, 17, 19]


@pytest.fixture(scope="module")
def truth():
    return two_groups()[2]


class TestContract:
    @pytest.mark.parametrize("name", MULTI_LABEL_METHODS)
    def test_overlapping_groups(self, name, truth, tmp_path):
        """Fits, predicts the members of both groups, saves and loads."""
        model = fit(name, pl.mask_labels(sparse.csr_array(truth), LABELLED))
        probabilities = model.predict_proba()
        assert probabilities.shape == (20, 2)
        assert (probabilities >= 0).all()
        assert (probabilities <= 1).all()
        np.testing.assert_array_equal(model.classes_, [0, 1])
        assert model.multi_label_
        hidden = np.setdiff1d(np.arange(20), LABELLED)
        exact = model.predict(top=truth.sum(axis=1))
        assert (exact.sum(axis=1) == truth.sum(axis=1)).all()
        assert (exact[hidden] == truth[hidden]).mean() >= 0.8
        labels = model.predict()
        assert set(np.unique(labels)) <= {0, 1}
        assert (labels.sum(axis=1) >= 1).all()
        np.testing.assert_array_equal(labels, model.transduction_)
        np.testing.assert_array_equal(labels, indicator(probabilities, model.threshold_))
        with pytest.raises(DataError, match=r"prediction sets are for one label per node.*use predict_proba"):
            model.predict_set()
        model.save(tmp_path / "model")
        loaded = pl.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_proba(), probabilities)
        np.testing.assert_array_equal(loaded.predict(), labels)
        if model.inductive:
            X = two_groups()[1]
            np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
            assert ((model.predict(X, top=1)[[0, -1]] == [[1, 0], [0, 1]]).all(axis=1)).all()

    @pytest.mark.parametrize("name", MULTI_LABEL_METHODS)
    def test_lists_give_names_and_the_same_numbers(self, name, truth):
        names = np.array(["left", "right"])
        y = pl.mask_labels([names[row].tolist() for row in truth], LABELLED)
        model = fit(name, y)
        assert model.classes_.tolist() == ["left", "right"]
        same = fit(name, pl.mask_labels(truth, LABELLED))
        np.testing.assert_array_equal(model.predict_proba(), same.predict_proba())

    @pytest.mark.parametrize("name", MULTI_LABEL_METHODS)
    def test_a_column_without_a_label_stays_and_is_unlikely(self, name, truth):
        padded = np.hstack([truth, np.zeros((20, 1), bool)])
        model = fit(name, pl.mask_labels(padded, LABELLED))
        assert model.predict_proba().shape == (20, 3)
        assert model.predict_proba()[:, 2].max() < 0.35

    @pytest.mark.parametrize("name", sorted(set(CLASSES) - set(MULTI_LABEL_METHODS)))
    def test_other_methods_name_those_that_do(self, name, truth):
        with pytest.raises(DataError, match=f"{name} takes one label per node; for several, use Planetoid, PlanetoidT"):
            fit(name, pl.mask_labels(truth, LABELLED))

    def test_a_subclass_takes_what_its_base_takes(self, truth):
        class Mine(pl.LabelPropagation):
            pass

        model = Mine().fit(None, pl.mask_labels(truth, LABELLED), graph=two_groups()[0])
        assert model.multi_label_

    def test_the_list_of_methods_is_that_of_the_classes(self):
        assert {name for name, info in CLASSES.items() if info.multi_label} == set(MULTI_LABEL_METHODS)
        assert {name for name in CLASSES if getattr(pl, name).multi_label} == set(MULTI_LABEL_METHODS)

    def test_a_refit_with_one_label_forgets_the_sets(self, truth):
        model = fit("LabelPropagation", pl.mask_labels(truth, LABELLED))
        model.fit(None, truth.argmax(axis=1), graph=two_groups()[0])
        assert not model.multi_label_
        assert model.predict().ndim == 1
        with pytest.raises(DataError, match="top is for several labels"):
            model.predict(top=1)

    def test_a_refit_has_the_attributes_of_a_first_fit(self, truth):
        def learned(model):
            return {name for name in vars(model) if name.endswith("_")}

        graph, labels = two_groups()[0], pl.mask_labels(truth, LABELLED)
        model = pl.Planetoid().fit(None, {node: str(truth[node].argmax()) for node in LABELLED}, graph=graph)
        assert model.propagation_weight_ >= 0  # which several labels per node have no use for
        first = pl.Planetoid().fit(None, labels, graph=graph)
        assert learned(model.fit(None, labels, graph=graph)) == learned(first)


@pytest.mark.parametrize("name", ["LabelPropagation", "PlanetoidG", "GraphEmbedding"])
def test_labels_that_are_hidden_do_not_change_the_result(name, truth):
    """A dataset whose labels were masked holds nothing of the others."""
    y = truth.argmax(axis=1).astype(np.int32)
    full = pl.Dataset("groups", two_groups()[0], None, y, np.arange(2), Y=sparse.csr_array(truth))
    seen = replace(full, y=pl.mask_labels(full.y, LABELLED))
    model = getattr(pl, name)().set_params(**FAST.get(name, {})).fit(seen)
    np.testing.assert_array_equal(model.predict_proba(), fit(name, pl.mask_labels(truth, LABELLED)).predict_proba())


def test_cross_validation_says_that_it_takes_one_label():
    from planetoid.evaluation.cross_validation import cross_validate

    data = pl.datasets.make_multilabel(60, 3, seed=0)
    with pytest.raises(DataError, match="one label per node"):
        cross_validate(pl.LabelPropagation(), data)


def test_label_propagation_is_harmonic_in_every_class():
    """On a path from {x, y} to {y} the probability of y is 1 everywhere, that of x falls linearly."""
    path = pl.Graph.from_edges("abcd", "bcde")
    model = pl.LabelPropagation(class_mass_normalization=False, calibrate=False)
    model.fit(None, {"a": ["x", "y"], "e": ["y"]}, graph=path)
    np.testing.assert_allclose(model.predict_proba(), [[1 - k / 4, 1] for k in range(5)], atol=1e-6)


def test_label_propagation_brings_classes_to_their_share():
    data = pl.datasets.make_multilabel(200, 4, within=0.7, seed=1)
    split = data.split("rate", rate=0.3, seed=0)
    model = pl.LabelPropagation(calibrate=False).fit(None, pl.mask_labels(data.Y, split.train), graph=data.graph)
    mean = model.predict_proba()[split.test].mean(axis=0)
    np.testing.assert_allclose(mean, data.Y[split.train].toarray().mean(axis=0), rtol=0.1)


def test_nothing_is_known_about_a_component_without_labels():
    graph = pl.Graph.from_edges("abxy", "bcyz")
    with pytest.warns(pl.PlanetoidWarning, match="can say nothing about 3 of 6 nodes"):
        model = pl.LabelPropagation().fit(None, {"a": ["p", "q"], "c": ["q"]}, graph=graph)
    np.testing.assert_allclose(model.predict_proba(nodes=["x"]), [[0.5, 1.0]])


def test_validation_labels_stop_training_and_calibrate(truth):
    data = pl.datasets.make_multilabel(300, 4, within=0.8, seed=2)
    split = data.split("rate", rate=0.3, n_val=60, seed=0)
    model = pl.PlanetoidG(dimension=16, training=pl.Training(pretrain=30, steps=40))
    y, validation = (pl.mask_labels(data.Y, rows) for rows in (split.train, split.val))
    model.fit(None, y, graph=data.graph, validation=validation)
    assert any("val_accuracy" in record for record in model.history_)
    assert model.calibration_.source == "validation labels"
    assert model.calibration_.n_labels == 60


def test_top_and_threshold():
    probabilities = np.array([[0.9, 0.6, 0.1], [0.3, 0.2, 0.1]])
    assert indicator(probabilities, 0.5).tolist() == [[1, 1, 0], [1, 0, 0]]
    assert indicator(probabilities, 0.05).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert indicator(probabilities, 0.5, top=2).tolist() == [[1, 1, 0], [1, 1, 0]]
    assert indicator(probabilities, 0.5, top=[0, 3]).tolist() == [[0, 0, 0], [1, 1, 1]]
    for wrong in (4, -1, [1], 1.5):
        with pytest.raises(ParameterError, match="top must be an integer from 0 to 3"):
            indicator(probabilities, 0.5, top=wrong)


def test_the_threshold_is_that_of_the_best_expected_f1():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.3, 2.0, (400, 5))
    threshold = best_threshold(probabilities)

    def expected(level):
        chosen = probabilities >= level
        return 2 * probabilities[chosen].sum() / (probabilities.sum() + chosen.sum())

    best = max(expected(level) for level in np.linspace(0.01, 0.99, 200))
    assert expected(threshold) >= best
    assert threshold == pytest.approx(expected(threshold) / 2, abs=0.01)  # the well-known optimum


def test_calibration_finds_temperature_and_shift():
    rng = np.random.default_rng(1)
    right = rng.normal(-1, 1.5, (3000, 4))
    labels = sparse.csr_array(rng.random(right.shape) < expit(right))
    found = calibrate_sets(SetSample((right - 0.7) * 2.0, labels, "validation labels"))
    assert found.temperature == pytest.approx(2.0, rel=0.05)
    assert found.shift == pytest.approx(0.7, abs=0.05)
    raw = expit((right[:5] - 0.7) * 2.0)
    np.testing.assert_allclose(logit(found.apply(raw)), right[:5], atol=0.25)
    assert calibrate_sets(SetSample(right[:9], labels[:9], "")).source == "none"


def test_score_is_the_share_of_nodes_whose_labels_are_all_correct():
    X = np.eye(4)[[0, 1, 2, 0, 1, 2]]
    model = pl.Feat(C=100.0).fit(X, [["a"], ["b"], ["a", "b"], ["a"], ["b"], ["a", "b"]])
    truth = [["a"], ["b", "a"], ["b", "a"], [], ["b"], ["c"]]  # two of five are wrong, one of them unknown
    assert model.score(X, truth) == pytest.approx(3 / 5)
    assert model.score(y=truth) == pytest.approx(3 / 5)
    assert model.score(y=truth[:2], nodes=[0, 1]) == pytest.approx(1 / 2)
    assert model.score(y={0: ["a"], 5: ["a"]}) == pytest.approx(1 / 2)
    assert model.score(X, np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]])) == 1.0
    with pytest.raises(pl.DataError, match="y has no labels"):
        model.score(y=[[], [], [], [], [], []])
