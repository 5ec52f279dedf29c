"""``planetoid tune``: what is printed about the best parameters."""

import pytest

from planetoid.evaluation import tuning
from planetoid.evaluation.results import Spread
from planetoid.evaluation.tuning import Tuned


@pytest.fixture
def found(monkeypatch):
    """Replace the search by a given result."""

    def come_to(parameters, trials=20, seeds=(1000, 1001, 1002)):
        score, default = Spread.of([0.5, 0.75]), Spread.of([0.5, 0.5])
        best = score if parameters else default
        ended = Tuned("lp", "files", "words", parameters, "accuracy", best, default, trials, list(seeds))
        monkeypatch.setattr(tuning, "tune", lambda *given, **options: ended)

    return come_to


def test_the_best_parameters_and_how_to_use_them(files, found, done):
    found({"alpha": 0.5, "training__width": None})
    lines = done("tune", *files.graph(), "--method", "lp").stdout.splitlines()
    rows = [line.split() for line in lines]
    assert ["parameter", "value"] in rows
    assert ["alpha", "0.5"] in rows
    assert any("over 3 splits, 20 trials; defaults: 50.0" in line for line in lines)
    assert lines[-1].endswith("--method lp --set alpha=0.5 --set training.width=none")


def test_the_defaults_are_the_best(files, found, done):
    found({})
    first, second, command = done("tune", *files.graph(), "--method", "lp").stdout.splitlines()
    assert first == "No trial is better than the defaults: keep them."
    assert second.startswith("Accuracy 50.0")
    assert command.endswith("--method lp")


def test_the_defaults_beside_what_was_set_are_the_best(files, found, done):
    found({"max_iter": 7})
    text = done("tune", *files.graph(), "--method", "lp", "--set", "max_iter=7").stdout
    assert text.startswith("No trial is better than the defaults")
    assert text.rstrip().endswith("--set max_iter=7")


def test_one_trial_on_one_split_really_run(files, done):
    command = ["tune", *files.graph(), "--method", "lp", "--trials", "1", "--splits", "1", "--jobs", "1", "--quiet"]
    first, second, _ = done(*command).stdout.splitlines()
    assert first == "Only the defaults were tried."
    assert "over 1 split, 1 trial; defaults" in second


def test_a_method_that_the_data_does_not_suit_is_rejected_before_the_search(files, refused):
    message = refused("tune", *files.graph(), "--method", "planetoid-t", "--trials", "1")
    assert message == "planetoid-t does not suit the data: it requires features (--method)"
