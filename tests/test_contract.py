"""One contract for every method: whatever is in ``pl.METHODS`` goes through all of this.

What is expected of a method follows from its class attributes ``uses_features``,
``uses_graph`` and ``inductive``. A method that is slow with its defaults gets
smaller parameters in ``FAST``.
"""

import copy
import inspect
import io
import pickle
import random

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import planetoid as pl
from planetoid.errors import DataError, NotInductiveError, ParameterError, PlanetoidWarning
from planetoid.search_space import Categorical

FAST: dict[str, dict[str, object]] = {
    "graphemb": {"dimension": 16, "pretrain": 100},
    "planetoid-t": {"dimension": 16, "training__pretrain": 100},
    "planetoid-g": {"dimension": 16, "training__pretrain": 100},
    "planetoid-i": {"dimension": 16, "training__pretrain": 20},
    "semiemb": {"steps": 60, "width": 16},
}

CLASSES = ("amber", "birch", "cedar")
SIZE = 15  # nodes per class
N = SIZE * len(CLASSES)
WORDS = 5  # words per class, and as many that belong to none

# Methods that cannot tell the weights of three nodes apart, and why; on two cliques they do.
NEEDS_MORE_THAN_THREE_NODES = {
    "ica": "learns what a neighbour's label means from labelled nodes with labelled neighbours",
    "diel": "random walks from either label reach the middle with the same probability",
    "graphemb": "embeddings of three nodes are almost arbitrary",
    "planetoid-g": "embeddings of three nodes are almost arbitrary",
    "planetoid-t": "embeddings of three nodes are almost arbitrary",
}


def blocks_of(rng, truth):
    """Feature rows in which most words are of the node's own class."""
    chance = np.full((len(truth), WORDS * (len(CLASSES) + 1)), 0.1)
    for k in range(len(CLASSES)):
        chance[truth == k, k * WORDS : (k + 1) * WORDS] = 0.7
    rows = (rng.random(chance.shape) < chance).astype(np.float32)
    rows[np.arange(len(truth)), truth * WORDS] = 1.0
    return rows


class Toy:
    """Three communities whose words and edges agree; three labels per class."""

    def __init__(self):
        rng = np.random.default_rng(7)
        self.truth = np.repeat(np.arange(len(CLASSES)), SIZE)
        same = self.truth[:, None] == self.truth[None, :]
        edge = np.triu(rng.random((N, N)) < np.where(same, 0.4, 0.01), 1)
        edge[np.arange(N - 1), np.arange(1, N)] = self.truth[1:] == self.truth[:-1]  # no node is isolated
        self.edges = np.nonzero(edge)
        self.graph = pl.Graph.from_edges(*self.edges, nodes=N)
        self.X = blocks_of(rng, self.truth)
        self.new_truth = np.tile(np.arange(len(CLASSES)), 10)
        self.X_new = blocks_of(rng, self.new_truth)
        self.labelled = np.concatenate([np.flatnonzero(self.truth == k)[[0, 5, 10]] for k in range(len(CLASSES))])
        self.y = pl.mask_labels(self.truth, self.labelled)
        self.names = pl.mask_labels(np.array(CLASSES, dtype=object)[self.truth], self.labelled)


@pytest.fixture(scope="module")
def toy():
    return Toy()


def make(method, **parameters):
    cls = pl.METHODS[method]
    chosen = {**FAST.get(method, {}), **parameters}
    if "random_state" in cls().get_params():
        chosen.setdefault("random_state", 0)
    return cls().set_params(**chosen)


def fit(method, X, y, graph, *, model=None, **parameters):
    """Fit with the inputs that the method uses, and no others."""
    model = make(method, **parameters) if model is None else model
    uses = pl.METHODS[method]
    given = {} if uses.uses_graph == "never" else {"graph": graph}
    return model.fit(None if uses.uses_features == "never" else X, y, **given)


