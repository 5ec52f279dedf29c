"""Models fitted by several processes: the same bits as by one, also across a checkpoint and another number of them."""

import numpy as np
import pytest
import torch
from tests.distributed.in_threads import run_together

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.models.inductive import ROWS_TOGETHER
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.settings import OPTIMIZERS

pytestmark = pytest.mark.filterwarnings("ignore:.*can say nothing about")  # nodes without edges

DATA = pl.datasets.make_citation(n_nodes=200, seed=0)
SPLIT = DATA.split("random", per_class=8, n_val=40, n_test=40, seed=0)
Y = pl.mask_labels(DATA.y, SPLIT.train)
NEW_ROWS = pl.datasets.make_citation(n_nodes=200, seed=1).X[:20]
SMALL = {"training__pretrain": 4, "training__steps": 12, "training__evaluate_every": 3, "training__N1": 10}


class StoppedError(Exception):
    pass


class StopAt(pl.Callback):
    """Ends a training after so many calls, as a kill would."""

    def __init__(self, call):
        self.call = call

    def on_step_end(self, trainer):
        self.call -= 1
        if self.call == 0:
            raise StoppedError


def new_model(name, callbacks=None):
    model = getattr(pl, name)(dimension=64, callbacks=callbacks)
    if name == "GraphEmbedding":
        return model.set_params(pretrain=4)
    if name == "Planetoid":
        return model.set_params(training__steps=12, training__evaluate_every=3)
    return model.set_params(**SMALL)


def fit(name, folder=None, stop=None, X=DATA.X, y=Y, validation=True, **parameters):
    """Return a fitted model; ``stop`` ends the training after so many steps."""
    callbacks = [] if folder is None else [pl.Checkpoint(folder, every=0)]
    callbacks += [] if stop is None else [StopAt(stop)]
    model = new_model(name, callbacks).set_params(**parameters)
    has_validation = validation and name != "GraphEmbedding"
    return model.fit(
        None if name in ("GraphEmbedding", "PlanetoidG") else X,
        y,
        graph=DATA.graph,
        validation=SPLIT.val_labels(DATA.y) if has_validation else None,
    )


def fitted(name, size, *arguments, **more):
    """Return the model of each process."""
    return run_together(size, lambda _: fit(name, *arguments, **more))


def assert_same(models, reference):
    whole = models if isinstance(reference, (pl.Planetoid, pl.PlanetoidI)) else models[:1]
    for model in whole:
        np.testing.assert_array_equal(model.embedding_, reference.embedding_)
    if hasattr(reference, "context_"):
        np.testing.assert_array_equal(models[0].context_, reference.context_)
    for model in models:
        np.testing.assert_array_equal(model.label_distributions_, reference.label_distributions_)
        assert model.history_ == reference.history_


