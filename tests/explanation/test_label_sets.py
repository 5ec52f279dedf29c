"""Why a node has a label, where nodes may have several: whatever takes such labels explains them one by one."""

import json
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from tests.explanation.conftest import SMALL, fit

import planetoid as pl
from planetoid.errors import DataError
from planetoid.explanation.contributions import Question
from planetoid.models import label_set_views

METHODS = [name for name in pl.METHODS if pl.METHODS.info(name).multi_label]
CLASSES = np.array(["ash", "beech", "cedar", "dogwood"], dtype=object)
N = 100
REGRESSIONS = ("feat", "graphemb", "planetoid")


@cache
def several():
    """100 people ``p0``, ``p1``, ... in overlapping groups, of whom 40 have known ones, with words of their groups."""
    made = pl.datasets.make_multilabel(N, 4, within=0.85, mean_degree=10, seed=3)
    rng = np.random.default_rng(0)
    words = rng.random((4, 30)) < 0.25
    chances = np.clip(0.04 + 0.5 * made.Y.toarray() @ words, 0, 1)
    X = sparse.csr_array((rng.random((N, 30)) < chances).astype(np.float32))
    graph = pl.Graph.from_scipy(made.graph.to_scipy(), nodes=[f"p{k}" for k in range(N)])
    y = made.y.copy()
    y[40:] = -1
    names = np.array([f"w{k}" for k in range(30)], dtype=object)
    return pl.Dataset("several", graph, X, y, CLASSES, Y=made.Y, feature_names=names)


@cache
def raw(method):
    """A model whose probabilities are not calibrated: their log-odds are the scores."""
    return fit(method, several(), calibrate=False)


