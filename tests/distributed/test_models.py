"""Models fitted by several processes: the same bits as by one, also across a checkpoint and another number of them."""

import numpy as np
import pytest
from tests.distributed.in_threads import run_together

import planetoid as pl
from planetoid.errors import DataError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore:.*can say nothing about")  # nodes without edges

DATA = pl.datasets.make_citation(n_nodes=200, seed=0)
SPLIT = DATA.split("random", per_class=8, n_val=40, n_test=40, seed=0)
Y = pl.mask_labels(DATA.y, SPLIT.train)
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
    return model.set_params(**SMALL)


def fitted(name, size, folder=None, stop=None, joint=None):
    """Return the model of each process; ``stop`` ends the training after so many steps."""

    def work(exchange):
        callbacks = [] if folder is None else [pl.Checkpoint(folder, every=0)]
        callbacks += [] if stop is None else [StopAt(stop)]
        model = new_model(name, callbacks)
        if joint is not None:
            model.set_params(training__lambda_=joint)
        X = DATA.X if name == "PlanetoidT" else None
        validation = None if name == "GraphEmbedding" else SPLIT.val_labels(DATA.y)
        return model.fit(X, Y, graph=DATA.graph, validation=validation)

    return run_together(size, work)


def assert_same(models, reference):
    np.testing.assert_array_equal(models[0].embedding_, reference.embedding_)
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


def test_a_step_on_the_sum_of_both_losses():
    (reference,) = fitted("PlanetoidG", 1, joint=0.5)
    assert_same(fitted("PlanetoidG", 3, joint=0.5), reference)


@pytest.mark.parametrize(("name", "stops"), [("GraphEmbedding", (5, 20)), ("PlanetoidT", (3, 55))])
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
