"""What can go wrong in a fit, whatever the method: in a sentence, and the same on any number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import planetoid as pl
from planetoid.engine import Contexts, ContextSampler
from planetoid.engine.pair_kernels import adam_on_rows
from planetoid.errors import ParameterError, PlanetoidError
from planetoid.report.layout import map_coordinates
from planetoid.utils.failures import explain_failures

DATA = pl.datasets.make_citation(40, n_classes=3, seed=1)
Y = pl.mask_labels(DATA.y, np.arange(20))
SHORT = pl.Training(steps=2, pretrain=1)


@pytest.mark.parametrize(
    "model",
    [
        pl.Planetoid(dimension=10**9),
        pl.Planetoid(dimension=2**62),
        pl.PlanetoidT(dimension=10**10),
        pl.PlanetoidT(training=SHORT, network=pl.Network(width=10**10)),
        pl.PlanetoidI(training=SHORT, encoder=pl.Encoder(l1=2, width=10**10)),
        pl.GCN(hidden=10**11),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_cannot_be_allocated_is_said_with_its_size(model):
    with pytest.raises(
        PlanetoidError, match=r"needs more memory than there is: (unable to allocate \d|an array is too)"
    ):
        model.fit(DATA.X, Y, graph=DATA.graph)


def test_other_errors_are_not_explained_away():
    with pytest.raises(ValueError, match="something else"), explain_failures("Feat"):
        raise ValueError("something else")


@pytest.mark.parametrize(
    "model",
    [
        pl.PlanetoidT(
            training=pl.Training(steps=40, pretrain=0, learning_rate=1e30, optimizer="sgd"), network=pl.Network(l=2)
        ),
        pl.PlanetoidI(training=pl.Training(steps=40, pretrain=0, learning_rate=1e30, optimizer="sgd")),
        pl.GCN(learning_rate=1e30),
        pl.Planetoid(training=pl.Consistency(steps=40, learning_rate=1e35)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_training_that_diverged_says_so(model):
    with pytest.raises(PlanetoidError, match=r"diverged|did not converge"):
        model.fit(DATA.X * 1e10, Y, graph=DATA.graph)


@pytest.mark.parametrize("value", [10**20, -(10**20), 10**400])
@pytest.mark.parametrize("name", ["random_state", "dimension", "training__learning_rate"])
def test_integers_beyond_64_bits(value, name):
    with pytest.raises(ParameterError, match=r"must be less than 2\*\*63"):
        pl.PlanetoidT().set_params(**{name: value}).fit(DATA.X, Y, graph=DATA.graph)


def test_a_device_that_is_none():
    with pytest.raises(ParameterError, match="device must be 'auto'"):
        pl.PlanetoidT(device=None).fit(DATA.X, Y, graph=DATA.graph)


def test_an_integer_rate_compiles_nothing_again():
    def fit(rate):
        training = pl.Training(steps=1, pretrain=1, context_optimizer="adam", context_learning_rate=rate)
        pl.PlanetoidI(training=training).fit(DATA.X, Y, graph=DATA.graph)
        return len(adam_on_rows.signatures)

    assert fit(1) == fit(0.5)


def test_a_window_beyond_the_walk_is_cut():
    wide = ContextSampler(DATA.graph, Contexts(q=5, d=10**6), DATA.y)
    full = ContextSampler(DATA.graph, Contexts(q=5, d=5), DATA.y)
    assert wide.contexts == full.contexts
    assert wide.pairs_per_walk == full.pairs_per_walk == 20
    for one, other in zip(wide.draw(200), full.draw(200), strict=True):
        np.testing.assert_array_equal(one, other)


random = np.random.default_rng(0)
DENSE = random.normal(size=(500, 200)).astype(np.float32)
GRAPH = pl.Graph.from_edges(*random.integers(0, 500, (2, 2000)), nodes=500)
CODES = np.where(np.arange(500) < 90, np.arange(500) % 3, -1)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: pl.ManifoldRegularization().fit(DENSE, CODES, graph=GRAPH).predict_proba(DENSE[:50]),
        lambda: pl.ManifoldRegularization(kernel="linear").fit(DENSE, CODES, graph=GRAPH).predict_proba(),
        lambda: pl.PropagatedFeatures().fit(DENSE, CODES, graph=GRAPH).predict_proba(),
        lambda: pl.TransductiveSVM().fit(DENSE, CODES, graph=GRAPH).predict_proba(),
        lambda: pl.IterativeClassification().fit(DENSE, CODES, graph=GRAPH).predict_proba(),
        lambda: map_coordinates(DENSE),
    ],
    ids=["manireg", "manireg-linear", "ssgc", "tsvm", "ica", "map"],
)
@pytest.mark.filterwarnings("ignore::planetoid.errors.PlanetoidWarning")
def test_the_number_of_blas_threads_does_not_matter(compute):
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(compute())
    np.testing.assert_array_equal(*results)
