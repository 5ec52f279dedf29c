"""The bias of each class: what validation labels say about it, and that every prediction has it."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from tests.models.conftest import planetoid

import planetoid as pl
from planetoid.models.class_bias import PENALTY, chosen_bias, with_bias

BIAS = np.array([1.0, 0.0, -0.5])


def sample(n: int, power: float = 1.0):
    """Return probabilities to which a power and a bias are missing, and classes drawn with both."""
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.ones(3), n)
    shares = softmax(power * np.log(probabilities) + power * BIAS, axis=1)
    return probabilities, (shares.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_missing_bias_is_found_whatever_the_temperature(power):
    found = chosen_bias(*sample(20_000, power))
    np.testing.assert_allclose(found - found[1], BIAS, atol=0.1)


def test_few_labels_move_it_little_and_very_few_not_at_all():
    probabilities, codes = sample(20_000)
    sizes = [float(np.abs(chosen_bias(probabilities[:n], codes[:n])).max()) for n in (9, 30, 20_000)]
    assert sizes[0] == 0.0
    assert sizes[0] < sizes[1] < sizes[2]


def test_at_the_solution_the_penalty_balances_the_labels():
    """Of two classes without any evidence, 90 labels of 100 are of the first."""
    bias = chosen_bias(np.full((100, 2), 0.5), np.arange(100) // 90).astype(np.float64)
    assert 100 * (softmax(bias)[0] - 0.9) + PENALTY * bias[0] == pytest.approx(0, abs=0.01)
    assert bias[1] == pytest.approx(-bias[0], abs=1e-4)


def test_labels_that_were_chosen_by_class_say_nothing():
    probabilities, codes = sample(20_000)
    some = np.concatenate([np.flatnonzero(codes == k)[:50] for k in range(3)])
    assert not chosen_bias(probabilities[some], codes[some]).any()
    assert chosen_bias(probabilities[some[:120]], codes[some[:120]]).any()  # 50, 50 and 20


def test_it_adds_to_the_logarithms():
    probabilities = sample(50)[0].astype(np.float32)
    found = with_bias(probabilities, BIAS.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.log(found), log_softmax(np.log(probabilities) + BIAS, axis=1), atol=1e-5)


@pytest.fixture(scope="module")
def with_validation(citation):
    """A model whose validation labels are mostly of class 0, so that this class becomes more frequent."""
    data, split = citation
    others = np.setdiff1d(np.flatnonzero(data.y >= 0), np.concatenate([split.train, split.test]))
    first = others[data.y[others] == 0]
    validation = pl.mask_labels(data.y, np.concatenate([first, others[data.y[others] != 0][: len(first) // 4]]))
    model = planetoid(student=True, calibrate=False)
    return model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph, validation=validation)


def unbiased(model):
    """Return a copy of a model without the bias."""
    bare = deepcopy(model)
    bare.class_bias_ = np.zeros_like(model.class_bias_)
    return bare


def test_a_class_that_is_frequent_among_validation_labels_is_predicted_more_often(citation, with_validation):
    data, split = citation
    without = planetoid(student=True, calibrate=False)
    without.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert with_validation.class_bias_.argmax() == 0
    assert with_validation.predict_proba()[:, 0].mean() > without.predict_proba()[:, 0].mean() + 0.01
    assert not without.class_bias_.any()


def test_every_kind_of_prediction_has_it_also_of_a_loaded_model(citation, with_validation, tmp_path):
    data, _ = citation
    with_validation.save(tmp_path / "model")
    model, bare = pl.load(tmp_path / "model"), unbiased(with_validation)
    rows = data.X[:20].copy()
    rows.data *= np.linspace(0.5, 1.5, rows.nnz)  # so that none equals a fitted row
    edges = [(node, f"new{k}") for k, node in enumerate(list(model.node_ids_)[:20])]
    new = [f"new{k}" for k in range(20)]
    for ask in (
        lambda one: one.predict_proba(rows),
        lambda one: one.predict_proba(data.X[:20]),
        lambda one: one.predict_proba(rows, edges=edges, ids=new),
    ):
        np.testing.assert_allclose(ask(model), with_bias(ask(bare), model.class_bias_), atol=1e-6)
    known = model.predict_proba(nodes=list(model.node_ids_)[:20])
    np.testing.assert_allclose(model.predict_proba(data.X[:20]), known, rtol=1e-6)


@pytest.mark.parametrize("of_new_row", [False, True])
def test_reasons_count_it_as_the_rest_of_the_score(citation, with_validation, of_new_row):
    data, _ = citation
    row = 7
    asked = {"X": data.X[[row]]} if of_new_row else {"node": with_validation.node_ids_[row]}
    one, other = (model.explain(**asked) for model in (with_validation, unbiased(with_validation)))
    assert (one.label, one.runner_up) == (other.label, other.runner_up)
    classes = list(with_validation.classes_)
    bias = with_validation.class_bias_[[classes.index(one.label), classes.index(one.runner_up)]]
    assert abs(bias[0] - bias[1]) > 0.1
    assert one.score - other.score == pytest.approx(bias[0] - bias[1], abs=1e-4)
    whole = one.features if of_new_row else one.neighbours
    assert whole.base + whole.total == pytest.approx(one.score, abs=1e-3)
