"""Tuning: hidden labels stay hidden, the search is the same for any number of processes, and resumes after a stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.evaluation import Protocol, tuning
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
    assert len(later) == 7
    uninterrupted = []
    options = {"protocol": PROTOCOL, "seeds": [5]}
    assert tune("feat", data, trials=10, on_trial=uninterrupted.append, **options) == found
    assert [*seen, *later] == uninterrupted
    assert tune("feat", data, trials=10, journal=journal, on_trial=lambda _: pytest.fail("again"), **options) == found
    more = []
    assert tune("feat", data, trials=12, journal=journal, on_trial=more.append, **options).trials == 12
    assert len(more) == 2


def test_a_trial_that_was_cut_off_does_not_count(data, tmp_path, monkeypatch):
    """It is in no line of the journal, and is tried again."""
    journal = tmp_path / "trials.log"
    score, calls = tuning._score, []

    def dies(task):
        calls.append(task)
        if len(calls) == 4:
            raise MemoryError
        return score(task)

    options = {"trials": 6, "protocol": PROTOCOL, "seeds": [5]}
    monkeypatch.setattr(tuning, "_score", dies)
    with pytest.raises(MemoryError):
        tune("feat", data, journal=journal, **options)
    assert len(journal.read_bytes().splitlines()) == 1 + 3
    monkeypatch.undo()
    assert tune("feat", data, journal=journal, **options) == tune("feat", data, **options)


def test_a_journal_belongs_to_its_search(data, tmp_path):
    journal = tmp_path / "trials.log"
    options = {"trials": 2, "protocol": PROTOCOL, "seeds": [5]}
    tune("feat", data, journal=journal, **options)
    content = journal.read_bytes()
    shuffled = replace(data, y=np.random.default_rng(0).permutation(data.y))
    for other, changed in (
        (shuffled, {}),
        (replace(data, X=data.X * 2), {}),
        (data, {"seeds": [6]}),
        (data, {"seed": 1}),
        (data, {"fixed": {"max_iter": 7}}),
        (data, {"protocol": Protocol(per_class=6, n_val=0, n_test=100)}),
    ):
        with pytest.raises(DataError, match=r"the file belongs to another search .*; name another file"):
            tune("feat", other, journal=journal, **{**options, **changed})
    assert journal.read_bytes() == content
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="this is not a file of planetoid journal"):
        tune("feat", data, journal=tmp_path / "notes.txt", **options)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_half_a_line_is_repaired(data, tmp_path):
    journal = tmp_path / "trials.log"
    options = {"trials": 4, "protocol": PROTOCOL, "seeds": [5]}
    found = tune("feat", data, journal=journal, **options)
    content = journal.read_bytes()
    journal.write_bytes(content[:-30])
    again = []
    assert tune("feat", data, journal=journal, on_trial=again.append, **options) == found
    assert len(again) == 1
    assert journal.read_bytes() == content


def test_two_searches_on_one_journal(data, tmp_path):
    journal, refused = tmp_path / "trials.log", []
    options = {"trials": 3, "protocol": PROTOCOL, "seeds": [5]}

    def second(trial):
        with pytest.raises(DataError, match="another process is writing to the file; wait for it"):
            tune("feat", data, journal=journal, **options)
        refused.append(trial)

    found = tune("feat", data, journal=journal, on_trial=second, **options)
    assert len(refused) == 3
    assert tune("feat", data, journal=journal, **options) == found


def test_fixed_parameters_are_not_searched(data):
    space = {"C": Float(0.1, 10.0), "row_normalize": Categorical((None, "l1", "l2"))}
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


def test_starts_are_tried_after_the_defaults(data):
    """In their order, moved into the space; without any, those of the method."""
    starts = [{"C": 0.5}, {"C": 1e9}, {"row_normalize": "l1"}]
    space = {"C": Float(0.01, 100.0), "row_normalize": Categorical((None, "l1", "l2"))}
    seen = []
    tune("feat", data, trials=4, protocol=PROTOCOL, seeds=[5], space=space, starts=starts, on_trial=seen.append)
    default = pl.Feat()
    assert [trial.parameters for trial in seen[1:]] == [
        {"C": 0.5, "row_normalize": default.row_normalize},
        {"C": 100.0, "row_normalize": default.row_normalize},
        {"C": default.C, "row_normalize": "l1"},
    ]
    seen.clear()
    tune("feat", data, trials=2, protocol=PROTOCOL, seeds=[5], space=space, starts=[], on_trial=seen.append)
    assert 0.01 <= seen[1].parameters["C"] <= 100


def test_parameters_that_have_no_effect_on_several_labels_are_not_searched():
    data = pl.datasets.make_multilabel(120, 3, within=0.8, mean_degree=8, n_features=30, seed=0)
    protocol = Protocol(split="folds", n_folds=2)
    tried = []
    found = tune("planetoid", data, trials=4, protocol=protocol, seeds=[0], on_trial=tried.append)
    assert found.metric == "micro_f1"
    assert {name for trial in tried for name in trial.parameters} == {"view", "row_normalize"}
    assert len({trial.score.mean for trial in tried}) > 1
    with pytest.raises(ParameterError, match=r"no parameters that have an effect.*such as graphemb"):
        tune("planetoid", replace(data, X=None), trials=2, protocol=protocol)
    with pytest.raises(DataError, match="PoissonLearning takes one label per node"):
        tune("poisson", data, trials=2, protocol=protocol)


def test_hidden_label_sets_are_not_in_the_data():
    data = pl.datasets.make_multilabel(50, 3, seed=0)
    hidden = hide_labels(data, [3, 4])
    assert (hidden.y[[3, 4]] == -1).all()
    assert hidden.Y[[3, 4]].nnz == 0
    assert (hidden.Y[[0, 1, 2]] != data.Y[[0, 1, 2]]).nnz == 0
