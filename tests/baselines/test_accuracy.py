"""Accuracy on the public splits: not below the paper's figure for the method, less one point.

The defaults were chosen by the accuracy on random splits (seeds 100-104, for the
last three 1000-1009), never on the public one.
"""

import numpy as np
import pytest

import planetoid as pl

DATASETS = ("cora", "citeseer", "pubmed")

# method and parameters: the figures to reach on Cora, Citeseer and Pubmed. Where there is none, a fit takes too
# long for a test; benchmarks/bench_baselines.py measures it.
CASES = {
    ("feat", ()): (56.4, 56.2, 68.8),
    ("lp", ()): (73.0, 50.0, 72.0),
    ("mad", ()): (67.0, 44.3, 62.0),  # the paper's LP is Junto, which is this
    ("manireg", ()): (58.5, 59.1, 69.7),
    ("manireg", (("kind", "network"),)): (58.5, 59.1, 69.7),
    ("semiemb", ()): (58.0, 58.6, 70.1),
    ("tsvm", ()): (56.5, 63.0, None),
    ("poisson", ()): (71.8, 50.1, 71.8),  # not in the paper; one point below what was measured
    ("ssgc", ()): (82.4, 71.2, 78.6),  # others report 83.4, 73.4 and 79.6, tuned per data set
    ("ssgc", (("variant", "sgc"), ("K", 2))): (80.0, 70.9, 77.9),  # SGC's paper: 81.0, 71.9 and 78.9
}


@pytest.fixture(scope="module")
def citation(data_root):
    return {name: pl.datasets.load(name, root=data_root) for name in DATASETS}


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(("method", "parameters"), list(CASES))
@pytest.mark.filterwarnings("ignore:.*can say nothing about")
def test_reaches_the_figure(method, parameters, dataset, citation):
    figure = CASES[method, parameters][DATASETS.index(dataset)]
    if figure is None:
        pytest.skip("half a minute")
    data = citation[dataset]
    split = data.split("public")
    cls = pl.METHODS[method]
    model = cls(**dict(parameters)).fit(
        None if cls.uses_features == "never" else data.X,
        pl.mask_labels(data.y, split.train),
        graph=None if cls.uses_graph == "never" else data.graph,
    )
    accuracy = 100 * np.mean(model.predict()[split.test] == data.y[split.test])
    assert accuracy >= figure - 1e-9
