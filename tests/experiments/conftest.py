"""Cells and results to build tables from."""

from dataclasses import replace

import pytest

from planetoid.evaluation import Protocol, Result
from planetoid.experiments.cells import Cell, RowLabels

TINY = Protocol(per_class=5, n_val=0, n_test=200)


def make_cell(**changes):
    row = RowLabels("LP", "defaults", "fixed", "in the graph")
    return replace(Cell("table3", "random splits", row, "cora-bundled", "lp", TINY, {}, 0.68), **changes)


@pytest.fixture
def results():
    """Two runs with accuracies 0.70 and 0.72."""
    return [
        Result("lp", "cora", "p", seed, {"accuracy": accuracy}, 0.5, 0.0, 1, 1, 1)
        for seed, accuracy in enumerate((0.70, 0.72))
    ]
