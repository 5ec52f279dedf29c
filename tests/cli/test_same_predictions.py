"""The command line, ``read_dataset`` and arrays in Python are one program: the same predictions, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.cli.conftest import QUICK

import planetoid as pl
from planetoid.cli.settings import parse_settings, settings_by_method

pytestmark = pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")

SETTINGS = {"planetoid-t": QUICK, "planetoid-i": QUICK, "planetoid-g": QUICK}
METHODS = ("lp", "feat", "ica", "planetoid-g", "planetoid-t", "planetoid-i")


def model_of(method):
    """A model with the parameters that the command line gives it."""
    parameters = settings_by_method([method], parse_settings(SETTINGS.get(method, ())[1::2]))[method]
    model = pl.METHODS[method]()
    seeded = {"random_state": 3} if "random_state" in model.get_params(deep=False) else {}
    return model.set_params(**seeded | parameters)


@pytest.fixture(scope="module")
def tokens(files, tmp_path_factory):
    """The features as lines of tokens, which are read as a sparse matrix; Parquet is read as a dense one."""
    path = tmp_path_factory.mktemp("tokens") / "tokens.txt"
    X = files.data.X
    lines = [" ".join([name, *(f"w{k}" for k in X[[row]].indices)]) for row, name in enumerate(files.names)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("form", ["parquet", "tokens"])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_predictions_in_three_ways(files, tokens, done, tmp_path, method, form):
    path = files.features if form == "parquet" else tokens
    done(
        *("fit", "--edges", files.edges, "--features", path, "--labels", files.labels),
        *("--validation", files.validation, "--method", method, *SETTINGS.get(method, ())),
        *("--seed", 3, "--out", tmp_path / "model", "--quiet"),
    )
    by_command = pl.load(tmp_path / "model")

    data = pl.read_dataset(files.edges, path, files.labels, files.validation)
    by_dataset = model_of(method).fit(data)

    # By hand: nodes in natural order, columns in the order of their names, one label per node.
    nodes = files.names.tolist()
    edges = pd.read_csv(files.edges)
    graph = pl.Graph.from_edges(edges.source, edges.target, nodes=nodes)
    features = pd.read_parquet(files.features).set_index("id")
    X = features[sorted(features.columns)].loc[nodes].to_numpy(np.float32)
    X = X if form == "parquet" else sparse.csr_array(X)
    y, validation = (pd.read_csv(path).set_index("id").label.to_dict() for path in (files.labels, files.validation))
    cls = pl.METHODS[method]
    by_arrays = model_of(method).fit(None if cls.uses_features == "never" else X, y, graph=graph, validation=validation)

    assert by_command.node_ids_ == by_dataset.node_ids_ == by_arrays.node_ids_
    assert by_command.classes_.tolist() == by_dataset.classes_.tolist() == by_arrays.classes_.tolist()
    assert np.array_equal(by_command.predict_proba(), by_dataset.predict_proba())
    assert np.array_equal(by_arrays.predict_proba(), by_dataset.predict_proba())
    if cls.uses_features != "never":
        assert by_command.feature_names_in_.tolist() == by_dataset.feature_names_in_.tolist()


def test_nodes_without_an_edge_are_kept(files):
    """As the recipe of the README has it."""
    data = pl.read_dataset(edges=files.edges, features=files.features, labels=files.labels)
    model = pl.LabelPropagation().fit(data)
    assert len(model.predict()) == data.n_nodes == files.data.n_nodes
    isolated = data.node_ids[data.graph.degrees == 0]
    assert len(isolated) > 0
    assert set(model.predict(nodes=isolated)) <= set(model.classes_)
