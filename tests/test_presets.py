"""Presets: every one makes a model that fits, and the paper's keep what the paper fixes."""

from __future__ import annotations

import pytest

import planetoid as pl
from planetoid.errors import ParameterError
from planetoid.presets import load_preset, preset_names
from planetoid.registry import CLASSES

EVERY_PRESET = [(name, cls) for cls in CLASSES for name in preset_names(cls)]


def test_there_are_presets_for_the_planetoid_models():
    for cls in ("PlanetoidT", "PlanetoidI", "PlanetoidG"):
        assert {"paper/cora", "paper/citeseer", "paper/pubmed"} <= set(preset_names(cls))


@pytest.mark.parametrize(("name", "cls"), EVERY_PRESET)
def test_parameters_belong_to_the_class_and_override(name, cls):
    model = getattr(pl, cls).from_preset(name)
    chosen = load_preset(name, cls)
    assert model.get_params() == getattr(pl, cls)().set_params(**chosen.parameters).get_params()
    assert {name: model.get_params()[name] for name in chosen.parameters} == chosen.parameters
    model._check_parameters()
    assert chosen.chosen["trials"] >= 1
    assert "hidden" in chosen.chosen["splits"]  # the public test labels
    if cls in ("PlanetoidT", "PlanetoidI", "PlanetoidG", "GraphEmbedding") and not name.startswith("printed/"):
        assert chosen.departs
    if "random_state" in model.get_params():
        assert getattr(pl, cls).from_preset(name, random_state=3).random_state == 3


@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI", "PlanetoidG"])
def test_presets_of_the_paper_keep_its_settings(cls):
    names = [name for name in preset_names(cls) if name.startswith("paper/")]
    for name in names:
        model = getattr(pl, cls).from_preset(name)
        contexts, training = model.contexts, model.training
        assert (contexts.r1, contexts.q, contexts.d) == (pytest.approx(5 / 6), 10, 3)
        assert (training.N1, training.N2) == (200, 200)


def test_clear_errors():
    with pytest.raises(ParameterError, match=r"no preset 'paper/karate'; the presets are .*paper/cora"):
        pl.PlanetoidT.from_preset("paper/karate")
    with pytest.raises(ParameterError, match="no preset 'cora'"):
        pl.PlanetoidT.from_preset("cora")
    with pytest.raises(ParameterError, match="'paper/cora' has no section for Diel"):
        pl.Diel.from_preset("paper/cora")
    with pytest.raises(ParameterError, match="PlanetoidT has no parameter 'lerning_rate'"):
        pl.PlanetoidT.from_preset("paper/cora", lerning_rate=1)
    with pytest.raises(ParameterError, match="Training has no parameter 'step'"):
        pl.PlanetoidT.from_preset("paper/cora", training__step=1)


@pytest.mark.filterwarnings("ignore:PlanetoidG can say nothing:planetoid.errors.PlanetoidWarning")
def test_a_preset_is_used_when_fitting():
    data = pl.datasets.make_citation(n_nodes=200, seed=0)
    y = pl.mask_labels(data.y, data.split("random", per_class=5, n_val=0, n_test=50).train)
    model = pl.PlanetoidG.from_preset("paper/cora", dimension=8, training__pretrain=1, training__steps=3)
    assert model.contexts.r1 == pytest.approx(5 / 6)
    assert model.fit(y=y, graph=data.graph).embedding_.shape == (200, 8)
