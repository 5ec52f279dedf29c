"""Parameter objects: their names, their constraints, and that they agree with what is implemented."""

import dataclasses

import pytest
from sklearn.base import clone

import planetoid as pl
from planetoid.errors import ParameterError
from planetoid.training import layers, optimizers, settings


def test_every_name_is_implemented():
    assert set(settings.ACTIVATIONS) == set(layers.ACTIVATIONS)
    assert set(settings.OPTIMIZERS) == set(optimizers.FACTORIES)


@pytest.mark.parametrize("cls", [pl.Contexts, pl.Training, pl.Network, pl.Encoder])
def test_objects_are_immutable_and_declare_all_constraints(cls):
    default = cls()
    assert set(cls.constraints) == set(default.get_params())
    default.check("model")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(default, cls.parameter_names()[0], 3)
    assert clone(default) == default


@pytest.mark.parametrize("cls", [pl.PlanetoidT, pl.PlanetoidG, pl.PlanetoidI])
def test_a_nested_parameter_is_set_in_a_copy(cls):
    model, other = cls(), cls()
    assert model.set_params(contexts__q=5, training__steps=7) is model
    assert (model.contexts.q, model.training.steps) == (5, 7)
    assert (other.contexts.q, other.training.steps) == (10, cls().training.steps)
    assert model.training == other.training.replace(steps=7)
    assert model.get_params()["contexts__q"] == 5
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(ParameterError, match=r"Training has no parameter 'step'; valid parameters are steps, T1"):
        model.set_params(training__step=3)
    with pytest.raises(ParameterError, match="dimension has no parameters of its own"):
        model.set_params(dimension__q=3)


@pytest.mark.parametrize("name", list(pl.METHODS))
def test_at_most_fifteen_parameters_per_class(name):
    assert len(pl.METHODS[name]().get_params(deep=False)) <= 15
