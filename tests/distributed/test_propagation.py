"""Label propagation by several processes: rows in blocks, and the same bits as by one."""

import numpy as np
import pytest
from tests.distributed.in_threads import run_together

import planetoid as pl

METHODS = ["LabelPropagation", "LocalGlobalConsistency", "ModifiedAdsorption", "PoissonLearning"]
NOT_ITERATIVE = ("PoissonLearning", "iterative")


@pytest.fixture(scope="module")
def data():
    data = pl.datasets.make_citation(n_nodes=400, seed=0)
    return data.graph, pl.mask_labels(data.y, data.split("random", per_class=5, n_val=20, n_test=20, seed=0).train)


@pytest.mark.filterwarnings("ignore:.*can say nothing about")
@pytest.mark.parametrize(
    ("name", "solver"),
    [(name, solver) for name in METHODS for solver in ("cg", "iterative") if (name, solver) != NOT_ITERATIVE],
)
def test_any_number_of_processes_gives_the_bits_of_one(name, solver, data, monkeypatch):
    monkeypatch.setattr("planetoid.baselines.linear_system.ROWS_PER_TASK", 50)
    graph, y = data

    def fit(exchange=None):
        return getattr(pl, name)(solver=solver).fit(None, y, graph=graph)

    alone = fit()
    assert alone.n_iter_ > 3
    for size in (2, 3):
        for model in run_together(size, fit):
            assert model.n_iter_ == alone.n_iter_
            np.testing.assert_array_equal(model.label_distributions_, alone.label_distributions_)
