"""Tuning: hidden labels stay hidden, the search is the same for any number of processes, and resumes after a stop."""

from __future__ import annotations

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.evaluation import Protocol
from planetoid.evaluation.tuning import hide_labels, tune
from planetoid.parameters import Parameters
from planetoid.search_space import Categorical, Float

PROTOCOL = Protocol(per_class=5, n_val=0, n_test=100)


@pytest.fixture(scope="module")
def data():
    return pl.datasets.make_citation(300, 3, 60, seed=0)


def test_hidden_labels_are_in_no_split(data):
    rows = np.arange(100)
    hidden = hide_labels(data, rows)
    assert (data.y[rows] >= 0).all()  # the original is as it was
    assert hidden.graph is data.graph
    for seed in range(5):
        split = PROTOCOL.draw(hidden, seed)
        assert not np.isin(rows, np.concatenate([split.train, split.val, split.test])).any()


def test_the_best_trial_wins_and_is_at_least_the_default(data):
    seen = []
    found = tune("feat", data, trials=12, protocol=PROTOCOL, seeds=[5, 6], on_trial=seen.append)
    assert found.trials == len(seen) == 12
    assert found.score.mean == max(trial.score.mean for trial in seen)
    assert found.default == seen[0].score
    assert (seen[0].number, seen[0].parameters) == (-1, {})  # the defaults come first
    assert found.score.mean >= found.default.mean
    # the score is what the parameters give on those splits
    again = pl.METHODS["feat"](**found.parameters)
    scores = []
    for seed in (5, 6):
        split = PROTOCOL.draw(data, seed)
        fitted = again.fit(data.X, pl.mask_labels(data.y, split.train))
        scores.append((fitted.predict()[split.test] == data.y[split.test]).mean())
    assert np.mean(scores) == pytest.approx(found.score.mean)


def test_the_same_choice_for_any_number_of_processes(data):
    one, two = (tune("feat", data, trials=9, protocol=PROTOCOL, seeds=[5], jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_an_interrupted_search_resumes(data, tmp_path):
    journal = tmp_path / "trials.log"
    seen = []

    def stop_soon(trial):
        seen.append(trial)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune("feat", data, trials=10, protocol=PROTOCOL, seeds=[5], journal=journal, on_trial=stop_soon)
    later = []
    found = tune("feat", data, trials=10, protocol=PROTOCOL, seeds=[5], journal=journal, on_trial=later.append)
    assert found.trials == 10
    assert 0 < len(later) < 10
    best = max(trial.score.mean for trial in [*seen, *later] if trial.score)
    assert found.score.mean == pytest.approx(best)
    assert (
        tune("feat", data, trials=10, protocol=PROTOCOL, seeds=[5], journal=journal) == found
    )  # nothing is left to do


def test_fixed_parameters_are_not_searched(data):
    space = {"C": Float(0.1, 10.0), "row_normalize": Categorical(("l1", "l2"))}
    found = tune("feat", data, trials=3, protocol=PROTOCOL, seeds=[5], space=space, fixed={"row_normalize": "l1"})
    assert found.parameters["row_normalize"] == "l1"


def test_a_failed_trial_is_reported_and_left_out(data):
    seen = []
    space = {"C": Categorical((-1.0, 1.0))}
    found = tune("feat", data, trials=8, protocol=PROTOCOL, seeds=[5], space=space, on_trial=seen.append)
    failed = [trial for trial in seen if trial.score is None]
    assert failed
    assert all("C" in trial.failure and "-1" in trial.failure for trial in failed)
    assert found.parameters.get("C", 1.0) == 1.0
    with pytest.raises(DataError, match="every trial of feat failed"):
        tune("feat", data, trials=2, protocol=PROTOCOL, seeds=[5], space={}, fixed={"C": -1.0})


def test_clear_errors(data):
    with pytest.raises(ParameterError, match="trials must be an integer >= 1, got 0"):
        tune("feat", data, trials=0)
    with pytest.raises(ParameterError, match="feat has no parameter 'D'"):
        tune("feat", data, trials=1, fixed={"D": 1})


def test_nested_parameters_are_searched(data):
    space = {"training__steps": Categorical((5, 6)), "contexts__d": Categorical((3,))}
    seen = []
    fixed = {"dimension": 8, "training__pretrain": 1}
    found = tune(
        "planetoid-t", data, trials=3, protocol=PROTOCOL, seeds=[5], space=space, fixed=fixed, on_trial=seen.append
    )
    assert {trial.parameters["training__steps"] for trial in seen[1:]} <= {5, 6}
    assert found.parameters["training__pretrain"] == 1
    model = pl.METHODS["planetoid-t"]().set_params(**found.parameters)
    assert (model.dimension, model.training.pretrain) == (8, 1)
    with pytest.raises(ParameterError, match="planetoid-t has no parameter 'steps'"):
        tune("planetoid-t", data, trials=1, fixed={"steps": 1})


@pytest.mark.parametrize("method", list(pl.METHODS))
def test_every_search_space_has_valid_parameters(method, data):
    cls = pl.METHODS[method]
    if not cls.search_space:
        with pytest.raises(ParameterError, match=f"{method} has no parameters to tune"):
            tune(method, data, trials=1)
    leaves = {name for name, value in cls().get_params().items() if not isinstance(value, Parameters)}
    for name, entry in cls.search_space.items():
        assert name in leaves
        for value in entry.values if isinstance(entry, Categorical) else (entry.low, entry.high):
            cls().set_params(**{name: value})._check_parameters()
    for start in cls.search_starts:
        assert set(start) <= leaves
        cls().set_params(**start)._check_parameters()
