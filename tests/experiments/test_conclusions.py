"""Differences between cells that are comparable."""

import pytest

from planetoid.evaluation import Protocol, Spread
from planetoid.experiments.cells import Cell, RowLabels
from planetoid.experiments.conclusions import compare_methods, conclusions_markdown
from planetoid.experiments.render import CellResult


@pytest.fixture
def entry(results):
    def make(method, settings, mean, *, stopping="fixed", setting="unseen", paper=0.7, dataset="nell-0.1", runs=2):
        cell = Cell(
            table="table5",
            section="public split",
            row=RowLabels(method, settings, stopping, setting),
            dataset=dataset,
            method=method,
            protocol=Protocol("public", setting=setting),
            paper=paper,
        )
        return CellResult(cell, Spread(mean, 0.03 if runs > 1 else None), 1.0, results[:runs])

    return make


def test_a_conclusion_is_a_difference_of_comparable_cells(entry):
    entries = [
        entry("planetoid-i", "paper", 0.68, paper=0.702),
        entry("planetoid-i", "tuned", 0.70, paper=0.702),
        entry("planetoid-i", "tuned", 0.98, stopping="validation"),
        entry("planetoid-i", "tuned", 0.97, setting="features"),
        entry("planetoid-g", "paper", 0.80, paper=0.845),
        entry("planetoid-g", "tuned", 0.85, paper=0.845),
        entry("semiemb", "paper", 0.60, paper=0.654),
    ]
    found = {(one.worse, one.settings): one for one in compare_methods(entries)}
    assert {key: round(one.ours, 3) for key, one in found.items()} == {
        ("semiemb", "paper"): 0.08,
        ("semiemb", "tuned"): 0.10,  # SemiEmb has one kind of settings
        ("planetoid-g", "paper"): -0.12,
        ("planetoid-g", "tuned"): -0.15,
    }
    one = found["semiemb", "tuned"]
    assert (one.better, one.dataset) == ("planetoid-i", "nell-0.1")
    assert one.paper == pytest.approx(0.048)
    assert one.error == pytest.approx(0.03)  # two runs each: (0.03^2 / 2 + 0.03^2 / 2)^(1/2)
    assert conclusions_markdown([one]).endswith("| Planetoid-I - SemiEmb | tuned | +4.8 | +10.0 ± 3.0 |")


def test_a_single_run_of_a_random_method_has_no_error(entry):
    once = entry("planetoid-i", "paper", 0.68, runs=1)
    (one,) = compare_methods([once, entry("semiemb", "paper", 0.60)])
    assert one.error is None
    assert conclusions_markdown([one]).endswith("| +0.0 | +8.0 |")
    (of_graph,) = compare_methods([entry("feat", "paper", 0.60, runs=1), entry("graphemb", "paper", 0.50)])
    assert of_graph.error == pytest.approx(0.03 / 2**0.5)  # Feat is not random


def test_settings_that_were_not_run_are_not_replaced_by_others(entry):
    entries = [
        entry("planetoid-g", "printed", 0.7),
        entry("planetoid-g", "paper", 0.8),
        entry("planetoid-g", "paper", 0.8, dataset="nell-0.01"),
        entry("graphemb", "printed", 0.7),
        entry("graphemb", "printed", 0.7, dataset="nell-0.01"),
    ]
    found = [(one.dataset, one.settings) for one in compare_methods(entries)]
    assert found == [("nell-0.1", "printed"), ("nell-0.1", "paper"), ("nell-0.01", "paper")]