def ask(model, row, code, x=None, data=None):
    data = several() if data is None else data
    contrast = np.zeros(4)
    contrast[code] = 1.0
    x = data.X[[row]] if x is None and model.uses_features != "never" else x
    return model._explain(Question(row, x, contrast, data, type(model).__name__, multi_label=True))


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_the_score_is_what_the_model_predicts(self, method):
        model = raw(method)
        for node in ("p50", "p71"):
            for code, label in enumerate(CLASSES):
                found = model.explain(node, label=label)
                probability = model.predict_proba(nodes=[node])[0, code]
                assert found.probability == probability
                if method == "lp":
                    assert min(found.score, 1.0) == pytest.approx(probability, abs=1e-4)
                else:
                    assert found.score == pytest.approx(logit(probability), abs=1e-3)
                for group in found.groups:
                    if group.base is not None:
                        assert group.base + group.total == pytest.approx(found.score, abs=1e-6)

    def test_names_and_numbers_are_those_of_the_user(self, method):
        data, model = several(), raw(method)
        found = model.explain("p50", top=3)
        assert (found.node, found.runner_up, found.runner_up_probability) == ("p50", None, None)
        assert found.label == CLASSES[model.predict_proba(nodes=["p50"])[0].argmax()]
        known = {f"p{row}": tuple(CLASSES[data.Y[[row]].indices]) if row < 40 else None for row in range(N)}
        for group in found.groups:
            assert group.meaning
            assert 0 < len(group.reasons) <= group.n_reasons
            if group.kind == "features":
                assert {reason.name for reason in group.reasons} <= set(data.feature_names)
            else:
                assert all(reason.labels == known[reason.name] for reason in group.reasons)
        assert f"p50: {found.label} (" in repr(found)
        assert "rather than" not in repr(found) + found._repr_html_()
        plain = json.loads(json.dumps(found.to_dict()))
        for group, shown in zip(found.groups, plain["groups"], strict=True):
            for reason, entry in zip(group.reasons, shown["reasons"], strict=True):
                assert entry.get("labels") == (None if reason.labels is None else list(reason.labels))
                assert reason.label is None
                assert "; ".join(reason.labels or ()) in repr(found)

    def test_labelled_nodes(self, method):
        found = raw(method).explain("p0")
        assert np.isfinite(found.score)
        if method == "lp":
            assert found.score == 1.0
            assert "keeps the labels" in found.note
            missing = next(label for code, label in enumerate(CLASSES) if not several().Y[[0]].toarray()[0, code])
            assert raw(method).explain("p0", label=missing).score == 0.0

    def test_saved_and_pickled_models_give_the_same_reasons(self, method, tmp_path):
        model = raw(method)
        expected = model.explain("p50").to_dict()
        model.save(tmp_path / "model")
        for other in (pl.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            found = other.explain("p50").to_dict()
            assert found["score"] == pytest.approx(expected["score"], rel=1e-5)
            for one, another in zip(found["groups"], expected["groups"], strict=True):
                assert one["total"] == pytest.approx(another["total"], rel=1e-4)
                assert [reason.get("labels") for reason in one["reasons"]] == [
                    reason.get("labels") for reason in another["reasons"]
                ]

    def test_a_model_without_its_data_takes_it_as_an_argument(self, method, tmp_path):
        raw(method).save(tmp_path / "model", data=False)
        loaded = pl.load(tmp_path / "model")
        with pytest.raises(DataError, match="pass data="):
            loaded.explain("p50")
        found = loaded.explain("p50", data=several())
        assert found.score == pytest.approx(raw(method).explain("p50").score, rel=1e-5)
        one_each = replace(several(), Y=None)
        with pytest.raises(DataError, match="one label per node, unlike that of the fit"):
            loaded.explain("p50", data=one_each)

    def test_new_rows(self, method):
        model, row = raw(method), several().X[[50]].copy()
        row.data[0] += 0.5
        if not model.inductive:
            with pytest.raises(pl.NotInductiveError):
                model.explain(X=row)
            return
        found = model.explain(X=row, label="beech")
        assert found.probability == model.predict_proba(row)[0, 1]
        assert found.score == pytest.approx(logit(found.probability), abs=1e-3)
        if found.features.base is not None:
            assert found.features.base + found.features.total == pytest.approx(found.score, abs=1e-6)
        assert found.labels.reasons


def test_a_labelled_node_speaks_for_a_label_that_it_has_and_against_any_other():
    """Where no product of two rows is negative."""
    for node in ("p50", "p71"):
        for label in CLASSES:
            found = raw("feat").explain(node, label=label, top=N).labels
            assert all(label in reason.labels for reason in found.supporting)
            assert not any(label in reason.labels for reason in found.opposing)


@pytest.mark.parametrize("method", REGRESSIONS)
def test_the_weights_are_a_sum_over_labelled_nodes(method):
    """But for intercepts and the tolerance of the solver: differences between two nodes have no intercept."""
    model = raw(method)
    one, other = (ask(model, row, 1) for row in (50, 71))
    totals = [next(part for part in found.parts if part.kind == "labels").values.sum() for found in (one, other)]
    assert totals[0] - totals[1] == pytest.approx(one.score - other.score, abs=0.05)


@pytest.mark.parametrize("method", ["feat", "planetoid-i", "planetoid-t"])
def test_without_its_strongest_features_a_label_is_less_likely(method):
    model, data = raw(method), several()
    strongest, others = [], []
    for row in range(40, 60):
        code = int(model.label_distributions_[row].argmax())
        answer = ask(model, row, code)
        part = next(part for part in answer.parts if part.kind == "features")
        order = part.at[np.argsort(-part.values)]
        for columns, falls in ((order[:2], strongest), (order[-2:], others)):
            x = sparse.lil_array(data.X[[row]])
            x[:, columns] = 0.0
            falls.append(answer.score - ask(model, row, code, sparse.csr_array(x)).score)
    assert np.mean(strongest) > 0 > np.mean(others)


@pytest.mark.parametrize("most_columns", [512, 16])
def test_neighbours_and_features_of_planetoid_are_sums(monkeypatch, most_columns):
    """Of the features around a node, also if they are projected; what is not a neighbour or feature is the rest."""
    monkeypatch.setattr(label_set_views, "MOST_COLUMNS", most_columns)
    data = replace(several())  # with no memory of other projections
    model = fit("planetoid", data, calibrate=False, view="neighbourhood", random_state=7)
    model._sets_model.together.weights["labels"] = 0.0  # alone, so that both kinds of reasons have the same sum
    found = ask(model, 50, 2, data=data)
    neighbours, features = (
        next(part for part in found.parts if part.kind == kind) for kind in ("neighbours", "features")
    )
    assert neighbours.values.sum() == pytest.approx(features.values.sum(), abs=1e-4)
    other = ask(model, 71, 2, data=data)  # centring is the same for all nodes
    rest = next(part for part in other.parts if part.kind == "features").base
    assert features.base == pytest.approx(rest, abs=1e-4)


def test_labels_around_a_node_are_compared_with_their_frequency():
    """What labelled neighbours add is what the view of labels says, but for what all nodes have in common."""
    data = several()
    model = fit("planetoid", data, calibrate=False, view="graph")
    model._sets_model.together.weights["graph"] = 0.0
    bases = [next(part for part in ask(model, row, 0).parts if part.kind == "neighbours").base for row in range(30, 70)]
    assert np.ptp(bases) == pytest.approx(0.0, abs=1e-8)
    found = ask(model, 50, 0)
    part = next(part for part in found.parts if part.kind == "neighbours")
    assert (data.y[part.at] >= 0).all()


def test_planetoid_without_edges_or_features():
    data = several()
    alone = pl.Planetoid(calibrate=False, **SMALL.get("planetoid", {})).fit(data.X, data.Y.toarray()[:])
    assert alone.explain(50).features.reasons
    graph = fit("planetoid", replace(data, X=None, feature_names=None), calibrate=False)
    found = graph.explain("p50")
    assert found.features is None
    assert found.neighbours.reasons


def test_a_report_shows_reasons(tmp_path):
    pl.report.write_report(tmp_path / "report.html", raw("lp"), max_points=20, max_reasons=5)
    page = (tmp_path / "report.html").read_text()
    assert "probability that a random walk first meets" in page