def assert_distributions(probabilities, n_rows, n_classes):
    assert probabilities.shape == (n_rows, n_classes)
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("method", list(pl.METHODS))
class TestContract:
    @pytest.fixture(autouse=True)
    def _kind(self, method):
        self.cls = pl.METHODS[method]
        self.by_features = self.cls.uses_features != "never"
        self.by_graph = self.cls.uses_graph != "never"

    # ---- what comes out ------------------------------------------------------

    def test_labels_the_rest_of_an_easy_graph(self, method, toy):
        model = fit(method, toy.X, toy.y, toy.graph)
        assert (model.predict() == toy.truth).mean() >= 0.9
        assert_distributions(model.predict_proba(), N, len(CLASSES))
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
        np.testing.assert_array_equal(model.transduction_, model.predict())
        np.testing.assert_array_equal(model.label_distributions_, model.predict_proba())
        np.testing.assert_array_equal(model.predict(), model.classes_[model.predict_proba().argmax(axis=1)])

    def test_fit_returns_the_model_and_can_be_called_again(self, method, toy):
        model = make(method)
        assert fit(method, toy.X, toy.y, toy.graph, model=model) is model
        first = model.predict_proba()
        fit(method, toy.X, toy.names, toy.graph, model=model)
        assert list(model.classes_) == list(CLASSES)
        np.testing.assert_array_equal(model.predict_proba(), first)

    def test_string_labels_and_every_marker_of_unlabelled_nodes(self, method, toy):
        expected = fit(method, toy.X, toy.y, toy.graph).predict_proba()
        as_float = np.where(toy.y < 0, np.nan, toy.y)
        for y in (toy.names, toy.y.tolist(), as_float, pd.Series(as_float), [None if k < 0 else k for k in toy.y]):
            np.testing.assert_array_equal(fit(method, toy.X, y, toy.graph).predict_proba(), expected)
        labels = fit(method, toy.X, toy.names, toy.graph).predict()
        assert set(labels) <= set(CLASSES)

    def test_node_ids_dict_labels_and_nodes(self, method, toy):
        ids = [f"node_{k}" for k in range(N)]
        labels = {ids[k]: CLASSES[toy.truth[k]] for k in toy.labelled[::-1]}
        X = pd.DataFrame(toy.X, index=ids)
        named = pl.Graph.from_edges(*([ids[k] for k in end] for end in toy.edges), nodes=ids)
        model = fit(method, X, labels, named)
        plain = fit(method, toy.X, toy.names, toy.graph)
        np.testing.assert_array_equal(model.predict_proba(), plain.predict_proba())
        asked = ["node_17", "node_4", "node_17"]
        np.testing.assert_array_equal(model.predict(nodes=asked), model.predict()[[17, 4, 17]])
        np.testing.assert_array_equal(model.predict_proba(nodes=asked), model.predict_proba()[[17, 4, 17]])
        with pytest.raises(DataError, match="nobody"):
            model.predict(nodes=["node_1", "nobody"])

    def test_validation_labels_are_taken(self, method, toy):
        held = pl.mask_labels(toy.truth, [1, 16, 31])
        uses = {"graph": toy.graph} if self.by_graph else {}
        X = toy.X if self.by_features else None
        model = make(method, calibrate=False)
        if model.uses_validation:
            model.fit(X, toy.y, validation=held, **uses)
            assert any("val_accuracy" in record for record in model.history_)
        else:
            with pytest.warns(PlanetoidWarning, match=f"{self.cls.__name__} does not use validation labels"):
                model.fit(X, toy.y, validation=held, **uses)
            without = make(method, calibrate=False).fit(X, toy.y, **uses)
            np.testing.assert_array_equal(model.predict_proba(), without.predict_proba())
        assert (model.predict() == toy.truth).mean() >= 0.9
        with pytest.raises(DataError, match="validation has the class 9"):
            make(method).fit(X, toy.y, validation={3: 9}, **uses)

    def test_a_series_of_labels_is_aligned_by_node_id(self, method, toy):
        shuffled = np.random.default_rng(0).permutation(N)
        X = pd.DataFrame(toy.X[shuffled], index=shuffled)
        model = fit(method, X, pd.Series(toy.y).iloc[shuffled], toy.graph)
        nodes = list(range(N))
        if self.by_graph:
            expected = fit(method, toy.X, toy.y, toy.graph).predict_proba()
            np.testing.assert_array_equal(model.predict_proba(nodes=nodes), expected)
        else:  # the nodes are in the order of X
            expected = fit(method, toy.X[shuffled], toy.y[shuffled], None).predict_proba()
            np.testing.assert_array_equal(model.predict_proba(), expected)

    # ---- features ------------------------------------------------------------

    def test_sparse_rows_and_tables_mean_the_same(self, method, toy):
        if not self.by_features:
            pytest.skip("does not use features")
        dense = fit(method, toy.X, toy.y, toy.graph)
        for X in (sparse.csr_array(toy.X), sparse.csc_matrix(toy.X), pd.DataFrame(toy.X).add_prefix("w")):
            model = fit(method, X, toy.y, toy.graph)
            np.testing.assert_array_equal(model.predict(), dense.predict())
            assert model.n_features_in_ == toy.X.shape[1]

    def test_table_rows_are_aligned_by_node_id(self, method, toy):
        if self.cls.uses_features == "never" or not self.by_graph:
            pytest.skip("does not use both features and a graph")
        shuffled = np.random.default_rng(0).permutation(N)
        X = pd.DataFrame(toy.X[shuffled], index=shuffled)
        expected = fit(method, toy.X, toy.y, toy.graph).predict_proba()
        np.testing.assert_array_equal(fit(method, X, toy.y, toy.graph).predict_proba(), expected)

    def test_warns_that_unused_features_are_ignored(self, method, toy):
        if self.by_features:
            pytest.skip("uses features")
        with pytest.warns(PlanetoidWarning, match="X is ignored"):
            model = make(method).fit(toy.X, toy.y, graph=toy.graph)
        np.testing.assert_array_equal(model.predict_proba(), fit(method, None, toy.y, toy.graph).predict_proba())

    # ---- new rows ------------------------------------------------------------

    def test_new_rows(self, method, toy):
        model = fit(method, toy.X, toy.y, toy.graph)
        if not self.cls.inductive:
            with pytest.raises(NotInductiveError, match=r"predict\(nodes="):
                model.predict(toy.X_new)
            return
        assert (model.predict(toy.X_new) == toy.new_truth).mean() >= 0.8
        assert_distributions(model.predict_proba(toy.X_new), len(toy.X_new), len(CLASSES))
        np.testing.assert_array_equal(model.predict(sparse.csr_array(toy.X_new)), model.predict(toy.X_new))
        with pytest.raises(DataError, match="is expecting"):
            model.predict(toy.X_new[:, 1:])
        with pytest.raises(DataError, match="not both"):
            model.predict(toy.X_new, nodes=[0])

    def test_new_tables_go_by_column_name(self, method, toy):
        if not self.cls.inductive:
            pytest.skip("transductive")
        columns = [f"w{k}" for k in range(toy.X.shape[1])]
        model = fit(method, pd.DataFrame(toy.X, columns=columns), toy.y, toy.graph)
        table = pd.DataFrame(toy.X_new, columns=columns)
        expected = model.predict_proba(table)
        turned = table[columns[::-1]].assign(unheard_of=1.0)
        np.testing.assert_array_equal(model.predict_proba(turned), expected)
        np.testing.assert_array_equal(model.predict_proba(toy.X_new), expected)
        with pytest.raises(DataError, match="'w3'"):
            model.predict(table.drop(columns="w3"))

    # ---- graphs --------------------------------------------------------------

    def test_the_same_graph_in_any_form(self, method, toy):
        if not self.by_graph:
            pytest.skip("does not use a graph")
        other = nx.Graph()
        other.add_nodes_from(range(N))
        other.add_edges_from(zip(*toy.edges, strict=True))
        matrix = sparse.coo_array((np.ones(len(toy.edges[0])), toy.edges), shape=(N, N))
        expected = fit(method, toy.X, toy.y, toy.graph).predict_proba()
        for graph in (matrix, (matrix + matrix.T).tocsr(), other, toy.edges):
            np.testing.assert_array_equal(fit(method, toy.X, toy.y, graph).predict_proba(), expected)

    @pytest.mark.parametrize("stronger", [0, 1])
    def test_weights_decide_between_two_cliques(self, method, stronger):
        """With default parameters: a node with one edge of weight 1 and one of weight 10 gets the label of the latter.

        The edges lead to a clique of class A and one of class B, the same but for these two weights.
        """
        if not self.by_graph:
            pytest.skip("does not use a graph")
        size, middle = 10, 20
        inside = [(i, j, 1.0) for k in (0, size) for i in range(k, k + size) for j in range(i + 1, k + size)]
        outside = [(middle, k * size, 10.0 if k == stronger else 1.0) for k in (0, 1)]
        graph = pl.Graph.of(inside + outside)
        X = np.eye(3, dtype=np.float32)[[0] * size + [1] * size + [2]][
            graph.node_ids
        ]  # those of the middle say nothing
        labels = {k * size + i: "AB"[k] for k in (0, 1) for i in range(3)}
        model = self.cls().fit(X if self.by_features else None, labels, graph=graph)
        assert model.predict(nodes=[middle])[0] == "AB"[stronger]

    @pytest.mark.parametrize("stronger", [0, 1])
    def test_weights_decide_between_two_nodes(self, method, stronger):
        """With default parameters: of three nodes the middle one gets the label of its edge of weight 10, not 1."""
        if not self.by_graph:
            pytest.skip("does not use a graph")
        if method in NEEDS_MORE_THAN_THREE_NODES:
            pytest.skip(NEEDS_MORE_THAN_THREE_NODES[method])
        weights = [10.0, 1.0] if stronger == 0 else [1.0, 10.0]
        graph = pl.Graph.from_edges(["a", "b"], ["middle", "middle"], weights)
        X = np.eye(3, dtype=np.float32) if self.by_features else None
        model = self.cls().fit(X, {"a": "A", "b": "B"}, graph=graph)
        assert model.predict(nodes=["middle"])[0] == "AB"[stronger]

    def test_several_components(self, method, toy):
        if not self.by_graph:
            pytest.skip("does not use a graph")
        same = toy.truth[toy.edges[0]] == toy.truth[toy.edges[1]]
        apart = pl.Graph.from_edges(*(end[same] for end in toy.edges), nodes=N)
        model = fit(method, toy.X, toy.y, apart)
        assert_distributions(model.predict_proba(), N, len(CLASSES))
        assert (model.predict() == toy.truth).mean() >= 0.9

    def test_isolated_nodes(self, method, toy):
        if not self.by_graph:
            pytest.skip("does not use a graph")
        graph = toy.graph.with_nodes(N + 2)
        X = np.vstack([toy.X, toy.X[[0, SIZE]]])
        y = np.append(toy.y, [-1, -1])
        if self.by_features:
            model = fit(method, X, y, graph)
        else:
            with pytest.warns(PlanetoidWarning, match="nothing about 2 of 47 nodes") as caught:
                model = fit(method, X, y, graph)
            assert len(caught) == 1
            np.testing.assert_allclose(model.predict_proba()[N:], 1 / 3, atol=1e-6)
        assert_distributions(model.predict_proba(), N + 2, len(CLASSES))
        assert (model.predict()[:N] == toy.truth).mean() >= 0.9

    @pytest.mark.parametrize("label", range(len(CLASSES)))
    def test_labels_on_isolated_nodes_are_kept(self, method, toy, label):
        if not self.by_graph:
            pytest.skip("does not use a graph")
        graph = toy.graph.with_nodes(N + 1)
        X = np.vstack([toy.X, toy.X[[label * SIZE]]])
        model = fit(method, X, np.append(toy.y, label), graph)
        assert_distributions(model.predict_proba(), N + 1, len(CLASSES))
        assert model.predict(nodes=[N])[0] == label
        assert (model.predict()[:N] == toy.truth).mean() >= 0.9

    # ---- habits of scikit-learn ----------------------------------------------

    def test_parameters(self, method, toy):
        model = make(method)
        parameters = model.get_params()
        assert clone(model).get_params() == parameters
        assert model.set_params(**parameters) is model
        for name, value in model.get_params(deep=False).items():
            assert getattr(model, name) is value
        fitted = fit(method, toy.X, toy.y, toy.graph, model=model)
        assert fitted.get_params() == parameters
        with pytest.raises(NotFittedError):
            clone(fitted).predict()

    def test_predicts_nothing_before_it_is_fitted(self, method):
        with pytest.raises(NotFittedError):
            make(method).predict()

    def test_copies_and_pickles_of_a_fitted_model_predict_the_same(self, method, toy):
        model = fit(method, toy.X, toy.names, toy.graph)
        file = io.BytesIO()
        joblib.dump(model, file)
        file.seek(0)
        for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), joblib.load(file)):
            np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())
            assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
            assert list(again.classes_) == list(CLASSES)
            if self.cls.inductive:
                np.testing.assert_array_equal(again.predict_proba(toy.X_new), model.predict_proba(toy.X_new))

    def test_shown_as_html_in_a_notebook(self, method, toy):
        model = make(method)
        assert self.cls.__name__ in model._repr_html_()
        assert "fitted" in fit(method, toy.X, toy.y, toy.graph, model=model)._repr_html_().lower()

    def test_embeddings_as_tables(self, method, toy):
        """``set_output`` and ``get_feature_names_out``, as of scikit-learn's transformers."""
        if not hasattr(self.cls, "transform"):
            pytest.skip("has no embedding")
        names = [f"node_{k}" for k in range(N)]
        graph = pl.Graph.from_edges(*([names[k] for k in end] for end in toy.edges), nodes=names)
        model = fit(method, pd.DataFrame(toy.X, index=names), toy.y, graph)
        plain = model.transform()
        columns = model.get_feature_names_out()
        assert columns.tolist() == [f"{self.cls.__name__.lower()}{k}" for k in range(plain.shape[1])]
        table = model.set_output(transform="pandas").transform()
        np.testing.assert_array_equal(table.to_numpy(), plain)
        assert table.index.tolist() == names
        assert table.columns.tolist() == columns.tolist()
        if self.cls.inductive:
            new = pd.DataFrame(toy.X_new[:3], index=["x", "y", "z"])
            assert model.transform(new).index.tolist() == ["x", "y", "z"]
            assert model.transform(toy.X_new[:3].tolist()).index.tolist() == [0, 1, 2]
        X = toy.X if self.by_features else None
        assert isinstance(clone(model).fit_transform(X, toy.y, graph=toy.graph), pd.DataFrame)
        assert model.set_output().transform().index.tolist() == names  # None changes nothing
        assert isinstance(model.set_output(transform="default").transform(), np.ndarray)
        with pytest.raises(ParameterError, match="transform must be 'default', 'pandas' or 'polars', got 'list'"):
            model.set_output(transform="list")

    def test_constructors_are_small(self, method):
        assert len(self.cls().get_params(deep=False)) <= 15

    def test_every_parameter_has_a_constraint(self, method):
        assert set(self.cls.constraints) == set(self.cls().get_params(deep=False))

    def test_defaults_meet_their_constraints(self, method):
        self.cls()._check_parameters()

    def test_every_parameter_has_a_docstring(self, method):
        text = inspect.getdoc(self.cls)
        assert text.splitlines()[0].endswith(".")
        section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
        entries = [line.split(" : ")[0] for line in section.splitlines() if not line.startswith(" ")]
        documented = {name.strip() for entry in entries for name in entry.split(",")}
        assert documented == set(self.cls().get_params(deep=False))

    def test_search_space(self, method):
        """Its names are parameters, and the defaults lie in it; a rule such as "auto" lies in no range of numbers."""
        defaults = self.cls().get_params()
        for name, space in self.cls.search_space.items():
            assert name in defaults
            if isinstance(space, Categorical):
                assert defaults[name] in space.values, name
            elif not isinstance(defaults[name], str) and defaults[name] is not None:
                assert space.low <= defaults[name] <= space.high, name
        for start in self.cls.search_starts:
            assert set(start) <= set(defaults)

    def test_unknown_parameters(self, method):
        with pytest.raises(
            ParameterError, match=f"{self.cls.__name__} has no parameter 'nonsense'; valid parameters are"
        ):
            make(method).set_params(nonsense=1)

    # ---- mistakes ------------------------------------------------------------

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (None, "requires y to be passed"),
            ([-1] * N, "every entry of y is unlabelled"),
            ([1] + [-1] * (N - 1), "two classes"),
            ({0: "a", N: "b"}, f"node {N}: not in the graph"),
            ([0, 1, -1], "y has 3 entries"),
        ],
    )
    def test_wrong_labels(self, method, toy, labels, message):
        with pytest.raises(DataError, match=message):
            fit(method, toy.X, labels, toy.graph)

    def test_wrong_or_missing_inputs(self, method, toy):
        if self.cls.uses_features == "required":
            with pytest.raises(DataError, match="X is None"):
                make(method).fit(None, toy.y, graph=toy.graph)
        if self.cls.uses_graph == "required":
            with pytest.raises(DataError, match="pass graph="):
                make(method).fit(toy.X if self.by_features else None, toy.y)
        if self.by_features:
            with pytest.raises(DataError, match="NaN or an infinity in row 2, column 1"):
                fit(method, np.where(np.arange(toy.X.size).reshape(toy.X.shape) == 41, np.nan, toy.X), toy.y, toy.graph)
        if self.by_features and self.by_graph:
            with pytest.raises(DataError, match=f"X has {N - 1} rows"):
                fit(method, toy.X[:-1], toy.y, toy.graph)

    # ---- nothing moves that should not ---------------------------------------

    def test_same_seed_same_bits(self, method, toy):
        first = fit(method, sparse.csr_array(toy.X), toy.y, toy.graph).predict_proba()
        second = fit(method, sparse.csr_array(toy.X), toy.y, toy.graph).predict_proba()
        np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2])
    def test_same_bits_for_any_n_jobs(self, method, toy, n_jobs):
        if "n_jobs" not in self.cls().get_params(deep=False):
            pytest.skip("has no n_jobs")
        first = fit(method, toy.X, toy.y, toy.graph).predict_proba()
        np.testing.assert_array_equal(fit(method, toy.X, toy.y, toy.graph, n_jobs=n_jobs).predict_proba(), first)

    def test_zero_jobs_are_rejected(self, method, toy):
        if "n_jobs" not in self.cls().get_params(deep=False):
            pytest.skip("has no n_jobs")
        message = f"{self.cls.__name__}: n_jobs must be an integer other than 0 or None, got 0"
        with pytest.raises(ParameterError, match=f"^{message}$"):
            fit(method, toy.X, toy.y, toy.graph, n_jobs=0)

    def test_no_random_state(self, method, toy, monkeypatch):
        """None is a fresh seed, here a known one: the method works, and what it learned is the same easy thing."""
        if "random_state" not in self.cls().get_params(deep=False):
            pytest.skip("draws nothing")
        fresh = 2**62 + 3
        monkeypatch.setattr("planetoid.utils.seeds.secrets.randbits", lambda bits: fresh)
        model = fit(method, toy.X, toy.y, toy.graph, random_state=None)
        assert model.random_state is None
        assert (model.predict() == toy.truth).mean() >= 0.9
        same = fit(method, toy.X, toy.y, toy.graph, random_state=fresh)
        np.testing.assert_array_equal(model.predict_proba(), same.predict_proba())
        with pytest.raises(ParameterError, match="random_state must be an integer >= 0 or None, got -1"):
            fit(method, toy.X, toy.y, toy.graph, random_state=-1)

    def test_global_generators_are_left_alone(self, method, toy):
        import torch

        numpy_before, torch_before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
        python_before = random.getstate()
        fit(method, toy.X, toy.y, toy.graph)
        np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002
        assert torch.equal(torch.get_rng_state(), torch_before)
        assert random.getstate() == python_before

    def test_inputs_are_left_alone(self, method, toy):
        X, y = sparse.csr_array(toy.X), toy.y.copy()
        for array in (X.data, X.indices, X.indptr, y):
            array.flags.writeable = False
        model = fit(method, X, y, toy.graph)
        dense = toy.X.copy()
        dense.flags.writeable = False
        fit(method, dense, y, toy.graph)
        if self.cls.inductive:
            model.predict(X)
            model.predict(dense)
        before = model.predict()
        model.predict_proba()[:] = 0.0  # a copy, not what the model goes by
        np.testing.assert_array_equal(model.predict(), before)
