"""Accuracy on the public splits: not below the paper's figure for the method, less one point.

The parameters were chosen by the accuracy on random splits (seeds 100-104),
never on the public one.
"""

import numpy as np
import pytest

import planetoid as pl

DATASETS = ("cora", "citeseer", "pubmed")

CASES = {
    # method: parameters for each data set, and the figures to reach (Cora, Citeseer, Pubmed)
    "lp": ([{}, {}, {}], (73.0, 50.0, 72.0)),
    "mad": ([{}, {}, {}], (67.0, 44.3, 62.0)),  # the paper's LP is Junto, which is this
}


@pytest.fixture(scope="module")
def citation(data_root):
    return {name: pl.datasets.load(name, root=data_root) for name in DATASETS}


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("method", list(CASES))
@pytest.mark.filterwarnings("ignore:.*can say nothing about")
def test_reaches_the_figure(method, dataset, citation):
    parameters, figures = CASES[method]
    at = DATASETS.index(dataset)
    data = citation[dataset]
    split = data.split("public")
    cls = pl.METHODS[method]
    model = cls(**parameters[at]).fit(
        None if cls.uses_features == "never" else data.X,
        pl.mask_labels(data.y, split.train),
        graph=None if cls.uses_graph == "never" else data.graph,
    )
    accuracy = 100 * np.mean(model.predict()[split.test] == data.y[split.test])
    assert accuracy >= figures[at] - 1e-9
