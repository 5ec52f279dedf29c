"""Differences between cells that are comparable."""

import pytest

from planetoid.evaluation import Protocol, Spread
from planetoid.experiments.cells import Cell, RowLabels
from planetoid.experiments.conclusions import compare_methods, conclusions_markdown
from planetoid.experiments.render import CellResult


def test_a_conclusion_is_a_difference_of_comparable_cells(results):
    def entry(method, settings, mean, *, stopping="fixed", setting="unseen", paper=0.7):
        cell = Cell(
            table="table5",
            section="public split",
            row=RowLabels(method, settings, stopping, setting),
            dataset="nell-0.1",
            method=method,
            protocol=Protocol("public", setting=setting),
            paper=paper,
        )
        return CellResult(cell, Spread(mean, 0.03), 1.0, results)

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
