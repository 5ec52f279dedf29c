"""A small citation graph with 15 labels per class, for tests of calibration."""

import planetoid as pl


def small_citation():
    """Return the dataset and its split."""
    data = pl.datasets.make_citation(n_nodes=1000, n_classes=4, n_features=80, seed=3)
    return data, data.split("random", per_class=15, n_val=200, n_test=600, seed=0)


def fit(method, citation, **parameters):
    """Fit a method to the labels of the split, with the features and the graph if it takes them."""
    data, split = citation
    model = pl.METHODS[method](**parameters)
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    X = None if model.uses_features == "never" else data.X
    return model.fit(X, pl.mask_labels(data.y, split.train), **given)