@pytest.mark.parametrize("name", ["GraphEmbedding", "PlanetoidG", "PlanetoidT"])
def test_any_number_of_processes_fits_the_same_model(name):
    (reference,) = fitted(name, 1)
    for size in (2, 3, 4):
        models = fitted(name, size)
        assert_same(models, reference)
        assert [model.embedding_.shape[1] for model in models[1:]] == [16 * (4 // size)] * (size - 1) or size == 3


@pytest.mark.parametrize("name", ["GraphEmbedding", "PlanetoidT", "PlanetoidI", "Planetoid"])
def test_a_fit_without_a_seed_takes_that_of_process_0(name):
    models = fitted(name, 3, random_state=None)
    assert len({model._seed for model in models}) == 1
    for model in models[1:]:
        np.testing.assert_array_equal(model.label_distributions_, models[0].label_distributions_)
    assert_same(fitted(name, 1, random_state=models[0]._seed), models[0])
    assert fitted(name, 2, random_state=None)[1]._seed != models[0]._seed  # a fresh one each time


def test_one_process_alone_may_embed_new_nodes():
    def work(exchange):
        model = fit("PlanetoidG", random_state=None)
        return model.fold_in(DATA.graph).label_distributions_ if exchange.rank == 0 else None

    assert run_together(2, work)[0].shape == (DATA.n_nodes, DATA.n_classes)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"dimension": 49},  # the last of four processes has one column
        {"training__context_optimizer": "adagrad", "training__context_learning_rate": 0.1},
        {"encoder": pl.Encoder(l1=2, width=20, activation="tanh"), "network__dropout": 0.3},
        {"contexts__single_pairs": True},
    ],
    ids=str,
)
def test_any_number_of_processes_fits_the_same_inductive_model(parameters):
    (reference,) = fitted("PlanetoidI", 1, **parameters)
    for size in (2, 4):
        models = fitted("PlanetoidI", size, **parameters)
        assert_same(models, reference)
        for model in models:
            np.testing.assert_array_equal(model.predict_proba(NEW_ROWS), reference.predict_proba(NEW_ROWS))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers_round_a_column_alike_whatever_the_others_are(optimizer):
    rows = -(-101 // ROWS_TOGETHER) * ROWS_TOGETHER
    gradients = torch.randn(20, rows, 17, generator=torch.Generator().manual_seed(0))

    def moved(columns):
        table = torch.nn.Parameter(torch.zeros(rows, 17)[:, columns].clone())
        steps = NamedOptimizer(optimizer, ([table], 0.01))
        for gradient in gradients:
            table.grad = gradient[:, columns].contiguous()
            steps.step()
        return table.detach()

    assert torch.equal(torch.cat([moved(slice(0, 16)), moved(slice(16, 17))], dim=1), moved(slice(0, 17)))


def test_an_inductive_model_with_a_large_table(monkeypatch):
    monkeypatch.setattr("planetoid.models.inductive.SPARSE_TABLE_FROM", 0)
    (reference,) = fitted("PlanetoidI", 1)
    assert_same(fitted("PlanetoidI", 3), reference)


@pytest.mark.parametrize("parameters", [{}, {"dimension": 41}, {"view": "features"}], ids=str)
def test_any_number_of_processes_fits_the_planetoid_of_a_call_without_others(parameters):
    reference = fit("Planetoid", **parameters)
    for size in (1, 2, 3):
        models = fitted("Planetoid", size, **parameters)
        assert_same(models, reference)
        for model in models:
            np.testing.assert_array_equal(model.predict_proba(NEW_ROWS), reference.predict_proba(NEW_ROWS))


def test_planetoid_without_features_embeds_the_graph_together():
    (reference,) = fitted("Planetoid", 1, X=None)
    assert reference.view_ == "graph"
    for size in (2, 3):
        assert_same(fitted("Planetoid", size, X=None), reference)


@pytest.mark.parametrize("name", ["GraphEmbedding", "Planetoid", "PlanetoidG", "PlanetoidI"])
def test_several_labels_per_node(name):
    labels = {row: {f"class {Y[row]}", f"half {row % 2}"} for row in SPLIT.train}
    (reference,) = fitted(name, 1, y=labels, validation=False)
    for models in (fitted(name, size, y=labels, validation=False) for size in (2, 3)):
        assert_same(models, reference)
        for model in models:
            np.testing.assert_array_equal(model.predict(), reference.predict())


class Widths(pl.Callback):
    """Notes how many columns the tensors of a training have."""

    def on_train_end(self, trainer):
        self.found = {name.split(".columns")[0]: 0 for name in trainer.state()}
        for name, value in trainer.state().items():
            self.found[name.split(".columns")[0]] += value.shape[1] if value.ndim == 2 else 0


@pytest.mark.parametrize(
    ("name", "divided"),
    [
        ("Planetoid", ["loss.layers.W1", "loss.first.W1", "loss.second.W1"]),
        ("PlanetoidI", ["context_loss.w", "context_loss.contexts.0.0.exp_avg", "context_loss.contexts.0.0.exp_avg_sq"]),
    ],
)
def test_each_process_has_some_of_the_columns(name, divided):
    def widths(_):
        noted = Widths()
        new_model(name, [noted]).fit(DATA.X, Y, graph=DATA.graph)
        return noted.found

    (alone,) = run_together(1, widths)
    for found in run_together(4, widths):
        assert {key for key, width in found.items() if width != alone[key]} == set(divided)
        assert {found[key] for key in divided} == {16}


@pytest.mark.parametrize("name", ["PlanetoidG", "PlanetoidI"])
def test_a_step_on_the_sum_of_both_losses(name):
    (reference,) = fitted(name, 1, training__lambda_=0.5)
    assert_same(fitted(name, 3, training__lambda_=0.5), reference)


@pytest.mark.parametrize(
    ("name", "stops"),
    [("GraphEmbedding", (5, 20)), ("PlanetoidT", (3, 55)), ("PlanetoidI", (3, 24)), ("Planetoid", (4, 9))],
)
def test_a_training_goes_on_with_another_number_of_processes(name, stops, tmp_path):
    (reference,) = fitted(name, 1)
    sizes = (4, 1, 3)
    for size, stop in zip(sizes, (*stops, None), strict=True):
        if stop is None:
            assert_same(fitted(name, size, tmp_path), reference)
        else:
            with pytest.raises(StoppedError):
                fitted(name, size, tmp_path, stop)
    files = sorted(path.name for path in tmp_path.glob("*.safetensors"))
    assert [name.removeprefix(files[0].split(".")[0]) for name in files] == [".safetensors"] or len(files) == 3
    assert len({name[:12] for name in files}) == 1  # one state; the older ones are gone


def test_the_checkpoint_of_one_process_without_others_is_another_training(tmp_path):
    new_model("PlanetoidG", [pl.Checkpoint(tmp_path)]).fit(None, Y, graph=DATA.graph)
    with pytest.raises(DataError, match="belongs to another training"):
        run_together(1, lambda _: new_model("PlanetoidG", [pl.Checkpoint(tmp_path)]).fit(None, Y, graph=DATA.graph))


def test_embeddings_are_as_good_as_those_of_the_engine_of_one_process():
    usual = pl.GraphEmbedding(dimension=64).fit(None, Y, graph=DATA.graph)
    (divided,) = run_together(1, lambda _: pl.GraphEmbedding(dimension=64).fit(None, Y, graph=DATA.graph))
    accuracy = [(model.predict()[SPLIT.test] == DATA.y[SPLIT.test]).mean() for model in (usual, divided)]
    assert not np.array_equal(usual.embedding_, divided.embedding_)
    assert accuracy[1] > accuracy[0] - 0.1
    assert divided.history_[-1]["context_loss"] == pytest.approx(usual.history_[-1]["context_loss"], rel=0.05)


def test_a_gpu_cannot_have_some_of_the_columns():
    with pytest.raises(ParameterError, match="divided among processes are trained on CPUs"):
        run_together(1, lambda _: pl.PlanetoidG(device="cuda").fit(None, Y, graph=DATA.graph))
